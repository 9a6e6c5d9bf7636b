package remote

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
	"parley/cmd/parley/command/commandtest"
)

// stranger is a user who has not logged in anywhere, and whose environment names no server.
func stranger(t *testing.T) (credentials string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	for _, name := range []string{"PARLEY_URL", "PARLEY_API_KEY", "PARLEY_PROFILE"} {
		t.Setenv(name, "")
	}
	return filepath.Join(home, "config", "parley", "credentials.yaml")
}

// TestLogin: a key that works is stored for its user alone, and commands use it.
func TestLogin(t *testing.T) {
	s := clienttest.New(t)
	file := stranger(t)
	if o := run("", "balance"); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, "parley login") || !strings.Contains(o.ErrOut, "http://127.0.0.1:8080") {
		t.Errorf("before: exit status %d: %s", o.Status, o.ErrOut)
	}
	for in, want := range map[string]struct {
		status int
		word   string
	}{"": {command.ExitUsage, "nothing was given"}, "sk_a b\n": {command.ExitUsage, "spaces"}, "sk_other\n": {command.ExitFailed, "auth.invalid_key"}} {
		if o := run(in, "login", "--url", s.URL); o.Status != want.status || !strings.Contains(o.ErrOut, want.word) || strings.Contains(o.Out+o.ErrOut, "sk_") {
			t.Errorf("%q: exit status %d: %s%s", in, o.Status, o.Out, o.ErrOut)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a key that does not work is stored")
	}
	o := run(clienttest.Key+"\n", "login", "--url", s.URL)
	if o.Status != command.ExitDone || o.Out != "logged in to Casa Lola (acc_1) at "+s.URL+" as profile default\n" || strings.Contains(o.Out+o.ErrOut, clienttest.Key) {
		t.Fatalf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
	for _, line := range []string{"account", "whoami", "balance", "account --url " + s.URL + "/"} {
		if o := run("", strings.Fields(line)...); o.Status != command.ExitDone || !strings.Contains(o.Out, "3.41 USD") {
			t.Errorf("%s: exit status %d: %s%s", line, o.Status, o.Out, o.ErrOut)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if o := run("", "account"); o.Status != command.ExitFailed || !strings.Contains(o.ErrOut, "chmod 600") {
		t.Errorf("a file that others may read: exit status %d: %s", o.Status, o.ErrOut)
	}
	if err := errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("profiles: ["+clienttest.Key), 0o600)); err != nil {
		t.Fatal(err)
	}
	if o := run("", "account"); o.Status != command.ExitFailed || strings.Contains(o.ErrOut, clienttest.Key) {
		t.Errorf("a file that is no YAML: exit status %d: %s", o.Status, o.ErrOut)
	}
}

// TestProfiles: which one counts, and that a key goes to its own server only.
func TestProfiles(t *testing.T) {
	one, two := clienttest.New(t), clienttest.New(t)
	file := stranger(t)
	for name, url := range map[string]string{"one": one.URL, "two": two.URL} {
		if o := run(clienttest.Key, "login", "--profile", name, "--url", url, "--json"); o.Status != command.ExitDone || !strings.Contains(o.Out, `"profile":"`+name+`"`) {
			t.Fatalf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
		}
	}
	if o := run("", "profile", "use", "one"); o.Status != command.ExitDone {
		t.Fatalf("exit status %d: %s", o.Status, o.ErrOut)
	}
	var listed struct {
		Profiles []struct {
			Profile, URL string
			Current      bool
		}
	}
	o := run("", "profile", "list", "--json")
	if err := json.Unmarshal([]byte(o.Out), &listed); err != nil || len(listed.Profiles) != 2 || !listed.Profiles[0].Current || listed.Profiles[1].Current || listed.Profiles[1].URL != two.URL ||
		strings.Contains(o.Out, clienttest.Key) {
		t.Errorf("%v: %s", err, o.Out)
	}
	before := map[*clienttest.Server]int{one: len(one.Requests()), two: len(two.Requests())}
	for _, tt := range []struct {
		line, env string
		to        *clienttest.Server // nil: to none
		status    int
	}{
		{"account", "", one, command.ExitDone},
		{"account --profile two", "", two, command.ExitDone},
		{"account", "PARLEY_PROFILE=two", two, command.ExitDone},
		{"account", "PARLEY_API_KEY=sk_other", one, command.ExitFailed},
		{"account --profile two", "PARLEY_API_KEY=sk_other", two, command.ExitDone}, // the profile of the command line counts
		{"account --key sk_other --profile two", "", two, command.ExitFailed},
		{"account --url " + two.URL, "", nil, command.ExitUsage}, // the key is the other server's
		{"account", "PARLEY_URL=" + two.URL, nil, command.ExitUsage},
		{"account --profile three", "", nil, command.ExitUsage},
		{"account", "PARLEY_PROFILE=three", nil, command.ExitUsage},
		{"rates", "", one, command.ExitDone},
	} {
		t.Run(tt.line+" "+tt.env, func(t *testing.T) {
			if name, value, is := strings.Cut(tt.env, "="); is {
				t.Setenv(name, value)
			}
			o := run("", strings.Fields(tt.line)...)
			if o.Status != tt.status {
				t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
			}
			for _, s := range []*clienttest.Server{one, two} {
				if n := len(s.Requests()); (n > before[s]) != (s == tt.to) {
					t.Errorf("%s got %d requests", s.URL, n-before[s])
				} else {
					before[s] = n
				}
			}
		})
	}
	for _, name := range []string{"two", "one"} {
		if o := run("", "logout", "--profile", name); o.Status != command.ExitDone {
			t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
		}
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), clienttest.Key) {
		t.Errorf("after that there is %s, %v", text, err)
	}
	for _, line := range []string{"logout", "profile use one", "logout --profile one", "login --profile a/b"} {
		if o := run("x", strings.Fields(line)...); o.Status != command.ExitUsage {
			t.Errorf("%s: exit status %d: %s", line, o.Status, o.ErrOut)
		}
	}
}

