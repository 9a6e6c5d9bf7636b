package main

import (
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
