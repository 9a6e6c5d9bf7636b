package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/api/client"
	"parley/api/client/clienttest"
	"parley/api/wire"
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
	if o.status != exitDone || strings.TrimSpace(o.out) != "bulk_1" {
		t.Fatalf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if o = run("", "bulk", "pause", "bulk_1"); o.status != exitDone || !strings.Contains(o.out, "paused: 2 pending") {
		t.Errorf("pause: exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if o = run("", "bulk", "list"); o.status != exitDone || !strings.Contains(o.out, "Spring") || !strings.Contains(o.out, "paused") {
		t.Errorf("list: exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if o = run("", "bulk", "resume", "bulk_1", "--json"); o.status != exitDone || !json.Valid([]byte(o.out)) {
		t.Errorf("resume: exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if o = run("", "bulk", "follow", "bulk_1"); o.status != exitDone || !strings.Contains(o.out, "done: 0 pending, 0 dialing, 2 sent, 0 failed") {
		t.Errorf("follow: exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if o = run("", "bulk", "show", "bulk_1"); o.status != exitDone || !strings.Contains(o.out, "+34612345679") || !strings.Contains(o.out, "They said") {
		t.Errorf("show: exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	o = run("", "bulk", "show", "bulk_1", "--csv")
	rows, err := csv.NewReader(strings.NewReader(o.out)).ReadAll()
	if o.status != exitDone || err != nil || len(rows) != 3 || rows[0][0] != "to" || rows[2][0] != "+34612345679" || rows[2][13] != "0.25" || rows[2][14] != `They said "yes", twice.` {
		t.Errorf("results: exit status %d: %q, %v%s", o.status, rows, err, o.errOut)
	}
	if o = run("+12025550101\n+12025550102\n", "bulk", "run", "-", "--consent", "--follow", "--json"); o.status != exitDone {
		t.Errorf("from standard input: exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	var b wire.BatchDetail
	if err := json.Unmarshal([]byte(o.out), &b); err != nil || b.State != "done" || len(b.Rows) != 2 {
		t.Errorf("followed it is %s, %v", o.out, err)
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
		"a line break":      {"to,\"na\nme\"\n612345678,\"x\"\n\n\n", 1, ""},
		"the same again":    {"+34612345678\n+34 612 345 679\n34612345678\n", 3, "people.csv:3: the number of line 1 again"},
	} {
		o := run("", "bulk", "run", peopleFile(t, tt.file), "--from", "+34911234567", "--agent", "ag_one", "--consent", "--json")
		var b wire.BatchDetail
		if err := json.Unmarshal([]byte(o.out), &b); o.status != exitDone || err != nil || len(b.Rows) != tt.rows || !strings.Contains(o.errOut, tt.told) || (tt.told == "") != (o.errOut == "") {
			t.Errorf("%s: exit status %d, %v: %s%s", name, o.status, err, o.out, o.errOut)
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
		"wrong lines": {"to,scheduled_at\n+34612345678,\nAna,\n\n+34612345678,tomorrow\n,2026-03-01T10:00:00Z\n", nil, nil, exitFailed,
			[]string{`people.csv:3: "Ana"`, `people.csv:5: scheduled_at: "tomorrow"`, "people.csv:6: no number"}},
		"nobody":       {"to\n", nil, nil, exitUsage, []string{"nobody to call"}},
		"no consent":   {"+34612345678\n", nil, &clienttest.Problem{Status: 400, Code: "callcenter.consent_required", Error: "No."}, exitRefused, []string{"callcenter.consent_required"}},
		"half a time":  {"+34612345678\n", []string{"--hours", "09:00"}, nil, exitUsage, []string{"--hours"}},
		"an odd quote": {"\"+346\n", nil, nil, exitFailed, []string{"people.csv"}},
	} {
		if tt.refuse != nil {
			s.Refuse("/callcenter/bulk-dial", *tt.refuse)
		}
		o := run("", append([]string{"bulk", "run", peopleFile(t, tt.file)}, tt.args...)...)
		if o.status != tt.status || o.out != "" {
			t.Errorf("%s: exit status %d, want %d: %s%s", name, o.status, tt.status, o.out, o.errOut)
		}
		for _, part := range tt.want {
			if !strings.Contains(o.errOut, part) {
				t.Errorf("%s: it says %s, and not %s", name, o.errOut, part)
			}
		}
	}
	for _, verb := range []string{"show", "follow", "pause", "resume", "cancel"} {
		if o := run("", "bulk", verb, "bulk_9"); o.status != exitNotFound {
			t.Errorf("%s of no batch: exit status %d: %s", verb, o.status, o.errOut)
		}
	}
	p := &callList{path: "people.csv", line: []int{2, 5}}
	if err := p.explain(&client.Error{Code: "callcenter.destination_not_allowed", Detail: "rows[1]: mobiles"}); !strings.HasPrefix(err.Error(), "people.csv:5: ") || exitStatus(err) != exitRefused {
		t.Errorf("the server's refusal reads %v", err)
	}
}