// TestLoginOfAPerson: what somebody types is not shown.
func TestLoginOfAPerson(t *testing.T) {
	s := clienttest.New(t)
	stranger(t)
	program, person := commandtest.Terminal(t)
	shown := make(chan string)
	go func() {
		var b strings.Builder
		buffer := make([]byte, 256)
		for !strings.Contains(b.String(), "logged in") {
			n, err := person.Read(buffer)
			if err != nil {
				break
			}
			b.Write(buffer[:n])
			if strings.HasSuffix(b.String(), s.URL+": ") {
				_, _ = io.WriteString(person, clienttest.Key+"\n") // what is shown is checked below
			}
		}
		shown <- b.String()
	}()
	root := root()
	root.SetArgs([]string{"login", "--url", s.URL})
	root.SetIn(program)
	root.SetOut(program)
	root.SetErr(program)
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if text := <-shown; strings.Contains(text, clienttest.Key) || !strings.Contains(text, "Casa Lola") {
		t.Errorf("the terminal shows %q", text)
	}
}

// TestAccountCommand: whose key it is, and what the account may do.
func TestAccountCommand(t *testing.T) {
	fakeServer(t)
	o := run("", "account")
	for _, want := range []string{"acc_1", "Casa Lola", "key_1", "laptop", "owner, money", "3.41 USD", "1 of 3 at once", "50 a second", "kept for 30 days", "until deleted"} {
		if !strings.Contains(o.Out, want) {
			t.Errorf("%q is not in\n%s%s", want, o.Out, o.ErrOut)
		}
	}
	o = run("", "account", "--json")
	var a, b any
	if json.Unmarshal([]byte(o.Out), &a) != nil || json.Unmarshal([]byte(clienttest.Account), &b) != nil || canonical(t, a) != canonical(t, b) {
		t.Errorf("%s%s", o.Out, o.ErrOut)
	}
}
