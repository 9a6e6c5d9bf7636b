package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/billing"
)

func TestDollars(t *testing.T) {
	for amount, want := range map[billing.Money]string{
		0: "0.00", 3_419_999_999: "3.41", 10_000_000: "0.01", 9_999_999: "0.00", -1: "-0.01", -10_000_000: "-0.01", -1_230_000_001: "-1.24", 1000 * billing.USD: "1000.00",
	} {
		if got := dollars(amount); got != want {
			t.Errorf("%s: %s, want %s", amount, got, want)
		}
	}
}

func TestBalanceCommand(t *testing.T) {
	fakeServer(t)
	o := run("", "balance")
	if o.status != exitDone || o.errOut != "The balance is 3.41 USD: top up soon. (balance.low)\n" {
		t.Errorf("exit status %d: %s", o.status, o.errOut)
	}
	for _, want := range []string{"3.41 USD\n", "-1.01 USD\n", "4.42 USD until", "0.080000001 USD used, 0.01 USD held", "1 of 3 at once", "never"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is not in\n%s", want, o.out)
		}
	}
	o = run("", "balance", "--json")
	var b map[string]json.RawMessage
	if err := json.Unmarshal([]byte(o.out), &b); err != nil || string(b["balance"]) != "3.419999999" || string(b["paid"]) != "-1.000000001" || o.errOut != "" {
		t.Errorf("%v: %s%s", err, o.out, o.errOut)
	}
}

func TestUsageCommand(t *testing.T) {
	s := fakeServer(t)
	t.Chdir(t.TempDir())
	o := run("", "usage", "--from", "2026-03-01", "--to", "2026-04-01")
	if o.status != exitDone || strings.Count(o.out, "characters") != clienttest.UsageDays || !strings.Contains(o.out, "2.3 USD\n") || !strings.Contains(o.out, "0.000000001 USD\n") || o.errOut != "" {
		t.Errorf("exit status %d: %.300s%s", o.status, o.out, o.errOut)
	}
	if asked := s.Requests(); len(asked) != 3 || asked[0] != "GET /v1/usage?from=2026-03-01&group_by=day&limit=100&to=2026-04-01" || !strings.Contains(asked[2], "cursor=200") {
		t.Errorf("%q", asked)
	}
	o = run("", "usage", "--by", "call", "--json")
	var u struct {
		Data  []json.RawMessage
		Total json.Number
	}
	if err := json.Unmarshal([]byte(o.out), &u); err != nil || len(u.Data) != clienttest.UsageDays || u.Total != "2.3" {
		t.Errorf("%v: %.300s", err, o.out)
	}
	if o := run("", "usage", "--csv", "-"); o.status != exitDone || o.out != clienttest.UsageCSV {
		t.Errorf("exit status %d: %q%s", o.status, o.out, o.errOut)
	}
	o = run("", "usage", "--csv", "usage.csv", "--by", "agent")
	if b, err := os.ReadFile("usage.csv"); err != nil || string(b) != clienttest.UsageCSV || o.status != exitDone || o.out != "" {
		t.Errorf("exit status %d: %v, %q", o.status, err, b)
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
		missing := slices.DeleteFunc(want, func(w string) bool { return strings.Contains(o.out, w) })
		if o.status != exitDone || len(missing) > 0 {
			t.Errorf("%s: exit status %d, %q is not in\n%s%s", args, o.status, missing, o.out, o.errOut)
		}
	}
}

func TestBalanceCommandsThatAreRefused(t *testing.T) {
	s := fakeServer(t)
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		command string
		refused string // path
		status  int
		word    string
	}{
		{"balance --key sk_other", "", exitFailed, "auth.invalid_key"},
		{"balance", "/v1/balance", exitRefused, "auth.ticket_not_allowed"},
		{"usage", "/v1/usage", exitRefused, "auth.ticket_not_allowed"},
		{"usage --csv out.csv", "/v1/usage.csv", exitRefused, "auth.ticket_not_allowed"},
		{"usage --by hour", "", exitUsage, "--by"},
		{"usage --csv out.csv --json", "", exitUsage, "csv"},
		{"usage day", "", exitUsage, "unknown command"},
		{"usage --csv nowhere/out.csv", "", exitFailed, "no such file"},
		{"rates Spain", "", exitUsage, "two letters"},
		{"rates FR", "", exitNotFound, "no prices for FR"},
		{"rates --url here", "", exitUsage, "--url"},
	} {
		if tt.refused != "" {
			s.Refuse(tt.refused, clienttest.Problem{Status: 403, Code: "auth.ticket_not_allowed", Error: "No."})
		}
		o := run("", strings.Fields(tt.command)...)
		if o.status != tt.status || !strings.Contains(o.errOut, tt.word) || strings.Count(o.errOut, "\n") != 1 || o.out != "" {
			t.Errorf("%s: exit status %d, want %d: %s%s", tt.command, o.status, tt.status, o.out, o.errOut)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	t.Setenv("PARLEY_API_KEY", "")
	for _, command := range []string{"balance", "usage"} {
		if o := run("", command); o.status != exitUsage || !strings.Contains(o.errOut, "PARLEY_API_KEY") {
			t.Errorf("%s without a key: exit status %d: %s", command, o.status, o.errOut)
		}
	}
}
