package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/cmd/parley/command"
	"parley/store/storetest"
)

// These tests run the program as a person does: the binary, its flags and
// environment, signals, what it prints and its exit status.

// patience only bounds a hang; nothing here asserts how long something takes.
const patience = 30 * time.Second

// program is the binary that TestMain builds.
var program string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "parley-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "parley")
	// The server starts the speech worker that lies beside it.
	build := exec.Command("go", "build", "-buildvcs=false", raceFlag, "-o", dir+"/", ".", "../parley-speech")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return storetest.Run(m)
}

// running is a started server and what its log has said.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	addrs map[string]string // listener to address
	first map[string]any    // the first line of the log

	mu   sync.Mutex
	log  bytes.Buffer
	out  bytes.Buffer
	done chan struct{} // its log has ended
}

// usedDataDir is a data directory with the database that the first start of a server makes.
func usedDataDir(t *testing.T) string {
	t.Helper()
	dir := newDataDir(t)
	storetest.Cluster(t, dir)
	return dir
}

// newDataDir is a path below a directory that the database's service account reaches.
func newDataDir(t *testing.T) string { return filepath.Join(storetest.Dir(t), "data") }

// parley is the program with free ports and none of the tester's settings.
func parley(dataDir string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "PARLEY_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "PARLEY_HTTP_ADDR=127.0.0.1:0", "PARLEY_METRICS_ADDR=127.0.0.1:0",
		"PARLEY_SIP_ADDR=127.0.0.1:0", "PARLEY_WEBRTC_UDP_PORT=0", "PARLEY_LOG_FORMAT=json", "PARLEY_DATA_DIR="+dataDir)
	return cmd
}

// serve starts a server and waits until its log says that it is ready.
func serve(t *testing.T, dataDir string, env ...string) *running {
	t.Helper()
	cmd := parley(dataDir, "serve")
	cmd.Env = append(cmd.Env, env...)
	return launch(t, cmd)
}

// launch does the same with a command that serves.
func launch(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{t: t, cmd: cmd, addrs: map[string]string{}, done: make(chan struct{})}
	r.cmd.Stdout = said{r}
	stderr, err := r.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.cmd.Process.Kill(); r.cmd.Wait() })
	up := make(chan struct{})
	go r.read(stderr, up)
	select {
	case <-up:
	case <-r.done:
		t.Fatalf("the server ended:\n%s", r.text())
	case <-time.After(patience):
		t.Fatalf("the server is not ready:\n%s", r.text())
	}
	return r
}

func (r *running) read(stderr io.Reader, up chan struct{}) {
	defer close(r.done)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		r.mu.Lock()
		fmt.Fprintf(&r.log, "%s\n", lines.Bytes())
		r.mu.Unlock()
		line := map[string]any{}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			continue
		}
		if r.first == nil {
			r.first = line
		}
		switch line["msg"] {
		case "listening":
			r.addrs[line["for"].(string)] = line["addr"].(string)
		case "parley is ready":
			close(up)
		}
	}
}

// said keeps what a server prints for people.
type said struct{ r *running }

func (s said) Write(b []byte) (int, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	return s.r.out.Write(b)
}

// printed is what the server has printed so far.
func (r *running) printed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

func (r *running) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// end waits for the process and returns its exit status.
func (r *running) end() int {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		r.t.Fatalf("the server does not end:\n%s", r.text())
	}
	r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

func (r *running) signal(sig os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) get(listener, path string) (int, string) {
	r.t.Helper()
	resp, err := http.Get("http://" + r.addrs[listener] + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// postmaster is the process id of the private database in dataDir.
func postmaster(t *testing.T, dataDir string) int {
	t.Helper()
	pid, err := strconv.Atoi(firstLine(filepath.Join(dataDir, "postgres", "data", "postmaster.pid")))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func firstLine(path string) string {
	b, _ := os.ReadFile(path) // missing is empty
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("gave up waiting: %s", what)
		}
	}
}

func TestServeAnswersAndStops(t *testing.T) {
	dir := newDataDir(t)
	r := serve(t, dir)
	if r.first["msg"] != "parley starts" || r.first["data_dir"] != dir {
		t.Errorf("the log begins with %v", r.first)
	}
	checkDoctorBeside(t, r, dir)
	for _, tt := range []struct {
		listener, path string
		code           int
		body           string
	}{
		{"http", "/healthz", 200, `{"status":"ok"}`},
		{"http", "/readyz", 200, `{"not_ready":[],"status":"ready"}`},
		{"metrics", "/metrics", 200, `parley_build_info{version="development"} 1`},
		{"metrics", "/debug/pprof/cmdline", 200, "serve"},
		{"http", "/metrics", 404, ""},
		{"http", "/debug/pprof/", 404, ""},
	} {
		if code, body := r.get(tt.listener, tt.path); code != tt.code || !strings.Contains(body, tt.body) {
			t.Errorf("%s %s: %d %s", tt.listener, tt.path, code, body)
		}
	}
	secret, err := os.ReadFile(filepath.Join(dir, "secret"))
	if err != nil || len(secret) < 32 {
		t.Errorf("secret of %d bytes, %v", len(secret), err)
	}
	database := postmaster(t, dir)
	r.signal(syscall.SIGTERM)
	if code := r.end(); code != 0 {
		t.Errorf("exit status %d\n%s", code, r.text())
	}
	if err := syscall.Kill(database, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the database lives on: %v", err)
	}
	if strings.Contains(r.text(), strings.TrimSpace(string(secret))) {
		t.Error("the log shows the secret")
	}

	// A second start finds everything in place.
	again := serve(t, dir)
	if now, _ := os.ReadFile(filepath.Join(dir, "secret")); !bytes.Equal(now, secret) {
		t.Error("the secret has changed")
	}
	again.signal(os.Interrupt)
	if code := again.end(); code != 0 {
		t.Errorf("exit status %d after an interrupt\n%s", code, again.text())
	}
}

// TestSoakKills kills the server, or the database under it, at any moment, and
// expects both back. TestKilledServers of package acceptance does so during calls.
func TestSoakKills(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	dir := usedDataDir(t)
	for range 100 {
		r := serve(t, dir)
		old := postmaster(t, dir)
		if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the database comes back", func() bool {
			pid, err := strconv.Atoi(firstLine(filepath.Join(dir, "postgres", "data", "postmaster.pid")))
			if err != nil || pid == old {
				return false
			}
			code, _ := r.get("http", "/readyz")
			return code == 200
		})
		r.signal(syscall.SIGKILL)
		r.end()
	}
	if code, body := serve(t, dir).get("http", "/readyz"); code != 200 {
		t.Errorf("%d %s", code, body)
	}
}

