package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/store/storetest"
)

// firstAnswer is the script that goes from a clone to a spoken answer.
func firstAnswer(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	script, err := filepath.Abs("../../../deploy/first-answer.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(script, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	return cmd
}

// TestFirstAnswerRefuses: it touches no directory that has something, and leaves nothing of a clone that fails.
func TestFirstAnswerRefuses(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, usage, "usage: deploy/first-answer.sh REPOSITORY"},
		{[]string{"a", "b", "c"}, usage, "usage:"},
		{[]string{"/nowhere", full}, usage, "is not empty"},
		{[]string{filepath.Join(full, "nothing")}, failed, "failed: git clone"},
	} {
		cmd := firstAnswer(t, tt.args...)
		if o := do(t, cmd); o.status != tt.status || !strings.Contains(o.errOut, tt.want) {
			t.Errorf("%q: exit status %d: %s", tt.args, o.status, o.errOut)
		}
		_, own, _ := strings.Cut(cmd.Env[len(cmd.Env)-1], "=")
		if left, err := os.ReadDir(own); err != nil || len(left) > 0 {
			t.Errorf("%q leaves %v %v", tt.args, left, err)
		}
	}
	if left, err := os.ReadDir(full); err != nil || len(left) != 1 {
		t.Errorf("of a directory that is not empty: %v %v", left, err)
	}
}

var timed = regexp.MustCompile(`(?m)^ *\d+\.\d s  (.*)$`)

// answersFirst has the script clone a repository, and looks at what it prints.
func answersFirst(t *testing.T, repository string, late time.Duration) {
	t.Helper()
	cmd := firstAnswer(t, repository)
	own := storetest.Dir(t) // where the account of the database passes through
	cmd.Env = append(cmd.Env, "TMPDIR="+own)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(late, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer hung.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), errOut.String())
	}
	var steps []string
	for _, m := range timed.FindAllStringSubmatch(out.String(), -1) {
		steps = append(steps, strings.Join(strings.Fields(m[1])[:2], " "))
	}
	if got := strings.Join(steps, ", "); got != "git clone, make build, bin/parley serve, bin/parley talk, from the" {
		t.Errorf("steps %s", got)
	}
	if !strings.Contains(out.String(), "nine") {
		t.Errorf("no answer: %s", out.String())
	}
	if left, err := os.ReadDir(own); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v %v", left, err)
	}
	t.Log(out.String())
}

// TestFirstAnswer goes from a clone to a spoken answer, of a repository that has this program as it was built for these tests.
func TestFirstAnswer(t *testing.T) {
	t.Parallel()
	repository := t.TempDir()
	question, err := os.ReadFile("../../../testdata/speech/opening-hours.wav")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(repository, "testdata", "speech"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"Makefile": "build:\n\tmkdir bin\n\tln -s " + programs + "/parley " + programs + "/parley-speech bin\n", "testdata/speech/opening-hours.wav": string(question)} {
		if err := os.WriteFile(filepath.Join(repository, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-qm", "Begin"}} {
		cmd := exec.Command("git", args...)
		if cmd.Dir = repository; do(t, cmd).status != done {
			t.Fatalf("git %q", args)
		}
	}
	answersFirst(t, repository, 2*patience)
}

// TestSoakFirstAnswer builds this repository on the way. TestFirstAnswer is its short form.
func TestSoakFirstAnswer(t *testing.T) {
	soak(t)
	answersFirst(t, "../../..", 15*time.Minute)
}
