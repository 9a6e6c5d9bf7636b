package remote

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestCurl: the request is printed with the name of the key, and the server hears nothing.
func TestCurl(t *testing.T) {
	s := fakeServer(t)
	t.Chdir(t.TempDir())
	recording := filepath.Join(t.TempDir(), "it's.wav")
	if err := os.WriteFile(recording, clienttest.WAV("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	const key = ` -H "Authorization: Bearer $PARLEY_API_KEY"`
	for _, tt := range []struct {
		args []string
		want string // SERVER is the server's address
	}{
		{[]string{"balance"}, "'SERVER/v1/balance'" + key},
		{[]string{"balance", "--json"}, "'SERVER/v1/balance'" + key},
		{[]string{"calls", "show", "ses_1"}, "'SERVER/v1/calls/ses_1'" + key},
		{[]string{"calls", "edit", "ses_1", "--note", "it's late"}, "-X PATCH 'SERVER/v1/calls/ses_1'" + key + ` -H 'Content-Type: application/json' -d '{"note":"it'\''s late"}'`},
		{[]string{"bulk", "pause", "bulk_1"}, "-X POST 'SERVER/callcenter/bulk-dial/bulk_1/pause'" + key},
		{[]string{"synth", "Hello", "-o", "hello.wav"}, "-X POST 'SERVER/tts/synthesize'" + key + ` -H 'Content-Type: application/json' -d '{"text":"Hello","voice":"F1","language":"en"}'`},
		{[]string{"transcribe", recording, "--language", "es"}, "-X POST 'SERVER/stt/transcribe'" + key + ` --form-string 'language=es' -F audio=@FILE`},
		{[]string{"tail", "ses_1"}, "'SERVER/v1/calls/ses_1/events'" + key},
	} {
		o := run("", append(tt.args, "--curl")...)
		if got := strings.ReplaceAll(o.Out, s.URL, "SERVER"); o.Status != command.ExitDone || got != "curl -g "+tt.want+"\n" || o.ErrOut != "" {
			t.Errorf("%q: exit status %d: %s%s", tt.args, o.Status, o.Out, o.ErrOut)
		}
	}
	if asked := s.Requests(); len(asked) != 0 {
		t.Errorf("the server was asked %q", asked)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for _, line := range []string{"talk --agent ag_one --type", "synth Hello --stream -o hello.pcm", "transcribe " + recording + " --live"} {
		if o := run("", append(strings.Fields(line), "--curl")...); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, "WebSocket") {
			t.Errorf("%s: exit status %d: %s%s", line, o.Status, o.Out, o.ErrOut)
		}
	}
	// It needs no key, and never shows one.
	for _, key := range []string{"", "sk_mine"} {
		if o := run("", "balance", "--curl", "--key", key); o.Status != command.ExitDone || strings.Contains(o.Out+o.ErrOut, "sk_") {
			t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
		}
	}
	if o := run("", "rates", "--curl", "--key", ""); o.Status != command.ExitDone || !strings.HasPrefix(o.Out, "curl -g '"+s.URL+"/v1/pricing'") {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
}

// TestCurlEverywhere: each command that has an address has the flag.
func TestCurlEverywhere(t *testing.T) {
	var without []string
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if c.Flag("url") != nil && c.Flag("curl") == nil {
			without = append(without, c.CommandPath())
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(root())
	if slices.Sort(without); !slices.Equal(without, []string{"parley login"}) {
		t.Errorf("without --curl: %q", without)
	}
}
