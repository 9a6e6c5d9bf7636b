package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestClients builds the clients' packages, installs them where nothing else is, and runs a program on each against a
// server: requests, their errors, and a conversation, which goes on after its connection was cut.
func TestClients(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	session := []string{"session live", "agent answers true", "cut", "session reconnecting", "session live", "same call true", "agent answers true", "session ended"}
	all := slices.Concat([]string{"account " + t.Name() + ".*", "agents 2", "of the team 1 false", "refused 412 request.precondition_failed true",
		"refused 404 agent.not_found true", "spoken audio/wav true", "heard .*(?i)open.*"}, session)
	for _, tt := range []struct {
		language string
		install  func(t *testing.T, dir string) []string // the program's command line
		want     []string
	}{
		{"TypeScript", installTypeScript, all},
		{"Python", installPython, all},
		{"Go", installGo, slices.Concat([]string{"agents 1", "credits true", "refused 404 .* true", "spoken audio/wav true", "heard .*(?i)open.*"}, session)},
	} {
		t.Run(tt.language, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			command := tt.install(t, dir)
			writeWAV(t, filepath.Join(dir, "speech.wav"), append(silence(300*time.Millisecond, micRate), speak(t, "slt", "what time do you open on Monday", micRate)...), micRate)
			c, line := newCustomer(t, s, "100"), newCutter(t, s.addrs["http"])
			got := line.run(t, dir, command, "PARLEY_URL=http://"+line.addr(), "PARLEY_API_KEY="+c.key, "AGENT_ID="+c.agent)
			if len(got) != len(tt.want) {
				t.Fatalf("it prints %q, want %q", got, tt.want)
			}
			for i, want := range tt.want {
				if !regexp.MustCompile("^" + want + "$").MatchString(got[i]) {
					t.Errorf("it prints %q, want %s", got[i], want)
				}
			}
		})
	}
}

// root is the repository's.
const root = "../../.."

// sources copies a client's sources, for building leaves files beside them.
func sources(t *testing.T, client string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(client))
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, client))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// must runs a command in dir, with what it needs of the environment, and returns what it prints.
func must(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, shortened(string(out)), shortened(errOut.String()))
	}
	return string(out)
}

func placed(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// nodeTypes are what the program needs of Node.js, whose types are a package of their own.
const nodeTypes = `declare module "node:fs" { export function readFileSync(path: string): Uint8Array<ArrayBuffer>; }
declare const process: { env: Record<string, string | undefined> };
`

func installTypeScript(t *testing.T, dir string) []string {
	compiler, err := filepath.Abs(root + "/bin/typescript/lib/tsc.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(compiler); err != nil {
		t.Fatal("there is no TypeScript: make test brings it")
	}
	pkg := sources(t, "api/client/typescript")
	must(t, pkg, nil, "node", compiler, "-p", ".")
	npm := []string{"npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false", "npm_config_cache=" + t.TempDir()}
	tarball := strings.TrimSpace(must(t, pkg, npm, "npm", "pack", "--silent"))
	for name, text := range map[string]string{"package.json": `{"type":"module"}`, "node.d.ts": nodeTypes, "prelude.cjs": prelude} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	placed(t, "testdata/clients/program.ts", filepath.Join(dir, "program.ts"))
	must(t, dir, npm, "npm", "install", "--silent", filepath.Join(pkg, tarball))
	must(t, dir, nil, "node", compiler, "--strict", "--target", "ES2022", "--module", "NodeNext", "--lib", "ES2023,DOM", "program.ts", "node.d.ts")
	return []string{"node", "--require", "./prelude.cjs", "program.js"}
}

func installPython(t *testing.T, dir string) []string {
	pkg := sources(t, "api/client/python")
	tarball := strings.TrimSpace(must(t, pkg, nil, debianPython, "-c", "from setuptools import build_meta\nimport contextlib, sys\n"+
		"with contextlib.redirect_stdout(sys.stderr):\n    name = build_meta.build_sdist('dist')\nprint(name)"))
	must(t, dir, nil, debianPython, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check",
		"--target", filepath.Join(dir, "packages"), filepath.Join(pkg, "dist", tarball))
	placed(t, "testdata/clients/program.py", filepath.Join(dir, "program.py"))
	return []string{"env", "PYTHONPATH=" + filepath.Join(dir, "packages"), debianPython, "program.py"}
}

func installGo(t *testing.T, dir string) []string {
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	module := fmt.Sprintf("module example.com/program\n\ngo 1.26.0\n\nrequire parley v0.0.0\n\nreplace parley => %s\n", here)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600); err != nil {
		t.Fatal(err)
	}
	placed(t, root+"/go.sum", filepath.Join(dir, "go.sum"))
	placed(t, "testdata/clients/program.go.txt", filepath.Join(dir, "main.go"))
	must(t, dir, []string{"GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off"}, "go", "build", "-buildvcs=false", "-o", "program", ".")
	return []string{"./program"}
}

// cutter is a network between a client and a server, which cuts all connections when it is told to.
type cutter struct {
	net.Listener
	server string

	mu    sync.Mutex
	conns []net.Conn
}

func newCutter(t *testing.T, server string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, server: server}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			one, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { c.carry(one) })
		}
	})
	t.Cleanup(func() { l.Close(); c.cut(); running.Wait() })
	return c
}

func (c *cutter) addr() string { return c.Listener.Addr().String() }

func (c *cutter) carry(one net.Conn) {
	other, err := net.Dial("tcp", c.server)
	if err != nil {
		one.Close()
		return
	}
	c.mu.Lock()
	c.conns = append(c.conns, one, other)
	c.mu.Unlock()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{one, other}, {other, one}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // it ends with either side
			one.Close()
			other.Close()
		})
	}
	both.Wait()
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.conns {
		one.Close()
	}
	c.conns = nil
}

// run runs a program, cuts its connections when it prints cut, and returns the lines that it prints.
func (c *cutter) run(t *testing.T, dir string, args []string, env ...string) (lines []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		lines = append(lines, s.Text())
		if s.Text() == "cut" {
			c.cut()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v after %q\n%s", err, lines, shortened(errOut.String()))
	}
	return lines
}
