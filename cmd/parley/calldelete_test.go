package main

import (
	"slices"
	"strings"
	"testing"

	"parley/api/client/clienttest"
)

// TestCallsDelete: a call that is there, and one that is not.
func TestCallsDelete(t *testing.T) {
	s := fakeServer(t)
	if o := run("", "calls", "delete", clienttest.Analyzed, "--json"); o.status != exitDone || strings.TrimSpace(o.out) != `{"deleted":true,"id":"`+clienttest.Analyzed+`"}` {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if o := run("", "calls", "delete", clienttest.Analyzed); o.status != exitDone || o.out != "deleted\t"+clienttest.Analyzed+"\n" {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if o := run("", "calls", "delete", "ses_nobody"); o.status != exitNotFound {
		t.Errorf("exit status %d: %s", o.status, o.errOut)
	}
	if asked := s.Requests(); !slices.Contains(asked, "DELETE /v1/calls/"+clienttest.Analyzed) {
		t.Errorf("asked %q", asked)
	}
	if o := run("", "calls", "delete"); o.status != exitUsage {
		t.Errorf("without a call: exit status %d", o.status)
	}
}
