package acceptance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/store/storetest"
)

// server is a running parley serve.
type server struct {
	dir   string   // its data directory
	env   []string // settings besides the addresses
	cmd   *exec.Cmd
	addrs map[string]string // listener to address; complete when it is ready
	guide demo              // what --demo printed

	mu     sync.Mutex
	log    bytes.Buffer
	out    bytes.Buffer
	logEnd chan struct{} // its log has ended
}

// demo is what --demo prints for people.
type demo struct{ key, agent, caller, number string }

// settings is the environment of the program without any of the tester's own.
func settings(dir string, extra ...string) []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "PARLEY_") {
			env = append(env, e)
		}
	}
	return append(append(env, "PARLEY_HTTP_ADDR=127.0.0.1:0", "PARLEY_METRICS_ADDR=127.0.0.1:0", "PARLEY_SIP_ADDR=127.0.0.1:0", "PARLEY_WEBRTC_UDP_PORT=0",
		"PARLEY_MAX_CPU=0", // a test machine that is busy with other tests refuses nobody
		"PARLEY_LOG_FORMAT=json", "PARLEY_LOG=debug", "PARLEY_NODE=acceptance", "PARLEY_DATA_DIR="+dir), extra...)
}

// newDataDir is a data directory with the database that the first start of a server makes.
func newDataDir(t *testing.T) string {
	t.Helper()
	dir := noDataDir(t)
	storetest.Cluster(t, dir)
	return dir
}

// noDataDir is a path below a directory that the database's service account reaches.
func noDataDir(t *testing.T) string { return filepath.Join(storetest.Dir(t), "data") }

// start starts a server and waits until it is ready.
func start(dir string, env []string, args ...string) (*server, error) {
	return startProgram(served, dir, env, args...)
}

func startProgram(program, dir string, env []string, args ...string) (*server, error) {
	s := &server{dir: dir, env: env, addrs: map[string]string{}, logEnd: make(chan struct{})}
	s.cmd = exec.Command(program, append([]string{"serve"}, args...)...)
	s.cmd.Env = settings(dir, env...)
	s.cmd.Stdout = lockedWriter{&s.mu, &s.out}
	stderr, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	up := make(chan struct{})
	go s.read(stderr, up)
	select {
	case <-up:
	case <-s.logEnd:
		err = fmt.Errorf("the server ended:\n%s", s.text())
	case <-time.After(patience):
		err = fmt.Errorf("the server is not ready:\n%s", s.text())
	}
	if err != nil {
		s.kill()
		return nil, err
	}
	// Standard output comes over a pipe of its own.
	for end := time.Now().Add(patience); slices.Contains(args, "--demo") && s.guide.number == ""; time.Sleep(10 * time.Millisecond) {
		if s.guide = readGuide(s.stdout()); time.Now().After(end) {
			s.kill()
			return nil, fmt.Errorf("--demo prints no guide:\n%s", s.stdout())
		}
	}
	return s, nil
}

// serve starts a server for one test.
func serve(t *testing.T, dir string, env []string, args ...string) *server {
	t.Helper()
	s, err := start(dir, env, args...)
	return watch(t, s, err)
}

// serveLean starts one whose memory can be measured: the race detector takes
// several times as much as the program.
func serveLean(t *testing.T, dir string, env []string, args ...string) *server {
	t.Helper()
	s, err := startProgram(parley, dir, env, args...)
	return watch(t, s, err)
}

// watch ends a server with its test and looks at its log then.
func watch(t *testing.T, s *server, err error) *server {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.kill()
		for _, f := range s.faults() {
			t.Error(f)
		}
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.tail(25))
		}
	})
	return s
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (s *server) read(stderr io.Reader, up chan struct{}) {
	defer close(s.logEnd)
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		s.mu.Lock()
		fmt.Fprintf(&s.log, "%s\n", lines.Bytes())
		s.mu.Unlock()
		var line struct{ Msg, For, Addr string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		switch line.Msg {
		case "listening":
			s.addrs[line.For] = line.Addr
		case "parley is ready":
			close(up)
		}
	}
}

func (s *server) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func (s *server) stdout() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func (s *server) tail(n int) string {
	lines := strings.Split(s.text(), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

var guideLine = regexp.MustCompile(`(?m)^  (API key|agent|caller|number)\s+(\S+)$`)

func readGuide(text string) (d demo) {
	for _, m := range guideLine.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "API key":
			d.key = m[2]
		case "agent":
			d.agent = m[2]
		case "caller":
			d.caller = m[2]
		case "number":
			d.number = m[2]
		}
	}
	return d
}

// demoLink is the path of a link that opens the demonstration, as its command prints it.
func (s *server) demoLink(t *testing.T) string {
	t.Helper()
	printed := do(t, command(s.dir, s.env, "demo", "link", "--url", "http://"+s.addrs["http"]))
	u, err := url.Parse(strings.TrimSpace(printed.out))
	if err != nil || u.Path != "/app/demo" || u.Host != s.addrs["http"] {
		t.Fatalf("the link is %q, %v: %s", printed.out, err, printed.errOut)
	}
	return u.RequestURI()
}

