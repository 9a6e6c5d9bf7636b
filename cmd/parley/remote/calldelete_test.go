package remote

import (
	"slices"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestCallsDelete: a call that is there, and one that is not.
func TestCallsDelete(t *testing.T) {
	s := fakeServer(t)
	if o := run("", "calls", "delete", clienttest.Analyzed, "--json"); o.Status != command.ExitDone || strings.TrimSpace(o.Out) != `{"deleted":true,"id":"`+clienttest.Analyzed+`"}` {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o := run("", "calls", "delete", clienttest.Analyzed); o.Status != command.ExitDone || o.Out != "deleted\t"+clienttest.Analyzed+"\n" {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o := run("", "calls", "delete", "ses_nobody"); o.Status != command.ExitNotFound {
		t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
	}
	if asked := s.Requests(); !slices.Contains(asked, "DELETE /v1/calls/"+clienttest.Analyzed) {
		t.Errorf("asked %q", asked)
	}
	if o := run("", "calls", "delete"); o.Status != command.ExitUsage {
		t.Errorf("without a call: exit status %d", o.Status)
	}
}
