package storetest

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store/private"
)

// Pair is a primary with the migrated database of a server, and a standby to which it streams. A commit is
// acknowledged when the standby has it, too.
type Pair struct {
	URL     string // of both; clients find the one that takes writes
	Standby string // of the standby alone

	t       testing.TB
	dir     string
	version int
	account *syscall.Credential // that owns the data; nil: our own
	first   *exec.Cmd
}

// NewPair starts both until the test ends. Nobody but their account and root is let in.
func NewPair(t testing.TB) *Pair {
	t.Helper()
	p := &Pair{t: t, dir: Dir(t)}
	Cluster(t, filepath.Join(p.dir, "data"))
	from := filepath.Join(private.Dir(filepath.Join(p.dir, "data")), "data")
	p.own(from)
	version, err := os.ReadFile(filepath.Join(from, "PG_VERSION"))
	p.ok(err)
	p.version, err = strconv.Atoi(strings.TrimSpace(string(version)))
	p.ok(err)
	p.ok(os.WriteFile(filepath.Join(p.dir, "hba"), []byte("local all all trust\nlocal replication all trust\n"), 0o644))

	p.first = p.start("first", from)
	primary := p.url("first")
	p.until(primary, "select not pg_is_in_recovery()")
	second := filepath.Join(p.dir, "second", "data")
	p.run("pg_basebackup", "--pgdata="+second, "--dbname="+primary, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
	p.start("second", second)
	p.until(primary, "select exists (select from pg_stat_replication where state = 'streaming')")
	// After the copy was made: the standby waits for nobody when it is the primary.
	p.do(primary, "alter system set synchronous_standby_names = '*'", "select pg_reload_conf()")
	p.until(primary, "select exists (select from pg_stat_replication where sync_state = 'sync')")
	p.URL, p.Standby = p.url("first", "second")+"&target_session_attrs=read-write", p.url("second")
	return p
}

// Kill ends the primary as a power cut would, for good.
func (p *Pair) Kill() {
	p.t.Helper()
	p.ok(p.first.Process.Kill())
	_ = p.first.Wait() // it says that it was killed
}

// Promote has the standby take writes, and returns when it does.
func (p *Pair) Promote() {
	p.t.Helper()
	p.run("pg_ctl", "promote", "--wait", "--pgdata="+filepath.Join(p.dir, "second", "data"))
	p.until(p.Standby, "select not pg_is_in_recovery()")
}

// own finds the account that owns the data and makes the directories of both that account's.
func (p *Pair) own(data string) {
	p.t.Helper()
	info, err := os.Stat(data)
	p.ok(err)
	if st, is := info.Sys().(*syscall.Stat_t); is && os.Geteuid() == 0 {
		p.account = &syscall.Credential{Uid: st.Uid, Gid: st.Gid}
	}
	for _, name := range []string{"first", "second"} {
		dir := filepath.Join(p.dir, name)
		p.ok(os.Mkdir(dir, 0o700))
		if p.account != nil {
			p.ok(os.Chown(dir, int(p.account.Uid), int(p.account.Gid)))
		}
	}
}

// url is the address of one of them, or of both.
func (p *Pair) url(names ...string) string {
	for i, name := range names {
		names[i] = filepath.Join(p.dir, name)
	}
	q := url.Values{"host": {strings.Join(names, ",")}, "port": {"5432"}, "sslmode": {"disable"}}
	return "postgres://" + seeded + "@/" + seeded + "?" + q.Encode()
}

// start runs a server on data, with its socket in the directory of that name.
func (p *Pair) start(name, data string) *exec.Cmd {
	p.t.Helper()
	cmd := p.command("postgres", "-D", data)
	for _, set := range []string{"listen_addresses=", "port=5432", "unix_socket_directories=" + filepath.Join(p.dir, name), "unix_socket_permissions=0700",
		"hba_file=" + filepath.Join(p.dir, "hba"), "fsync=off", "full_page_writes=off", "jit=off"} {
		cmd.Args = append(cmd.Args, "-c", set)
	}
	p.ok(cmd.Start())
	p.t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGQUIT); _ = cmd.Wait() })
	return cmd
}

// run runs a program of PostgreSQL to its end.
func (p *Pair) run(name string, args ...string) {
	p.t.Helper()
	if out, err := p.command(name, args...).CombinedOutput(); err != nil {
		p.t.Fatalf("storetest: %s: %v\n%s", name, err, out)
	}
}

func (p *Pair) command(name string, args ...string) *exec.Cmd {
	p.t.Helper()
	program, _, err := private.Client(name, p.version)
	p.ok(err)
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = p.dir, private.Environment(), &syscall.SysProcAttr{Credential: p.account}
	return cmd
}

// do runs statements of which each is a transaction.
func (p *Pair) do(address string, statements ...string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), address)
	p.ok(err)
	defer conn.Close(p.t.Context())
	for _, sql := range statements {
		_, err := conn.Exec(p.t.Context(), sql)
		p.ok(err)
	}
}

// until waits for a query to be answered with yes.
func (p *Pair) until(address, sql string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), startTimeout)
	defer cancel()
	for yes := false; !yes; time.Sleep(5 * time.Millisecond) {
		conn, err := pgx.Connect(ctx, address)
		if err == nil {
			err = conn.QueryRow(ctx, sql).Scan(&yes)
			_ = conn.Close(ctx)
		}
		if ctx.Err() != nil {
			p.t.Fatalf("storetest: %s: %v", sql, err)
		}
	}
}

func (p *Pair) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal("storetest: ", err)
	}
}
