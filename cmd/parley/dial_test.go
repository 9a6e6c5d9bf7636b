package main

import (
	"reflect"
	"strings"
	"testing"

	"parley/api/client/clienttest"
)

// TestDialIsRefused: by policy or for money, as scripts tell from the exit status.
func TestDialIsRefused(t *testing.T) {
	s := fakeServer(t)
	for _, tt := range []struct {
		status int
		code   string
		want   int
	}{
		{400, "callcenter.consent_required", exitRefused},
		{400, "callcenter.destination_not_allowed", exitRefused},
		{400, "callcenter.do_not_call", exitRefused},
		{403, "callcenter.from_not_owned", exitRefused},
		{402, "billing.topup_required", exitRefused},
		{404, "agent.not_found", exitNotFound},
		{400, "validation.invalid_request_format", exitFailed},
	} {
		s.Refuse("/callcenter/dial", clienttest.Problem{Status: tt.status, Code: tt.code, Error: "No."})
		o := run("", "dial", "--from", "+34911234567", "--to", "+12025550100", "--agent", "ag_x")
		if o.status != tt.want || !strings.Contains(o.errOut, tt.code) || o.out != "" {
			t.Errorf("%s: exit status %d, want %d: %s%s", tt.code, o.status, tt.want, o.out, o.errOut)
		}
	}
}

// TestDial: what the flags say is what is asked for, and the call is followed to its end.
func TestDial(t *testing.T) {
	s := fakeServer(t)
	args := []string{"dial", "--from", "+34911234567", "--to", "+12025550100", "--agent", "ag_x", "--consent", "--max-duration", "60",
		"--var", "name=Ana, of course", "--var", "sum=1+1=2", "--var", "empty=", "--follow"}
	o := run("", args...)
	if o.status != exitDone || !strings.Contains(o.out, "connected") || strings.Count(o.out, "Hello.") != 1 || !strings.Contains(o.out, "ended after 3s: user_hangup") {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	want := map[string]any{"name": "Ana, of course", "sum": "1+1=2", "empty": ""}
	if b := s.Placed(); !reflect.DeepEqual(b["variables"], want) || b["max_duration_seconds"] != 60.0 || b["consent_confirmed"] != true {
		t.Errorf("asked for %v", b)
	}
	if o := run("", append(args, "--var", "name")...); o.status != exitUsage || !strings.Contains(o.errOut, "--var") {
		t.Errorf("a variable without a value: exit status %d: %s", o.status, o.errOut)
	}
}

// TestTail follows calls of every direction; one that there is not is not found.
func TestTail(t *testing.T) {
	fakeServer(t)
	if o := run("", "tail", clienttest.Dialled); o.status != exitDone || !strings.Contains(o.out, "Hello.") || !strings.Contains(o.out, "user_hangup") {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if o := run("", "tail", "ses_unknown"); o.status != exitNotFound {
		t.Errorf("an unknown call: exit status %d: %s%s", o.status, o.out, o.errOut)
	}
}
