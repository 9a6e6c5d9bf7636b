package acceptance

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api/webhook"
)

// printed is what a command prints while it runs.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// lasting starts a command that lasts until Ctrl-C, and ends it with the test.
func lasting(t *testing.T, cmd *exec.Cmd) (out, errOut *printed, end func() int) {
	t.Helper()
	out, errOut = &printed{}, &printed{}
	cmd.Stdout, cmd.Stderr = out, errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceValue(func() int {
		_ = cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		_ = cmd.Wait() // the status tells
		return cmd.ProcessState.ExitCode()
	})
	t.Cleanup(func() { end() })
	return out, errOut, end
}

// TestEventsOnThisMachine: what happens to an account reaches an address that no server could send it to, signed as a webhook's, and
// logs --follow shows who asked for it, but nothing of those that follow. After Ctrl-C no webhook is left.
func TestEventsOnThisMachine(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who := newCustomer(t, s, "")
	env := []string{"PARLEY_URL=http://" + s.addrs["http"], "PARLEY_API_KEY=" + who.key}
	type event struct {
		header http.Header
		body   []byte
	}
	got := make(chan event, 10)
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing spoils the signature
		got <- event{r.Header, body}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer local.Close()
	out, errOut, end := lasting(t, command(t.TempDir(), env, "listen", "--forward", local.URL+"/parley"))
	logs, _, endLogs := lasting(t, command(t.TempDir(), env, "logs", "--follow"))
	eventually(t, "it listens", func() bool { return strings.Contains(errOut.String(), "secret\twhsec_") })
	fields := strings.Fields(errOut.String())
	hook, secret := fields[1], fields[3]
	if o := do(t, command(t.TempDir(), env, "webhook", "test", hook)); o.status != done {
		t.Fatalf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case e := <-got:
		at, err := strconv.ParseInt(e.header.Get("webhook-timestamp"), 10, 64)
		want := http.Header{}
		if err == nil {
			err = webhook.Sign(want, []string{secret}, e.header.Get("webhook-id"), time.Unix(at, 0), e.body)
		}
		if err != nil || e.header.Get("webhook-signature") != want.Get("webhook-signature") || !strings.Contains(string(e.body), `"webhook.test"`) || e.header.Get("User-Agent") != "Parley" {
			t.Errorf("%v %s, %v", e.header, e.body, err)
		}
	case <-ctx.Done():
		t.Fatalf("nothing has come: %s%s", out, errOut)
	}
	eventually(t, "it says how it went", func() bool { return strings.Contains(out.String(), "  webhook.test  202 after ") })
	eventually(t, "the test is logged", func() bool { return strings.Contains(logs.String(), "POST /v1/webhooks/"+hook+"/test  202") })
	o := do(t, command(t.TempDir(), env, "webhook", "deliveries", hook))
	if o.status != done || !strings.Contains(o.out, "delivered") || !strings.Contains(o.out, "202 after") {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if status, second := end(), endLogs(); status != done || second != done {
		t.Errorf("after Ctrl-C exit status %d and %d: %s%s", status, second, errOut, logs)
	}
	for _, followed := range []string{"/deliveries/take", "follow=true"} {
		if strings.Contains(logs.String(), followed) {
			t.Errorf("who follows is logged:\n%s", logs)
		}
	}
	if o := do(t, command(t.TempDir(), env, "webhook", "list")); o.status != done || !strings.HasPrefix(o.out, "0 webhooks") {
		t.Errorf("left behind: %s%s", o.out, o.errOut)
	}
	checkImported(t, env)
}

// checkImported: a real server takes what was imported.
func checkImported(t *testing.T, env []string) {
	t.Helper()
	const exports = "../foreign/testdata/"
	for from, files := range map[string][]string{"vapi": {"vapi.json", "vapi-tool.json"}, "retell": {"retell-agent.json", "retell-llm.json"}} {
		file := filepath.Join(t.TempDir(), "agent.yaml")
		args := []string{"agent", "import", "--from", from, "--out", file}
		for _, name := range files {
			args = append(args, exports+name)
		}
		if o := do(t, command(t.TempDir(), env, args...)); o.status != done {
			t.Errorf("%s: exit status %d: %s%s", from, o.status, o.out, o.errOut)
		}
		if o := do(t, command(t.TempDir(), env, "agent", "push", file)); o.status != done || !strings.HasPrefix(o.out, "created\t") {
			t.Errorf("%s: exit status %d: %s%s", from, o.status, o.out, o.errOut)
		}
	}
}
