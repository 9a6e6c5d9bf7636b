package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestBackupDuringACall backs a server up while it has a call and its books are
// written to, and starts another one from the backup: the call goes on here and is
// closed there, and both books are in order.
func TestBackupDuringACall(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who := newCustomer(t, s, "10")
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("prompt_set")
	b := openBooks(t, s)
	eventually(t, "the call has been charged for", func() bool {
		list := b.bills(who.account)
		return len(list) == 1 && list[0].Amount > 0
	})
	dir := filepath.Join(t.TempDir(), "copy")
	if credits, copied := creditDuring(t, s, who.account, command(s.dir, nil, "backup", "--json", dir)); credits == 0 || !copied.HasSecret {
		t.Errorf("%d credits, secret %t", credits, copied.HasSecret)
	}
	for _, name := range []string{"manifest.json", "secret", "database.dump"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	// The call has not noticed.
	c.say(question(t, micRate))
	c.awaitLine("agent")
	c.hangUp()
	here := b.closed(who.account, 1)[0]
	b.checkAmount(here)

	fresh := noDataDir(t)
	answered(t, fresh, &struct{}{}, "restore", dir)
	checkBooks(t, fresh) // with the call still open
	again := serve(t, fresh, s.env)
	there := openBooks(t, again)
	x := there.closed(who.account, 1)[0]
	there.checkAmount(x)
	if x.ID != here.ID || x.Reason != "failed" || x.Detail != "node_lost" || x.Amount <= 0 || x.Amount > here.Amount {
		t.Errorf("the call in the backup: %+v; it really was: %+v", x, here)
	}
	if live := there.live(); len(live) > 0 {
		t.Errorf("still open: %+v", live)
	}
	d := connect(t, again, who.key, who.agent)
	d.awaitStatus("prompt_set")
	d.hangUp()
	there.closed(who.account, 2)
	checkBooks(t, fresh)
	checkBooks(t, s.dir)
	old, err := os.ReadFile(filepath.Join(s.dir, "secret"))
	now, err2 := os.ReadFile(filepath.Join(fresh, "secret"))
	if err != nil || err2 != nil || !bytes.Equal(old, now) {
		t.Errorf("the secret is another: %v, %v", err, err2)
	}
}

// copied is what backup prints with --json.
type copied struct {
	HasSecret bool `json:"has_secret"`
	Manifest  struct{ Files []struct{ Name string } }
}

// creditDuring credits an account again and again while a backup runs, and says how
// often that was.
func creditDuring(t *testing.T, s *server, account string, cmd *exec.Cmd) (credits int, c copied) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if o := do(t, command(s.dir, nil, "admin", "account", "credit", account, "0.5", "--kind", "adjustment")); o.status != 0 {
			t.Errorf("credit: exit status %d: %s", o.status, o.errOut)
		}
		credits++
		select {
		case err := <-ended:
			if err == nil {
				err = json.Unmarshal(out.Bytes(), &c)
			}
			if err != nil {
				t.Fatalf("backup: %v: %s%s", err, &out, &errOut)
			}
			return credits, c
		default:
		}
	}
}

