package remote

import (
	"encoding/csv"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/api/wire"
	"parley/cmd/parley/command"
)

func peopleFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBulkRun: a file becomes a batch, is followed to its end, and its results are a
// file again.
func TestBulkRun(t *testing.T) {
	fakeServer(t)
	path := peopleFile(t, "\ufeffname,To,scheduled_at\r\nAna,'+34 612 345 678,\r\nBo,34612345679,2026-03-01T10:00:00Z\r\n")
	o := run("", "bulk", "run", path, "--from", "+34911234567", "--agent", "ag_one", "--consent", "--name", "Spring", "--hours", "09:00-20:00")
	if o.Status != command.ExitDone || strings.TrimSpace(o.Out) != "bulk_1" {
		t.Fatalf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o = run("", "bulk", "pause", "bulk_1"); o.Status != command.ExitDone || !strings.Contains(o.Out, "paused: 2 pending") {
		t.Errorf("pause: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o = run("", "bulk", "list"); o.Status != command.ExitDone || !strings.Contains(o.Out, "Spring") || !strings.Contains(o.Out, "paused") || !strings.HasPrefix(o.Out, "1 batch: 2 pending, 0 dialing, 0 sent, 0 failed\n") {
		t.Errorf("list: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o = run("", "bulk", "resume", "bulk_1", "--json"); o.Status != command.ExitDone || !json.Valid([]byte(o.Out)) {
		t.Errorf("resume: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o = run("", "bulk", "follow", "bulk_1"); o.Status != command.ExitDone || !strings.Contains(o.Out, "done: 0 pending, 0 dialing, 2 sent, 0 failed") {
		t.Errorf("follow: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o = run("", "bulk", "show", "bulk_1"); o.Status != command.ExitDone || !strings.Contains(o.Out, "0 failed\n2 calls, 24 seconds, 0.5 USD\nto ") || !strings.Contains(o.Out, "+34612345679") || !strings.Contains(o.Out, "They said") {
		t.Errorf("show: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	o = run("", "bulk", "show", "bulk_1", "--csv")
	rows, err := csv.NewReader(strings.NewReader(o.Out)).ReadAll()
	if o.Status != command.ExitDone || err != nil || len(rows) != 3 || rows[0][0] != "to" || rows[2][0] != "+34612345679" || rows[2][13] != "0.25" || rows[2][14] != `They said "yes", twice.` {
		t.Errorf("results: exit status %d: %q, %v%s", o.Status, rows, err, o.ErrOut)
	}
	if o = run("+12025550101\n+12025550102\n", "bulk", "run", "-", "--consent", "--follow", "--json"); o.Status != command.ExitDone {
		t.Errorf("from standard input: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	var b wire.BatchDetail
	if err := json.Unmarshal([]byte(o.Out), &b); err != nil || b.State != "done" || len(b.Rows) != 2 {
		t.Errorf("followed it is %s, %v", o.Out, err)
	}
}

// TestBulkFiles: what spreadsheets write, and what people paste.
func TestBulkFiles(t *testing.T) {
	fakeServer(t)
	for name, tt := range map[string]struct {
		file string
		rows int
		told string
	}{
		"semicolons":        {"name;to;scheduled_at\r\nAna, of course;612345678;\r\nBo;+34 612-345-679;2026-03-01T10:00:00Z\r\n", 2, ""},
		"tabs, empty cells": {"name\t \tto\n\t\t612345678\n", 1, ""},
		"a line break":      {"to,\"na\nme\"\n612345678,\"x\"\n\n\n", 1, "is no variable of the agent and no header"},
		"the same again":    {"+34612345678\n+34 612 345 679\n34612345678\n", 3, "people.csv:3: the number of line 1 again"},
	} {
		o := run("", "bulk", "run", peopleFile(t, tt.file), "--from", "+34911234567", "--agent", "ag_one", "--consent", "--json")
		var b wire.BatchDetail
		if err := json.Unmarshal([]byte(o.Out), &b); o.Status != command.ExitDone || err != nil || len(b.Rows) != tt.rows || !strings.Contains(o.ErrOut, tt.told) || (tt.told == "") != (o.ErrOut == "") {
			t.Errorf("%s: exit status %d, %v: %s%s", name, o.Status, err, o.Out, o.ErrOut)
		}
	}
}

// TestBulkVariables: a column that is called like a variable of the agent gives each call its value, and
// what no agent knows is told.
func TestBulkVariables(t *testing.T) {
	fakeServer(t)
	path := peopleFile(t, "to,name,Room,day\n+12025550101, Ana ,7,Friday\n+12025550102,\"Bo, junior\"\n")
	o := run("", "bulk", "run", path, "--from", "+34911234567", "--agent", "ag_one", "--consent", "--json")
	var b wire.BatchDetail
	if err := json.Unmarshal([]byte(o.Out), &b); o.Status != command.ExitDone || err != nil || len(b.Rows) != 2 {
		t.Fatalf("exit status %d, %v: %s%s", o.Status, err, o.Out, o.ErrOut)
	}
	if !maps.Equal(b.Rows[0].Vars, map[string]string{"name": "Ana", "day": "Friday"}) || !maps.Equal(b.Rows[1].Vars, map[string]string{"name": "Bo, junior"}) {
		t.Errorf("the rows are %+v", b.Rows)
	}
	if want := path + `: column "Room" is no variable of the agent and no header of calls, and is ignored` + "\n"; o.ErrOut != want {
		t.Errorf("told is %q, want %q", o.ErrOut, want)
	}
}

// TestBulkHeaders: a column that is called like a header of calls gives each call its value, and an empty cell none.
func TestBulkHeaders(t *testing.T) {
	fakeServer(t)
	path := peopleFile(t, "to,x-customer-id,User-to-User\n+12025550101,42,Order 7\n+12025550102,43,\n+12025550103\n")
	o := run("", "bulk", "run", path, "--from", "+34911234567", "--agent", "ag_one", "--consent", "--json")
	var b wire.BatchDetail
	if err := json.Unmarshal([]byte(o.Out), &b); o.Status != command.ExitDone || err != nil || len(b.Rows) != 3 || o.ErrOut != "" {
		t.Fatalf("exit status %d, %v: %s%s", o.Status, err, o.Out, o.ErrOut)
	}
	for i, want := range []wire.CallHeaders{{"X-Customer-Id": "42", "User-to-User": "Order 7"}, {"X-Customer-Id": "43"}, nil} {
		if got, _ := b.Rows[i].Headers.Read(); !maps.Equal(got, want) {
			t.Errorf("row %d carries %v, want %v", i, got, want)
		}
	}
}

// TestBulkRefusals name the line of the file, all that the command can find out itself.
func TestBulkRefusals(t *testing.T) {
	s := fakeServer(t)
	for name, tt := range map[string]struct {
		file   string
		args   []string
		refuse *clienttest.Problem
		status int
		want   []string
	}{
		"wrong lines": {"to,scheduled_at\n+34612345678,\nAna,\n\n+34612345678,tomorrow\n,2026-03-01T10:00:00Z\n", nil, nil, command.ExitFailed,
			[]string{`people.csv:3: "Ana"`, `people.csv:5: scheduled_at: "tomorrow"`, "people.csv:6: no number"}},
		"nobody":       {"to\n", nil, nil, command.ExitUsage, []string{"nobody to call"}},
		"no consent":   {"+34612345678\n", nil, &clienttest.Problem{Status: 400, Code: "callcenter.consent_required", Error: "No."}, command.ExitRefused, []string{"callcenter.consent_required"}},
		"half a time":  {"+34612345678\n", []string{"--hours", "09:00"}, nil, command.ExitUsage, []string{"--hours"}},
		"half a rule":  {"+34612345678\n", []string{"--retry", "busy:3"}, nil, command.ExitUsage, []string{"--retry: as busy:3:10m"}},
		"no wait":      {"+34612345678\n", []string{"--retry", "busy:3:soon"}, nil, command.ExitUsage, []string{"--retry: as busy:3:10m"}},
		"an odd quote": {"\"+346\n", nil, nil, command.ExitFailed, []string{"people.csv"}},
	} {
		if tt.refuse != nil {
			s.Refuse("/callcenter/bulk-dial", *tt.refuse)
		}
		o := run("", append([]string{"bulk", "run", peopleFile(t, tt.file)}, tt.args...)...)
		if o.Status != tt.status || o.Out != "" {
			t.Errorf("%s: exit status %d, want %d: %s%s", name, o.Status, tt.status, o.Out, o.ErrOut)
		}
		for _, part := range tt.want {
			if !strings.Contains(o.ErrOut, part) {
				t.Errorf("%s: it says %s, and not %s", name, o.ErrOut, part)
			}
		}
	}
	for _, verb := range []string{"show", "follow", "pause", "resume", "cancel"} {
		if o := run("", "bulk", verb, "bulk_9"); o.Status != command.ExitNotFound {
			t.Errorf("%s of no batch: exit status %d: %s", verb, o.Status, o.ErrOut)
		}
	}
	s.Refuse("/callcenter/bulk-dial", clienttest.Problem{Status: 403, Code: "callcenter.destination_not_allowed", Error: "No.", Detail: "rows[1]: mobiles"})
	if o := run("", "bulk", "run", peopleFile(t, "to\n+34612345678\n\n\n+34612345679\n")); !strings.Contains(o.ErrOut, "people.csv:5: ") || o.Status != command.ExitRefused {
		t.Errorf("the server's refusal reads %s", o.ErrOut)
	}
}

// TestBulkRetries sends the retry rules of the command line to the server.
func TestBulkRetries(t *testing.T) {
	fakeServer(t)
	o := run("", "bulk", "run", peopleFile(t, "+34612345678\n"), "--from", "+34911234567", "--agent", "ag_one", "--consent", "--retry", "busy:3:10m", "--retry", "no_answer:2:2h", "--json")
	var b wire.Batch
	if err := json.Unmarshal([]byte(o.Out), &b); err != nil || !slices.Equal(b.Retries, []wire.Retry{{On: "busy", Attempts: 3, After: 600}, {On: "no_answer", Attempts: 2, After: 7200}}) {
		t.Errorf("%d %s%s: %v", o.Status, o.Out, o.ErrOut, err)
	}
}

// TestBulkHours shows when people are called, sets it and removes it.
func TestBulkHours(t *testing.T) {
	fakeServer(t)
	for _, step := range []struct {
		args   []string
		status int
		out    string
	}{
		{nil, command.ExitNotFound, ""},
		{[]string{"09:00-20:00"}, 0, "09:00-20:00\tdestination\n"},
		{nil, 0, "09:00-20:00\tdestination\n"},
		{[]string{"08:00-19:00", "--timezone", "Europe/Madrid"}, 0, "08:00-19:00\tEurope/Madrid\n"},
		{[]string{"nine"}, command.ExitUsage, ""},
		{[]string{"09:00-20:00", "--any"}, command.ExitUsage, ""},
		{[]string{"--any"}, 0, "People are called at any time.\n"},
		{nil, command.ExitNotFound, ""},
	} {
		if o := run("", append([]string{"bulk", "hours"}, step.args...)...); o.Status != step.status || o.Out != step.out {
			t.Errorf("%v: exit status %d: %q%s", step.args, o.Status, o.Out, o.ErrOut)
		}
	}
}
