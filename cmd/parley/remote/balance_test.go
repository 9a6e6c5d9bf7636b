package remote

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/billing"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func TestDollars(t *testing.T) {
	for amount, want := range map[billing.Money]string{
		0: "0.00", 3_419_999_999: "3.41", 10_000_000: "0.01", 9_999_999: "0.00", -1: "-0.01", -10_000_000: "-0.01", -1_230_000_001: "-1.24", 1000 * billing.USD: "1000.00",
	} {
		if got := server.Dollars(amount); got != want {
			t.Errorf("%s: %s, want %s", amount, got, want)
		}
	}
}

func TestBalanceCommand(t *testing.T) {
	fakeServer(t)
	o := run("", "balance")
	if o.Status != command.ExitDone || o.ErrOut != "The balance is 3.41 USD: top up soon. (balance.low)\n" {
		t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
	}
	for _, want := range []string{"3.41 USD\n", "-1.01 USD\n", "4.42 USD until", "0.080000001 USD used, 0.01 USD held", "1 of 3 at once", "never"} {
		if !strings.Contains(o.Out, want) {
			t.Errorf("%q is not in\n%s", want, o.Out)
		}
	}
	o = run("", "balance", "--json")
	var b map[string]json.RawMessage
	if err := json.Unmarshal([]byte(o.Out), &b); err != nil || string(b["balance"]) != "3.419999999" || string(b["paid"]) != "-1.000000001" || o.ErrOut != "" {
		t.Errorf("%v: %s%s", err, o.Out, o.ErrOut)
	}
}

func TestUsageCommand(t *testing.T) {
	s := fakeServer(t)
	t.Chdir(t.TempDir())
	o := run("", "usage", "--from", "2026-03-01", "--to", "2026-04-01")
	if o.Status != command.ExitDone || strings.Count(o.Out, "characters") != clienttest.UsageDays || !strings.Contains(o.Out, "2.3 USD\n") || !strings.Contains(o.Out, "0.000000001 USD\n") || o.ErrOut != "" {
		t.Errorf("exit status %d: %.300s%s", o.Status, o.Out, o.ErrOut)
	}
	if asked := s.Requests(); len(asked) != 3 || asked[0] != "GET /v1/usage?from=2026-03-01&group_by=day&limit=100&to=2026-04-01" || !strings.Contains(asked[2], "cursor=200") {
		t.Errorf("%q", asked)
	}
	if total, _, _ := strings.Cut(o.Out, "\n"); !strings.HasPrefix(total, "total ") || !strings.HasSuffix(total, " 2.3 USD") {
		t.Errorf("the first line is %q", total)
	}
	o = run("", "usage", "--by", "call", "--json")
	var u struct {
		Data  []json.RawMessage
		Total json.Number
	}
	if err := json.Unmarshal([]byte(o.Out), &u); err != nil || len(u.Data) != clienttest.UsageDays || u.Total != "2.3" {
		t.Errorf("%v: %.300s", err, o.Out)
	}
	if o := run("", "usage", "--csv", "-"); o.Status != command.ExitDone || o.Out != clienttest.UsageCSV {
		t.Errorf("exit status %d: %q%s", o.Status, o.Out, o.ErrOut)
	}
	o = run("", "usage", "--csv", "usage.csv", "--by", "agent")
	if b, err := os.ReadFile("usage.csv"); err != nil || string(b) != clienttest.UsageCSV || o.Status != command.ExitDone || o.Out != "" {
		t.Errorf("exit status %d: %v, %q", o.Status, err, b)
	}
	if asked := s.Requests(); asked[len(asked)-1] != "GET /v1/usage.csv?group_by=agent" {
		t.Errorf("%q", asked)
	}
}

func TestRatesCommand(t *testing.T) {
	fakeServer(t)
	t.Setenv("PARLEY_API_KEY", "") // is not needed
	for args, want := range map[string][]string{
		"rates":            {"2026-01-15.1, USD", "agent", "0.08", "a million characters", "ES GB NL US"},
		"rates es":         {"calls to a number", "0.01", "0.018", "0.045"},
		"rates UK":         {"0.012", "not sold"},
		"rates US --json":  {`"country":"US","inbound":null,"outbound_fixed":0.014,"outbound_mobile":0.014`},
		"rates NL --json":  {`"outbound_fixed":0.025,"outbound_mobile":null`},
		"rates --json":     {clienttest.Pricing},
		"rates GB --key k": {"0.012"},
	} {
		o := run("", strings.Fields(args)...)
		missing := slices.DeleteFunc(want, func(w string) bool { return strings.Contains(o.Out, w) })
		if o.Status != command.ExitDone || len(missing) > 0 {
			t.Errorf("%s: exit status %d, %q is not in\n%s%s", args, o.Status, missing, o.Out, o.ErrOut)
		}
	}
}

func TestBalanceCommandsThatAreRefused(t *testing.T) {
	s := fakeServer(t)
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		line    string
		refused string // path
		status  int
		word    string
	}{
		{"balance --key sk_other", "", command.ExitFailed, "auth.invalid_key"},
		{"balance", "/v1/balance", command.ExitRefused, "auth.ticket_not_allowed"},
		{"usage", "/v1/usage", command.ExitRefused, "auth.ticket_not_allowed"},
		{"usage --csv out.csv", "/v1/usage.csv", command.ExitRefused, "auth.ticket_not_allowed"},
		{"usage --by hour", "", command.ExitUsage, "--by"},
		{"usage --csv out.csv --json", "", command.ExitUsage, "csv"},
		{"usage day", "", command.ExitUsage, "unknown command"},
		{"usage --csv nowhere/out.csv", "", command.ExitFailed, "no such file"},
		{"rates Spain", "", command.ExitUsage, "two letters"},
		{"rates FR", "", command.ExitNotFound, "no prices for FR"},
		{"rates --url here", "", command.ExitUsage, "--url"},
	} {
		if tt.refused != "" {
			s.Refuse(tt.refused, clienttest.Problem{Status: 403, Code: "auth.ticket_not_allowed", Error: "No."})
		}
		o := run("", strings.Fields(tt.line)...)
		if o.Status != tt.status || !strings.Contains(o.ErrOut, tt.word) || strings.Count(o.ErrOut, "\n") != 1 || o.Out != "" {
			t.Errorf("%s: exit status %d, want %d: %s%s", tt.line, o.Status, tt.status, o.Out, o.ErrOut)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	t.Setenv("PARLEY_API_KEY", "")
	for _, name := range []string{"balance", "usage"} {
		if o := run("", name); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, "PARLEY_API_KEY") {
			t.Errorf("%s without a key: exit status %d: %s", name, o.Status, o.ErrOut)
		}
	}
}
