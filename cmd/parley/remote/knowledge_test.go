package remote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestKnowledge: collections are listed and made, documents added and waited for, searched and deleted.
func TestKnowledge(t *testing.T) {
	fakeServer(t)
	dir := t.TempDir()
	for _, name := range []string{"prices.pdf", clienttest.Unreadable, "empty.pdf"} {
		text := "%PDF-1.4"
		if name == "empty.pdf" {
			text = ""
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	const kb = clienttest.Collection
	for _, tt := range []struct {
		args   []string
		status int
		out    string // what is printed has it
		errOut string
	}{
		{[]string{"list"}, command.ExitDone, "kb_handbook  Handbook  en        1          2         3.0", ""},
		{[]string{"list", kb}, command.ExitDone, "doc_picture.pdf  picture.pdf  failed: there is no text", ""},
		{[]string{"list", "kb_none"}, command.ExitNotFound, "", "There is no such thing"},
		{[]string{"create", "Preisliste", "--language", "de", "--json"}, command.ExitDone, `"language":"de"`, ""},
		{[]string{"create", "Handbook"}, command.ExitDone, kb + "\n", ""},
		{[]string{"add", kb, in("prices.pdf"), "https://example.com/hours"}, command.ExitDone, "doc_page        page        ready  2 passages", ""},
		{[]string{"add", kb, in("prices.pdf"), "--title", "Prices", "--no-wait"}, command.ExitDone, "doc_prices.pdf  Prices  queued", ""},
		{[]string{"add", kb, in(clienttest.Unreadable)}, command.ExitFailed, "failed: there is no text", "picture.pdf: there is no text in it"},
		{[]string{"add", kb, in("empty.pdf")}, command.ExitFailed, "", "empty.pdf: "},
		{[]string{"add", kb, in("nowhere.pdf")}, command.ExitFailed, "", "nowhere.pdf"},
		{[]string{"add", kb, "a", "b", "--title", "x"}, command.ExitUsage, "", "for one document"},
		{[]string{"add", kb}, command.ExitUsage, "", ""},
		{[]string{"refresh", kb, "doc_page"}, command.ExitDone, "doc_page  page  ready", ""},
		{[]string{"search", kb, "opening", "hours"}, command.ExitDone, "1. Hours, page 3, Weekend (hours.pdf)\nClosed on Sunday.\n", ""},
		{[]string{"search", kb, "zeppelins"}, command.ExitDone, "nothing is found\n", ""},
		{[]string{"search", kb, "x", "--limit", "6"}, command.ExitUsage, "", "from 1 to 5"},
		{[]string{"delete", kb, "doc_page"}, command.ExitDone, "deleted\tdoc_page\n", ""},
		{[]string{"delete", kb, "--json"}, command.ExitDone, `"deleted":true`, ""},
		{[]string{"delete", "kb_none"}, command.ExitNotFound, "", ""},
	} {
		o := run("", append([]string{"knowledge"}, tt.args...)...)
		if o.Status != tt.status || !strings.Contains(o.Out, tt.out) || !strings.Contains(o.ErrOut, tt.errOut) {
			t.Errorf("%v: exit status %d, %s%s", tt.args, o.Status, o.Out, o.ErrOut)
		}
	}
}