func TestTwoServersOnOneDataDirectory(t *testing.T) {
	dir := usedDataDir(t)
	first := serve(t, dir)
	code, stderr := runToEnd(t, parley(dir, "serve"))
	last := lastLine(stderr)
	if code != command.ExitFailed || !strings.HasPrefix(last, "parley: ") || !strings.Contains(last, "in use by another server") {
		t.Errorf("exit status %d, %q", code, last)
	}
	if code, body := first.get("http", "/readyz"); code != 200 {
		t.Errorf("the first one suffered: %d %s", code, body)
	}
}

func TestFailedStarts(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := newDataDir(t)
	for _, tt := range []struct {
		name string
		env  string
		args []string
		code int
		line string
	}{
		{"port in use", "PARLEY_HTTP_ADDR=" + taken.Addr().String(), []string{"serve"}, command.ExitFailed,
			"parley: cannot listen on " + taken.Addr().String() + " (PARLEY_HTTP_ADDR): bind: address already in use"},
		{"database away", "PARLEY_DATABASE_URL=postgres://u:hunter2@127.0.0.1:1/x", []string{"serve"}, command.ExitFailed, "parley: the database does not answer"},
		{"wrong value", "PARLEY_LOG=loud", []string{"serve"}, command.ExitUsage, "parley: PARLEY_LOG: "},
		{"wrong value, checked", "PARLEY_ASR=onnx", []string{"config", "check"}, command.ExitUsage, "parley: PARLEY_ASR: "},
		{"unknown flag", "", []string{"serve", "--port", "1"}, command.ExitUsage, "parley: unknown flag: --port"},
		{"unknown command", "", []string{"server"}, command.ExitUsage, "parley: unknown command"},
		{"argument", "", []string{"version", "please"}, command.ExitUsage, "parley: unknown command"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := parley(dir, tt.args...)
			cmd.Env = append(cmd.Env, tt.env)
			code, stderr := runToEnd(t, cmd)
			last := lastLine(stderr)
			if code != tt.code || !strings.HasPrefix(last, tt.line) {
				t.Errorf("exit status %d, want %d: %q", code, tt.code, last)
			}
			if strings.Contains(stderr, "hunter2") {
				t.Errorf("shows the password: %s", stderr)
			}
			if n := strings.Count(stderr, "parley: "); n != 1 {
				t.Errorf("%d lines for a person:\n%s", n, stderr)
			}
		})
	}
}

func TestClosedDataDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root runs the database under another account")
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	code, stderr := runToEnd(t, parley(filepath.Join(closed, "data"), "serve"))
	if last := lastLine(stderr); code != command.ExitFailed || !strings.Contains(last, "PARLEY_DATA_DIR=/var/lib/parley parley serve") {
		t.Errorf("exit status %d, %q", code, last)
	}
	if entries, _ := os.ReadDir(filepath.Join(closed, "data", "postgres")); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestConfigAndVersionCommands(t *testing.T) {
	for _, tt := range []struct {
		args []string
		env  string
		want string
	}{
		{[]string{"version"}, "", "parley development (go"},
		{[]string{"version", "--json"}, "", `"version":"development"`},
		{[]string{"config", "check"}, "", "in order"},
		{[]string{"config", "check", "--json"}, "", `{"ok":true}`},
		{[]string{"config", "print", "--log", "debug"}, "PARLEY_LOG=warn", "log: debug                                   # flag\n"},
		{[]string{"config", "print", "--demo"}, "", "demo: true                                   # flag\n"},
		{[]string{"config", "print", "--json"}, "PARLEY_SECRET=0123456789012345678901234567890123", `{"key":"secret","value":"(secret)","source":"environment"}`},
		{[]string{"completion", "bash"}, "", "parley"},
		{[]string{"help", "serve"}, "", "parley serve --demo"},
	} {
		cmd := parley(t.TempDir(), tt.args...)
		cmd.Env = append(cmd.Env, tt.env)
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%v: %v\n%s", tt.args, err, out)
		}
	}
}

func runToEnd(t *testing.T, cmd *exec.Cmd) (code int, stderr string) {
	t.Helper()
	var b bytes.Buffer
	cmd.Stderr = &b
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), b.String()
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
