package remote

import (
	"fmt"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestRequests: each filter reaches the server, one request is shown with its body, and --curl prints nothing but the
// command.
func TestRequests(t *testing.T) {
	fakeServer(t)
	for args, want := range map[string]string{"": "req_2 req_1", "--method GET": "req_1", "--outcome refused": "req_2", "--outcome failed": "", "--limit 1": "req_2"} {
		o := run("", append([]string{"requests"}, strings.Fields(args)...)...)
		var got []string
		total, rest, _ := strings.Cut(o.Out, "\n")
		for line := range strings.Lines(rest) {
			got = append(got, strings.Fields(line)[0])
		}
		if refused := strings.Count(want, "req_2"); !strings.HasSuffix(total, fmt.Sprintf(", %d refused, 0 failed", refused)) {
			t.Errorf("%s: the first line is %q", args, total)
		}
		if o.Status != command.ExitDone || strings.Join(got, " ") != want || strings.Contains(o.ErrOut, "newest 1") != (args == "--limit 1") {
			t.Errorf("%s: exit status %d: %s%s", args, o.Status, o.Out, o.ErrOut)
		}
	}
	for _, args := range []string{"--limit 0", "--limit 101", "--method HEAD", "--outcome bad"} {
		if o := run("", append([]string{"requests"}, strings.Fields(args)...)...); o.Status != command.ExitUsage {
			t.Errorf("%s: exit status %d: %s", args, o.Status, o.ErrOut)
		}
	}
	if o := run("", "requests", "show", clienttest.Asked); o.Status != command.ExitDone || !strings.Contains(o.Out, `{"name":""}`) || !strings.Contains(o.Out, "key_1 (Website)") {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o := run("", "requests", "show", clienttest.Asked, "--curl"); o.Status != command.ExitDone || o.Out != clienttest.AskedCurl+"\n" {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o := run("", "requests", "show", "req_nobody"); o.Status != command.ExitNotFound {
		t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
	}
}
