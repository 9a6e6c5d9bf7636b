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

// TestCallsEdit: what the flags name is changed, and what there is then is printed.
func TestCallsEdit(t *testing.T) {
	fakeServer(t)
	o := run("", "calls", "edit", clienttest.Analyzed, "--tags", "vip,very angry", "--note", "Call\nback.", "--metadata", "order=42", "--metadata", "old=")
	if want := "order  42\ntags   vip, very angry\nnote   Call back.\n"; o.Status != command.ExitDone || o.Out != want {
		t.Errorf("exit status %d: %q%s, want %q", o.Status, o.Out, o.ErrOut, want)
	}
	if o = run("", "calls", "edit", clienttest.Analyzed, "--note", ""); o.Status != command.ExitDone || o.Out != "old   x\nnote  \n" {
		t.Errorf("exit status %d: %q%s", o.Status, o.Out, o.ErrOut)
	}
	if o = run("", "calls", "edit", clienttest.Analyzed, "--metadata", "order"); o.Status != command.ExitUsage {
		t.Errorf("metadata without a value: exit status %d", o.Status)
	}
	if o = run("", "calls", "edit", "ses_nobody"); o.Status != command.ExitNotFound {
		t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
	}
}