// kill ends the server at once, as a power cut does, and waits for it.
func (s *server) kill() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.logEnd
		_ = s.cmd.Wait()
	}
}

func (s *server) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// end waits for the process and returns its exit status.
func (s *server) end(t *testing.T) int {
	t.Helper()
	select {
	case <-s.logEnd:
	case <-time.After(patience):
		t.Fatalf("the server does not end:\n%s", s.tail(40))
	}
	_ = s.cmd.Wait() // the status says it
	return s.cmd.ProcessState.ExitCode()
}

// stop ends the server in good order.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.signal(t, syscall.SIGTERM)
	if code := s.end(t); code != 0 {
		t.Errorf("the server's exit status is %d:\n%s", code, s.tail(40))
	}
}

// secretText is what no log may hold.
var secretText = regexp.MustCompile(`\b(sk|wst)_[A-Za-z0-9_-]+`)

// faults is what the log of a server that has ended must not hold: secrets,
// races, panics. It does not repeat the secret.
func (s *server) faults() (found []string) {
	text := s.text()
	if m := secretText.FindStringIndex(text); m != nil {
		found = append(found, fmt.Sprintf("a secret is in the log, after %q", text[max(0, m[0]-80):m[0]]))
	}
	for _, word := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: ", "runtime error: "} {
		if i := strings.Index(text, word); i >= 0 {
			found = append(found, "the log says:\n"+text[i:min(len(text), i+4000)])
		}
	}
	if b, err := os.ReadFile(filepath.Join(s.dir, "secret")); err == nil && strings.Contains(text, strings.TrimSpace(string(b))) {
		found = append(found, "the master secret is in the log")
	}
	return found
}

// get asks one of the server's listeners.
func (s *server) get(t *testing.T, listener, path string) (int, string) {
	t.Helper()
	web := client(t)
	if listener != "http" || path == "/readyz" || path == "/healthz" {
		web = http.DefaultClient // the document is for customers: operators' addresses are not in it
	}
	resp, err := web.Get("http://" + s.addrs[listener] + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// workers are the process ids of the server's children that do job, "asr" or "tts".
func (s *server) workers(t *testing.T, job string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat") // processes come and go
		args, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		_, after, _ := strings.Cut(string(stat), ") ") // state, parent
		fields := strings.Fields(after)
		if len(fields) > 1 && fields[1] == strconv.Itoa(s.cmd.Process.Pid) && strings.HasSuffix(strings.TrimRight(string(args), "\x00"), "\x00"+job) {
			found = append(found, pid)
		}
	}
	return found
}

// postmaster is the process id of the private database; 0 while there is none.
func (s *server) postmaster() int {
	b, _ := os.ReadFile(filepath.Join(s.dir, "postgres", "data", "postmaster.pid")) // missing is none
	line, _, _ := strings.Cut(string(b), "\n")
	pid, _ := strconv.Atoi(line)
	return pid
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("gave up waiting: %s", what)
		}
	}
}

// command is one run of the program beside a server or without one.
func command(dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(parley, args...)
	cmd.Env = settings(dir, env...)
	return cmd
}

// outcome is what a command came to.
type outcome struct {
	status      int
	out, errOut string
}

// do runs a command to its end.
func do(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// admin runs an administration command with --json on the data directory and
// reads its answer.
func admin(t *testing.T, dir string, answer any, args ...string) {
	t.Helper()
	answered(t, dir, answer, append([]string{"admin"}, args...)...)
}

// answered runs a command that has to succeed, and reads its answer.
func answered(t *testing.T, dir string, answer any, args ...string) {
	t.Helper()
	readAnswer(t, command(dir, nil, withJSON(args)...), answer)
}

func readAnswer(t *testing.T, cmd *exec.Cmd, answer any) {
	t.Helper()
	o := do(t, cmd)
	if o.status != 0 {
		t.Fatalf("%s: exit status %d: %s", strings.Join(cmd.Args, " "), o.status, o.errOut)
	}
	if err := json.Unmarshal([]byte(o.out), answer); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(cmd.Args, " "), err, o.out)
	}
}

// answer runs a command with the settings of a server, and reads what it says.
func (s *server) answer(t *testing.T, into any, args ...string) {
	t.Helper()
	readAnswer(t, command(s.dir, s.env, withJSON(args)...), into)
}

// withJSON puts --json before arguments that follow a bare --.
func withJSON(args []string) []string {
	for i, a := range args {
		if a == "--" {
			return append(append(append([]string{}, args[:i]...), "--json"), args[i:]...)
		}
	}
	return append(append([]string{}, args...), "--json")
}
