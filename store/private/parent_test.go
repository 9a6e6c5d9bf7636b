package private

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// helperDir makes the test binary start a cluster there, say so and wait to be
// killed.
const helperDir = "PARLEY_TEST_HELPER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		helper(dir)
	}
	code := m.Run()
	if made != "" {
		os.RemoveAll(made)
	}
	os.Exit(code)
}

func helper(dir string) {
	c, err := Start(context.Background(), Options{Dir: dir, Volatile: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(c.URL())
	io.Copy(io.Discard, os.Stdin) // until the pipe breaks or we are killed
	os.Exit(1)
}

// startHelper runs a parent of a cluster in dir as a process of its own and
// returns the cluster's address.
func startHelper(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	fill(t, dir)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperDir+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(url, "postgres://") {
		t.Fatalf("helper said %q, %v", url, err)
	}
	return cmd, strings.TrimSpace(url)
}

func TestKilledParentTakesServerAlong(t *testing.T) {
	dir := newDir(t)
	for round := range 3 {
		cmd, url := startHelper(t, dir)
		query(t, url, "select 'up'")
		old, err := readLockFile(filepath.Join(dir, "data"))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		if round == 2 { // the last one: nobody follows, the server goes by itself
			eventually(t, "the orphan ends", func() bool { return errors.Is(syscall.Kill(old.pid, 0), syscall.ESRCH) })
		}
	}
	// Rounds one and two started again at once, on the old server's heels.
	query(t, start(t, dir).URL(), "select 'up'")
}

func TestLeftoverServerIsWaitedFor(t *testing.T) {
	// A server of the same cluster that is nobody's child any more, as after a
	// crash of the parent. It goes only after the new one was refused.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := newDir(t)
	c := start(t, dir)
	c.Stop()
	old, err := c.spawn()
	if err != nil {
		t.Fatal(err)
	}
	if !c.await(t.Context(), old) {
		t.Fatal("the leftover does not answer")
	}
	refused := make(chan struct{})
	log := newTextLog(&trigger{text: "lock file", hit: refused})
	go func() {
		<-refused
		old.stop()
	}()
	again, err := Start(t.Context(), Options{Dir: dir, Log: log, Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Stop()
	query(t, again.URL(), "select 'patient'")
}

// trigger closes hit when text is written for the first time.
type trigger struct {
	text string
	hit  chan struct{}
	also io.Writer // gets everything too, unless nil
	once sync.Once
}

func (w *trigger) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		w.once.Do(func() { close(w.hit) })
	}
	if w.also != nil {
		return w.also.Write(b)
	}
	return len(b), nil
}

func TestOtherUsersStayOut(t *testing.T) {
	me, err := user.Current()
	if err != nil || me.Uid != "0" {
		t.Skip("needs root, to become somebody else")
	}
	c := start(t, newDir(t))
	if c.run.name == "nobody" {
		t.Skip("the service account is nobody here")
	}
	cmd := exec.Command("/usr/bin/psql", c.URL(), "-c", "select 1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential(t, "nobody")}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "Permission denied") {
		t.Errorf("nobody got in: %s", out)
	}
}

func TestClosedHomeIsUnreachable(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root changes accounts")
	}
	home := newDir(t) // mode 0700, owned by root
	dir := filepath.Join(home, "project", "data", "postgres")
	if err := Check(dir, ""); !errors.Is(err, ErrUnreachable) {
		t.Errorf("Check: %v", err)
	}
	if _, err := Start(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("Start: %v", err)
	}
	if entries, _ := os.ReadDir(home); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
	if err := Check(filepath.Join(newDirOpen(t), "postgres"), ""); err != nil {
		t.Errorf("open directory: %v", err)
	}
}

func TestAccounts(t *testing.T) {
	dir := newDirOpen(t)
	for _, tt := range []struct{ account, text string }{
		{"root", "refuses to run as root"},
		{"no-such-account", "does not exist"},
	} {
		if os.Geteuid() != 0 {
			t.Skip("only root chooses")
		}
		if _, err := Start(t.Context(), Options{Dir: dir, Account: tt.account}); !errors.Is(err, ErrAccount) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", tt.account, err)
		}
	}
	first := startAs(t, dir, "nobody")
	first.Stop()
	// Without a name the cluster keeps the owner it has.
	again := startAs(t, dir, "")
	if again.run.name != "nobody" {
		t.Errorf("the cluster of nobody is run by %s", again.run.name)
	}
	query(t, again.URL(), "select 'same owner'")
}

// TestAsOrdinaryUser runs this package's tests again without root's powers.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("we are one already")
	}
	dir := newDirOpen(t)
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "private.test")
	if err := os.WriteFile(program, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.v", "-test.run", "TestLife|TestTwo|TestKilled|TestRefusals|TestStale")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential(t, "nobody")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n--- PASS"); n < 7 {
		t.Errorf("only %d tests ran\n%s", n, out)
	}
}

func newDirOpen(t *testing.T) string {
	dir := newDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func startAs(t *testing.T, dir, name string) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), Options{Dir: dir, Account: name, Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop() })
	return c
}

func credential(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Skip(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// newTextLog writes "LEVEL message" lines.
func newTextLog(w io.Writer) *slog.Logger { return slog.New(textHandler{w}) }

type textHandler struct{ w io.Writer }

func (textHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h textHandler) Handle(_ context.Context, r slog.Record) error {
	_, err := fmt.Fprintf(h.w, "%s %s\n", r.Level, r.Message)
	return err
}
func (h textHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h textHandler) WithGroup(string) slog.Handler      { return h }
