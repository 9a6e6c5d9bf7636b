package remote

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/cmd/parley/command"
)

// TestCalls: each filter of the API is one of the command, and they are combined.
func TestCalls(t *testing.T) {
	fakeServer(t)
	for args, want := range map[string]string{
		"":                         "ses_4 ses_3 ses_2 ses_1",
		"--direction outbound":     "ses_3 ses_2",
		"--state live":             "ses_4",
		"--state ended":            "ses_3 ses_2 ses_1",
		"--number +34612345678":    "ses_4 ses_3",
		"--agent ag_two":           "ses_2 ses_1",
		"--end-reason user_hangup": "ses_2 ses_1",
		"--end-reason user_hangup --direction web":  "ses_1",
		"--from 2026-03-01 --to 2026-03-02":         "ses_4 ses_3 ses_2 ses_1",
		"--from 2026-03-02":                         "",
		"--to 2026-03-01":                           "",
		"--number +34612345678 --direction inbound": "ses_4",
		"--sort oldest":                             "ses_1 ses_2 ses_3 ses_4",
		"--sort longest":                            "ses_3 ses_2 ses_1",
	} {
		o := run("", append([]string{"calls", "--json"}, strings.Fields(args)...)...)
		var list struct{ Data []struct{ ID string } }
		if err := json.Unmarshal([]byte(o.Out), &list); o.Status != command.ExitDone || err != nil {
			t.Errorf("%s: exit status %d: %s%s", args, o.Status, o.Out, o.ErrOut)
			continue
		}
		var got []string
		for _, c := range list.Data {
			got = append(got, c.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	if o := run("", "calls", "--limit", "2", "--direction", "outbound"); o.Status != command.ExitDone || !strings.Contains(o.Out, "ses_2") || o.ErrOut != "" {
		t.Errorf("as many as there are: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o := run("", "calls", "--state", "ended"); o.Status != command.ExitDone || !strings.HasPrefix(o.Out, "3 calls, 0 seconds, 0 USD\nbegan ") {
		t.Errorf("totals are not first: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o := run("", "calls", "--limit", "2"); o.Status != command.ExitDone || !strings.HasPrefix(o.Out, "the first 2 calls, ") || strings.Contains(o.Out, "ses_2") || !strings.Contains(o.ErrOut, "first 2") {
		t.Errorf("fewer: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	for _, args := range []string{"--limit 0", "--limit 101", "--direction up", "--state gone", "--end-reason bored", "--sort up"} {
		if o := run("", append([]string{"calls"}, strings.Fields(args)...)...); o.Status != command.ExitUsage {
			t.Errorf("%s: exit status %d: %s", args, o.Status, o.ErrOut)
		}
	}
	if o := run("", "__complete", "calls", "--state", ""); !strings.Contains(o.Out, "live") || !strings.Contains(o.Out, "ended") {
		t.Errorf("Tab: %s", o.Out)
	}
}
