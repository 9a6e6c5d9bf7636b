package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pooled puts a PgBouncer before the database at address until the test ends, in a mode
// such as session or transaction, and returns the address through it. It lends so many
// connections.
func Pooled(t testing.TB, address, mode string, connections int) string {
	t.Helper()
	u, cfg := parsed(t, address)
	dir, err := os.MkdirTemp("/tmp", "parley-pool-") // short, as a socket's name must be
	if err != nil {
		t.Fatal("storetest: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cmd := exec.Command("pgbouncer", filepath.Join(dir, "ini"))
	if os.Geteuid() == 0 { // it refuses to run as root
		who, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal("storetest: ", err)
		}
		uid, _ := strconv.Atoi(who.Uid) // of the password file
		gid, _ := strconv.Atoi(who.Gid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal("storetest: ", err)
		}
	}
	password := ""
	if cfg.Password != "" {
		password = " password=" + cfg.Password
	}
	ini := fmt.Sprintf(`[databases]
* = host=%s port=%d user=%s%s
[pgbouncer]
unix_socket_dir = %s
listen_port = 6432
auth_type = any
pool_mode = %s
default_pool_size = %d
logfile = %s/log
`, cfg.Host, cfg.Port, cfg.User, password, dir, mode, connections, dir)
	if err := os.WriteFile(filepath.Join(dir, "ini"), []byte(ini), 0o644); err != nil {
		t.Fatal("storetest: ", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal("storetest: ", err)
	}
	// Before the database is dropped, whose connections it keeps.
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	u.RawQuery = url.Values{"host": {dir}, "port": {"6432"}, "sslmode": {"disable"}}.Encode()
	u.Host = ""
	answer(t, u.String(), filepath.Join(dir, "log"))
	return u.String()
}

func parsed(t testing.TB, address string) (*url.URL, *pgx.ConnConfig) {
	t.Helper()
	u, err1 := url.Parse(address)
	cfg, err2 := pgx.ParseConfig(address)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal("storetest: ", err)
	}
	return u, cfg
}

// answer waits until the database at address answers.
func answer(t testing.TB, address, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, address)
		if err == nil {
			err = errors.Join(conn.Ping(ctx), conn.Close(ctx))
		}
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(log)
			t.Fatalf("storetest: PgBouncer does not answer: %v\n%s", err, said)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
