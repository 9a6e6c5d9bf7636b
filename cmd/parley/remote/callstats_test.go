package remote

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"parley/api/wire"
	"parley/cmd/parley/command"
)

// TestCallsStats: totals first, agents by their names, and as JSON what the server says.
func TestCallsStats(t *testing.T) {
	s := fakeServer(t)
	o := run("", "calls", "stats")
	if o.Status != command.ExitDone {
		t.Fatalf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	text := regexp.MustCompile(` {2,}`).ReplaceAllString(o.Out, "|")
	for _, want := range []string{"from|2026-02-01\nto|2026-03-02 (not included)\ncalls|4\nanswered|3 (75.0 %)\nminutes|4.5\nUSD|0.36\n", "\nuser_hangup|3\nbusy|1\n",
		"\ntotal|-|9|820|1900\nllm|haiku|8|310|740\n", "\nLola|2|1|50.0 %|1.5|0.12\nnone|2|2|100.0 %|3.0|0.24\n", "\n2026-03-01|4|3|75.0 %|4.5|0.36\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if !strings.HasPrefix(text, "from") {
		t.Errorf("totals are not first:\n%s", text)
	}
	o = run("", "calls", "stats", "--json", "--from", "2026-01-01", "--to", "2026-02-01", "--agent", "ag_one")
	var st wire.Statistics
	if err := json.Unmarshal([]byte(o.Out), &st); err != nil || o.Status != command.ExitDone || st.From != "2026-01-01" || st.To != "2026-02-01" || st.Total.Calls != 4 {
		t.Errorf("exit status %d: %s%s, %v", o.Status, o.Out, o.ErrOut, err)
	}
	if last := s.Requests()[len(s.Requests())-1]; !strings.Contains(last, "agent_id=ag_one") {
		t.Errorf("asked for %s", last)
	}
	if o = run("", "calls", "stats", "--direction", "web"); o.Status != command.ExitDone || !strings.Contains(o.Out, "0 (-)") || strings.Contains(o.Out, "stage") {
		t.Errorf("without calls: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o = run("", "calls", "stats", "--direction", "up"); o.Status != command.ExitUsage {
		t.Errorf("a direction that is none: exit status %d: %s", o.Status, o.ErrOut)
	}
	if o = run("", "calls", "stats", "--from", "yesterday"); o.Status == command.ExitDone {
		t.Errorf("a day that is none: %s", o.Out)
	}
}
