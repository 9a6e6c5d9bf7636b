package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// TestStaleLockFile starts on lock files whose pid exists but is not the server
// that wrote them. The processes belong to PostgreSQL's account: it overlooks
// those of others by itself.
func TestStaleLockFile(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program []string
		zombie  bool
		inData  bool // the process works in the data directory
		want    error
	}{
		{name: "zombie", program: []string{"/bin/true"}, zombie: true},
		{name: "zombie from the data directory", program: []string{"/bin/true"}, zombie: true, inData: true},
		{name: "stranger", program: []string{"/bin/sleep", "600"}},
		{name: "live in the data directory", program: []string{"/bin/sleep", "600"}, inData: true, want: ErrInUse},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newDir(t)
			c := start(t, dir)
			c.Stop()
			cmd := exec.Command(tt.program[0], tt.program[1:]...)
			cmd.Dir = "/"
			if tt.inData {
				cmd.Dir = c.data
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.run.drop}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			pid := cmd.Process.Pid
			if tt.zombie {
				awaitZombie(t, pid)
			} else if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
				t.Skip("other accounts' processes cannot be told apart here: ", err)
			}
			for _, path := range c.lockFiles() {
				if err := c.write(path, fmt.Sprintf("%d\n%s\n", pid, c.data)); err != nil {
					t.Fatal(err)
				}
			}
			var log strings.Builder
			o := Options{Dir: dir, Log: newTextLog(&log), Volatile: true}
			if tt.want != nil {
				o.patience = 200 * time.Millisecond
			}
			again, err := Start(t.Context(), o)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if err != nil {
				return
			}
			query(t, again.URL(), "select 'up'")
			again.Stop()
			if strings.Contains(log.String(), "already exists") {
				t.Errorf("it took more than one try:\n%s", log.String())
			}
		})
	}
}

// TestStaleAfterKillTogether kills a parent and its server at once where nobody
// reaps the server, and leaves one of its backends behind. The zombie must not
// keep the next server out; the backend must, for it may still write.
func TestStaleAfterKillTogether(t *testing.T) {
	// As process 1 of a container without an init: orphans come to us, and we
	// do not wait for them.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	dir := newDir(t)
	parent, url := startHelper(t, dir)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var backend int
	if err := conn.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&backend); err != nil {
		t.Fatal(err)
	}
	server, err := readLockFile(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(backend, syscall.SIGKILL) })
	// A stopped backend does not notice that its server is gone.
	kill(t, backend, syscall.SIGSTOP)
	// A stopped parent does not wait for its child.
	kill(t, parent.Process.Pid, syscall.SIGSTOP)
	if _, err := syscall.Wait4(parent.Process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	kill(t, server.pid, syscall.SIGKILL)
	kill(t, parent.Process.Pid, syscall.SIGKILL)
	parent.Wait()
	awaitZombie(t, server.pid)

	refused := make(chan struct{})
	var text strings.Builder
	log := newTextLog(&trigger{text: "still in use", hit: refused, also: &text})
	go func() {
		<-refused
		syscall.Kill(backend, syscall.SIGKILL)
	}()
	c, err := Start(t.Context(), Options{Dir: dir, Log: log, Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	query(t, c.URL(), "select 'up'")
	c.Stop()
	select {
	case <-refused:
	default:
		t.Error("started beside a backend of the old server")
		close(refused)
	}
	if strings.Contains(text.String(), "already exists") {
		t.Errorf("the zombie kept it out:\n%s", text.String())
	}
}

// awaitZombie returns when a child of ours has exited; it stays unreaped.
func awaitZombie(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
}

func kill(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}