// TestBackupIsInterrupted ends backups half-way, by Ctrl-C and by killing pg_dump,
// and wants nothing of them left. Meanwhile no secret is in any process's arguments.
func TestBackupIsInterrupted(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration) // of the laboratory other tests make backups, which may not lose a schema meanwhile
	b := openBooks(t, s)
	// A table that pg_dump has to wait for, and nothing of ours looks at.
	schema := fmt.Sprintf("kept_%d", os.Getpid())
	for _, sql := range []string{"create schema " + schema, "create table " + schema + ".busy ()", "begin", "lock table " + schema + ".busy"} {
		if _, err := b.sql.Exec(b.ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if _, err := b.sql.Exec(b.ctx, "rollback; drop schema "+schema+" cascade"); err != nil {
			t.Error(err)
		}
	}()
	secret, err := os.ReadFile(filepath.Join(s.dir, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	// The database lets in by account and does not look at the password.
	const password = "hunter2-of-the-books"
	at := strings.Replace(address(b.sql), "parley@", "parley:"+password+"@", 1)
	for _, tt := range []struct {
		name string
		end  func(backup, dump int) error
	}{
		{"Ctrl-C", func(backup, _ int) error { return syscall.Kill(backup, syscall.SIGINT) }},
		{"SIGTERM", func(backup, _ int) error { return syscall.Kill(backup, syscall.SIGTERM) }},
		{"pg_dump is killed", func(_, dump int) error { return syscall.Kill(dump, syscall.SIGKILL) }},
	} {
		home := t.TempDir()
		cmd := command(s.dir, []string{"PARLEY_DATABASE_URL=" + at}, "backup", "--json", filepath.Join(home, "copy"))
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		dump := 0
		eventually(t, "pg_dump runs", func() bool { dump = child(cmd, "pg_dump", "--snapshot="); return dump != 0 })
		for pid, line := range arguments() {
			if strings.Contains(line, password) || strings.Contains(line, strings.TrimSpace(string(secret))) {
				t.Errorf("%s: a secret is in the arguments of process %d", tt.name, pid)
			}
		}
		if err := tt.end(cmd.Process.Pid, dump); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the status says it
		if code := cmd.ProcessState.ExitCode(); code != failed || out.Len() > 0 || !strings.Contains(errOut.String(), "parley: no backup was made: ") {
			t.Errorf("%s: exit status %d: %s%s", tt.name, code, &out, &errOut)
		}
		if strings.Contains(errOut.String(), password) {
			t.Errorf("%s: the password is shown", tt.name)
		}
		if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", tt.name, left, err)
		}
		eventually(t, "pg_dump has gone", func() bool { return syscall.Kill(dump, 0) != nil })
	}
}

// address is the URL of an open connection.
func address(conn *pgx.Conn) string { return conn.Config().ConnString() }

// arguments are the command lines of all processes.
func arguments() map[int]string {
	entries, _ := os.ReadDir("/proc") // an empty list fails the test that looks for a child
	lines := map[int]string{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline") // processes come and go
			lines[pid] = string(line)
		}
	}
	return lines
}

// child is the process id of cmd's child that runs program with that in its
// arguments, for the same program is also asked for its version; 0 when there is none.
func child(cmd *exec.Cmd, program, argument string) int {
	for pid, line := range arguments() {
		name, rest, _ := strings.Cut(line, "\x00")
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, after, _ := strings.Cut(string(stat), ") ") // state, parent
		fields := strings.Fields(after)
		if filepath.Base(name) == program && strings.Contains(rest, argument) && len(fields) > 1 && fields[1] == strconv.Itoa(cmd.Process.Pid) {
			return pid
		}
	}
	return 0
}

// TestTamperedBackup changes one byte.
func TestTamperedBackup(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	dir := filepath.Join(t.TempDir(), "copy")
	var made copied
	answered(t, s.dir, &made, "backup", "--without-secret", dir)
	for _, f := range made.Manifest.Files {
		if f.Name == "secret" || f.Name == "demo-key" {
			t.Errorf("%s is in it", f.Name)
		}
	}
	path := filepath.Join(dir, "database.dump")
	dump, err := os.ReadFile(path)
	if err == nil {
		dump[len(dump)/2] ^= 1
		err = os.WriteFile(path, dump, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	fresh := noDataDir(t)
	o := do(t, command(fresh, nil, "restore", "--json", dir))
	if o.status != failed || o.out != "" || !strings.Contains(o.errOut, "parley: nothing was restored: the backup is damaged: database.dump") {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if left, err := os.ReadDir(filepath.Dir(fresh)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if o := do(t, command(fresh, nil, "restore")); o.status != usage {
		t.Errorf("without a directory: exit status %d: %s", o.status, o.errOut)
	}
}
