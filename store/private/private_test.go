package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The tests run twice where they can: as the user who runs them and, when that
// is root, once more as nobody. See TestAsOrdinaryUser.

// patience is for things that take milliseconds; it only bounds a hang.
const patience = 30 * time.Second

// newDir is a directory that the service account reaches, which t.TempDir of a
// root user is not.
func newDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "parley-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// made is the directory of a stopped cluster, empty until makeOnce has made it: that takes seconds of a processor, copying it
// a moment.
var made string

var makeOnce = sync.OnceValue(func() (err error) {
	if made, err = os.MkdirTemp("", "parley-pg-"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := Start(ctx, Options{Dir: made, Volatile: true})
	if err != nil {
		return err
	}
	return c.Stop()
})

// fill copies that which was made to a directory in which there is nothing.
func fill(t *testing.T, dir string) {
	t.Helper()
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		return
	}
	if err := makeOnce(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", made+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// start starts a cluster, a copy of one when there is none.
func start(t *testing.T, dir string) *Cluster {
	t.Helper()
	fill(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := Start(ctx, Options{Dir: dir, Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop() })
	return c
}

func query(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var s string
	if err := conn.QueryRow(t.Context(), sql).Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func serverPID(t *testing.T, c *Cluster) int {
	t.Helper()
	l, err := readLockFile(c.data)
	if err != nil {
		t.Fatal(err)
	}
	return l.pid
}

// eventually polls until ok; how long it takes is not asserted.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("gave up waiting: %s", what)
		}
	}
}

func TestLifeOfACluster(t *testing.T) {
	dir := newDir(t)
	c := start(t, dir)
	settings := map[string]string{
		"listen_addresses": "", "data_checksums": "on", "server_encoding": "UTF8", "TimeZone": "UTC",
	}
	for name, want := range settings {
		if got := query(t, c.URL(), "show "+name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := query(t, c.URL(), "select current_database() || ' ' || current_user"); got != "parley parley" {
		t.Errorf("connected as %q", got)
	}
	if url, err := Locate(dir); err != nil || url != c.URL() {
		t.Errorf("Locate says %q, %v", url, err)
	}
}

func TestStopAndStartKeepsData(t *testing.T) {
	dir := newDir(t)
	c := start(t, dir)
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "create table kept as select 'still here'::text as t"); err != nil {
		t.Fatal(err)
	}
	// The open connection must not hold the stop up.
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if _, err := Locate(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Locate after Stop: %v", err)
	}
	again := start(t, dir)
	if got := query(t, again.URL(), "select t from kept"); got != "still here" {
		t.Errorf("the table holds %q", got)
	}
}

func TestTwoStartsOnOneDirectory(t *testing.T) {
	dir := newDir(t)
	c := start(t, dir)
	_, err := Start(t.Context(), Options{Dir: dir})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second start: %v", err)
	}
	query(t, c.URL(), "select 'unharmed'")
}

func TestKilledServerComesBack(t *testing.T) {
	c := start(t, newDir(t))
	for range 2 {
		old := serverPID(t, c)
		if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server comes back", func() bool {
			l, err := readLockFile(c.data)
			return err == nil && l.pid != old && answers(t.Context(), c.socket)
		})
	}
	query(t, c.URL(), "select 'back'")
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}

func TestHopelessServerIsGivenUp(t *testing.T) {
	c, err := Start(t.Context(), Options{Dir: newDir(t), Volatile: true, patience: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	// Break the cluster under the running server, then make it start again.
	if err := os.WriteFile(filepath.Join(c.data, "PG_VERSION"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(serverPID(t, c), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Fatal("still trying")
	}
	if err := c.Stop(); err == nil || !strings.Contains(err.Error(), "incompatible") {
		t.Errorf("Stop: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	dir := newDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(dir, "data", "PG_VERSION")
	foreign := newDir(t)
	if err := os.MkdirAll(filepath.Join(foreign, "data", "holiday photos"), 0o700); err != nil {
		t.Fatal(err)
	}
	me, _ := user.Current()
	if me.Uid == "0" { // as if it had been made by the service account
		os.Chown(filepath.Join(dir, "data"), 65534, -1)
		os.Chown(filepath.Join(foreign, "data"), 65534, -1)
	}
	for _, tt := range []struct {
		name, dir, version string
		want               error
		text               string
	}{
		{"old cluster", dir, "9\n", ErrVersion, "apt-get install postgresql-9"},
		{"newer cluster", dir, "99\n", ErrVersion, "apt-get install postgresql-99"},
		{"damaged version", dir, "what\n", nil, "PG_VERSION"},
		{"not a cluster", foreign, "", nil, "is not a PostgreSQL cluster"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.version != "" {
				if err := os.WriteFile(version, []byte(tt.version), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Start(t.Context(), Options{Dir: tt.dir})
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(foreign, "data", "holiday photos")); err != nil {
		t.Error(err)
	}
}

func TestHalfMadeClusterIsMadeAgain(t *testing.T) {
	dir := newDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "data.new", "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	query(t, start(t, dir).URL(), "select 'made'")
}

func TestLongPathsGetAShortSocket(t *testing.T) {
	dir := filepath.Join(newDirOpen(t), strings.Repeat("long-", 20))
	c := start(t, dir)
	if strings.HasPrefix(c.socket, dir) {
		t.Errorf("the socket is in %s", c.socket)
	}
	query(t, c.URL(), "select 'reached'")
	if url, err := Locate(dir); err != nil || url != c.URL() {
		t.Errorf("Locate says %q, %v", url, err)
	}
	c.Stop()
	if _, err := os.Stat(c.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket directory stays behind: %v", err)
	}
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	dir := newDir(t)
	start(t, dir).Stop() // so that only the server's start is left to cancel
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("changed our mind"))
	if _, err := Start(ctx, Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "changed our mind") {
		t.Errorf("got %v", err)
	}
	if _, err := Locate(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("left running: %v", err)
	}
}

func TestLogReadsSeverity(t *testing.T) {
	var text strings.Builder
	l := &lineLog{log: newTextLog(&text)}
	for _, part := range []string{"LOG:  all is we", "ll\nFATAL:  the database system is starting up\nFATAL:  lock", " file\n"} {
		if _, err := l.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	want := "DEBUG postgres: all is well\nDEBUG postgres: FATAL:  the database system is starting up\nWARN postgres: lock file\n"
	if text.String() != want {
		t.Errorf("got\n%s", text.String())
	}
	if l.lastFatal() != "lock file" {
		t.Errorf("remembers %q", l.lastFatal())
	}
}
