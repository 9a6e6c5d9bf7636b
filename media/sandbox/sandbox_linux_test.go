package sandbox_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/media/sandbox"
)

// probeName makes this test binary a child that tries what a child must not do.
const probeName = "probe"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == probeName {
		probe(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// attempt is what a probe says of one thing that it tried.
type attempt struct{ What, Err string }

// probe tries everything, says how it went and waits for the end of its input.
func probe(args []string) {
	secret, address, dir := args[0], args[1], args[2]
	var tried []attempt
	try := func(what string, err error) {
		a := attempt{What: what}
		if err != nil {
			a.Err = err.Error()
		}
		tried = append(tried, a)
	}
	_, err := os.ReadFile(secret)
	try("read a secret", err)
	_, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	try("read the server's environment", err)
	_, err = net.Dial("tcp", address)
	try("connect", err)
	_, err = os.Create(filepath.Join(dir, "new"))
	try("create a file", err)
	try("run a program", exec.Command("/bin/true").Run())
	try("stop the server", syscall.Kill(os.Getppid(), syscall.SIGSTOP))
	try("trace the server", syscall.PtraceAttach(os.Getppid()))
	try("become root", syscall.Setuid(0))
	try("leave the namespace", syscall.Unshare(syscall.CLONE_NEWUSER))
	_, err = os.ReadFile("/usr/lib/os-release")
	try("read the system", err)
	json.NewEncoder(os.Stdout).Encode(map[string]any{"tried": tried, "environment": os.Environ()})
	io.Copy(io.Discard, os.Stdin)
}

// TestConfined: a child reads the system's files and nothing else, reaches nobody and can
// become nothing.
func TestConfined(t *testing.T) {
	t.Setenv("PARLEY_SECRET", "not for children")
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o644); err != nil {
		t.Fatal(err)
	}
	// Access must be refused by the sandbox, not by the permissions that root's child lacks.
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := sandbox.Command(t.Context(), sandbox.Config{Path: self, Args: []string{probeName, secret, l.Addr().String(), dir}, Nice: 7,
		Limits: sandbox.Limits{FileSize: 1 << 20, Files: 64}})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	var said struct {
		Tried       []attempt
		Environment []string
	}
	if err := json.NewDecoder(bufio.NewReader(stdout)).Decode(&said); err != nil {
		t.Fatal(err, cmd.Wait())
	}
	for _, a := range said.Tried {
		if refused := a.Err != ""; refused != (a.What != "read the system") {
			t.Errorf("%s: %q", a.What, a.Err)
		}
	}
	for _, v := range said.Environment {
		if strings.HasPrefix(v, "PARLEY_") {
			t.Errorf("the child knows %s", v)
		}
	}
	status := status(t, cmd.Process.Pid)
	for key, want := range map[string]string{"NoNewPrivs": "1", "Seccomp": "2", "CapEff": "0000000000000000"} {
		if status[key] != want {
			t.Errorf("%s is %s, want %s", key, status[key], want)
		}
	}
	if strings.HasPrefix(status["Uid"], "0\t") {
		t.Error("the child is root")
	}
	if nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, cmd.Process.Pid); err != nil || 20-nice != 7 {
		t.Errorf("nice %d, %v, want 7", 20-nice, err)
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// status reads /proc/PID/status.
func status(t *testing.T, pid int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		fields[key] = strings.TrimSpace(value)
	}
	return fields
}

// TestReads: a child may read what its configuration names and its standard input.
func TestReads(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"named", "input", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in, err := os.Open(filepath.Join(dir, "input"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd, err := sandbox.Command(t.Context(), sandbox.Config{Path: "/bin/cat", Read: []string{filepath.Join(dir, "named"), "/not/there"},
		Args: []string{filepath.Join(dir, "named"), "/dev/stdin", filepath.Join(dir, "other")}})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = in
	out, err := cmd.Output()
	if string(out) != "namedinput" || err == nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestFiles: a child may read them where its account reaches them and where it does not, and nothing beside them.
func TestFiles(t *testing.T) {
	for _, mode := range []os.FileMode{0o755, 0o700} {
		dir := t.TempDir()
		for _, name := range []string{"file", "other"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range []string{dir, filepath.Dir(dir)} {
			if err := os.Chmod(d, mode); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(dir, "file")
		cmd, err := sandbox.Command(t.Context(), sandbox.Config{Path: "/bin/cat", Files: []string{file}, Args: []string{file, filepath.Join(dir, "other")}})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := cmd.Output(); string(out) != "file" || err == nil {
			t.Errorf("in a directory with %o: %q, %v", mode, out, err)
		}
	}
	cmd, err := sandbox.Command(t.Context(), sandbox.Config{Path: "/bin/cat", Files: []string{"/not/there"}, Args: []string{"/not/there"}})
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "/not/there: no such file") || cmd.ProcessState.ExitCode() != sandbox.NotStarted {
		t.Errorf("one that is not there: %s", out)
	}
}

// TestLimits: a child that takes too much fails.
func TestLimits(t *testing.T) {
	for name, c := range map[string]sandbox.Config{
		"memory": {Path: "/bin/dd", Args: []string{"if=/dev/zero", "of=/dev/null", "count=1", "bs=300M"}, Limits: sandbox.Limits{Memory: 200 << 20}},
		"time":   {Path: "/bin/cat", Args: []string{"/dev/zero"}, Limits: sandbox.Limits{CPU: time.Second}},
	} {
		cmd, err := sandbox.Command(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Run(); err == nil {
			t.Errorf("%s: no limit", name)
		}
	}
	cmd, err := sandbox.Command(t.Context(), sandbox.Config{Path: "/bin/dd", Args: []string{"if=/dev/zero", "of=/dev/null", "count=1", "bs=100M"}, Limits: sandbox.Limits{Memory: 200 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("within its limit: %v, %s", err, out)
	}
}

// TestNotExecuted: what cannot run says why.
func TestNotExecuted(t *testing.T) {
	if _, err := sandbox.Command(t.Context(), sandbox.Config{Path: "/not/there"}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := sandbox.Command(t.Context(), sandbox.Config{Path: plain}); err == nil {
		t.Error("a text was taken for a program")
	}
}
