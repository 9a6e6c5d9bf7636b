package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"parley/cmd/parley/command"
)

// kept is what backup and restore print with --json.
type kept struct {
	Dir       string
	HasSecret bool `json:"has_secret"`
	Accounts  int
	Manifest  struct {
		Postgres int
		Totals   struct{ Bonus string }
	}
}

// as has the command run by somebody else.
func as(u *user.User, cmd *exec.Cmd) *exec.Cmd {
	if u != nil {
		uid, _ := strconv.Atoi(u.Uid) // of the password file
		gid, _ := strconv.Atoi(u.Gid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return cmd
}

// copied runs a command that has to succeed and reads its answer.
func copied(t *testing.T, cmd *exec.Cmd) (k kept) {
	t.Helper()
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &k)
	}
	if err != nil {
		t.Fatalf("%v: %v: %s%s", cmd.Args[1:], err, out, &said)
	}
	return k
}

// TestBackupOfAStoppedServer goes the way to a newer PostgreSQL: the server is
// stopped, backed up with its own version's programs, restored and started again;
// as whoever runs it, and as root for somebody else.
func TestBackupOfAStoppedServer(t *testing.T) {
	people := []*user.User{nil}
	if nobody, err := user.Lookup("nobody"); err == nil && os.Geteuid() == 0 {
		people = append(people, nobody)
		if err := os.Chmod(filepath.Dir(program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, who := range people {
		name := "self"
		if who != nil {
			name = who.Username
		}
		t.Run(name, func(t *testing.T) { goThere(t, who) })
	}
}

func goThere(t *testing.T, who *user.User) {
	dir := newDataDir(t)
	home := filepath.Dir(dir)
	give := func(path string) {
		if who == nil {
			return
		}
		uid, _ := strconv.Atoi(who.Uid)
		if err := os.Chown(path, uid, -1); err != nil {
			t.Fatal(err)
		}
	}
	give(home)
	if code, said := runToEnd(t, as(who, parley(dir, "backup", filepath.Join(home, "none")))); code != command.ExitFailed || !strings.Contains(said, "nothing to back up") {
		t.Errorf("exit status %d: %s", code, said)
	}
	first := launch(t, as(who, parley(dir, "serve")))
	first.signal(syscall.SIGTERM)
	if code := first.end(); code != command.ExitDone {
		t.Fatalf("exit status %d:\n%s", code, first.text())
	}
	if code, said := runToEnd(t, as(who, parley(dir, "admin", "account", "create", "--name", "Lola"))); code != command.ExitDone {
		t.Fatalf("exit status %d: %s", code, said)
	}
	version := filepath.Join(dir, "postgres", "data", "PG_VERSION")
	is, err := os.ReadFile(version)
	if err != nil {
		t.Fatal(err)
	}
	// The programs of the cluster's own version are not here any more.
	write := func(text string) {
		if err := os.WriteFile(version, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("9\n")
	for _, c := range [][]string{{"serve"}, {"backup", filepath.Join(home, "b")}} {
		code, said := runToEnd(t, as(who, parley(dir, c...)))
		last := lastLine(said)
		if code != command.ExitFailed || !strings.Contains(last, "apt-get install postgresql-9") || !strings.Contains(last, "parley backup DIR") || !strings.Contains(last, "parley restore DIR") {
			t.Errorf("%v: exit status %d: %s", c, code, last)
		}
	}
	write(string(is))
	k := copied(t, as(who, parley(dir, "backup", "--json", filepath.Join(home, "b"))))
	if strconv.Itoa(k.Manifest.Postgres) != strings.TrimSpace(string(is)) || k.Manifest.Totals.Bonus != "5" {
		t.Errorf("the backup says %+v", k)
	}
	if pid := firstLine(filepath.Join(dir, "postgres", "data", "postmaster.pid")); pid != "" {
		t.Errorf("the database runs on as %s", pid)
	}
	if code, said := runToEnd(t, as(who, parley(dir, "restore", filepath.Join(home, "b")))); code != command.ExitFailed || !strings.Contains(said, "is not empty") {
		t.Errorf("over a data directory: exit status %d: %s", code, said)
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	restorer := who
	if who != nil { // root prepares the directory for them and restores into it
		restorer = nil
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		give(dir)
	}
	if k := copied(t, as(restorer, parley(dir, "restore", "--json", filepath.Join(home, "b")))); k.Accounts != 1 {
		t.Errorf("restored %+v", k)
	}
	if code, said := runToEnd(t, as(who, parley(dir, "admin", "ledger", "verify"))); code != command.ExitDone {
		t.Errorf("exit status %d: %s", code, said)
	}
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 3 { // the backup, the old data and the new
		t.Errorf("%v, %v", entries, err)
	}
}
