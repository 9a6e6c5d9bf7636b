package remote

import (
	"reflect"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestDialIsRefused: by policy or for money, as scripts tell from the exit status.
func TestDialIsRefused(t *testing.T) {
	s := fakeServer(t)
	for _, tt := range []struct {
		status int
		code   string
		want   int
	}{
		{400, "callcenter.consent_required", command.ExitRefused},
		{400, "callcenter.destination_not_allowed", command.ExitRefused},
		{400, "callcenter.emergency_number", command.ExitRefused},
		{400, "callcenter.do_not_call", command.ExitRefused},
		{403, "callcenter.from_not_owned", command.ExitRefused},
		{402, "billing.topup_required", command.ExitRefused},
		{404, "agent.not_found", command.ExitNotFound},
		{400, "validation.invalid_request_format", command.ExitFailed},
	} {
		s.Refuse("/callcenter/dial", clienttest.Problem{Status: tt.status, Code: tt.code, Error: "No."})
		o := run("", "dial", "--from", "+34911234567", "--to", "+12025550100", "--agent", "ag_x")
		if o.Status != tt.want || !strings.Contains(o.ErrOut, tt.code) || o.Out != "" {
			t.Errorf("%s: exit status %d, want %d: %s%s", tt.code, o.Status, tt.want, o.Out, o.ErrOut)
		}
	}
}

// TestDial: what the flags say is what is asked for, and the call is followed to its end.
func TestDial(t *testing.T) {
	s := fakeServer(t)
	args := []string{"dial", "--from", "+34911234567", "--to", "+12025550100", "--agent", "ag_x", "--consent", "--max-duration", "60",
		"--var", "name=Ana, of course", "--var", "sum=1+1=2", "--var", "empty=", "--metadata", "order=42", "--header", "X-Order=42", "--follow"}
	o := run("", args...)
	if o.Status != command.ExitDone || !strings.Contains(o.Out, "connected") || strings.Count(o.Out, "Hello.") != 1 || !strings.Contains(o.Out, "ended after 3s: user_hangup") {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	want := map[string]any{"name": "Ana, of course", "sum": "1+1=2", "empty": ""}
	if b := s.Placed(); !reflect.DeepEqual(b["variables"], want) || b["max_duration_seconds"] != 60.0 || b["consent_confirmed"] != true ||
		!reflect.DeepEqual(b["metadata"], map[string]any{"order": "42"}) || !reflect.DeepEqual(b["headers"], map[string]any{"X-Order": "42"}) {
		t.Errorf("asked for %v", b)
	}
	if o := run("", append(args, "--var", "name")...); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, "--var") {
		t.Errorf("a variable without a value: exit status %d: %s", o.Status, o.ErrOut)
	}
}

// TestTail follows calls of every direction; one that there is not is not found.
func TestTail(t *testing.T) {
	fakeServer(t)
	if o := run("", "tail", clienttest.Dialled); o.Status != command.ExitDone || !strings.Contains(o.Out, "Hello.") || !strings.Contains(o.Out, "user_hangup") {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o := run("", "tail", "ses_unknown"); o.Status != command.ExitNotFound {
		t.Errorf("an unknown call: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
}
