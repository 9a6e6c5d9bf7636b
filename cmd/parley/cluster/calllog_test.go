package cluster

import (
	"strings"
	"testing"
	"time"

	"parley/api/callcenter"
	"parley/pipeline/session"
	"parley/store/history"
)

// TestReplay: what was left out of a log is in its first event, corrections show all
// lines as they were, and a call without a log has its end.
func TestReplay(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	line := func(text string) history.TranscriptLine { return history.TranscriptLine{Role: "user", Text: text} }
	last := session.CallSnapshot{Status: session.CallEnded, StartedAt: at, EndedAt: at.Add(time.Minute), Transcript: []history.TranscriptLine{line("one"), line("two, really"), line("three")}}
	three := line("three")
	two := line("two")
	told := func(l *history.CallLog) (text []string) {
		replay(l, last, func(_ time.Time, c callcenter.Change) bool {
			var said []string
			for _, l := range c.State.Transcript {
				said = append(said, l.Text)
			}
			text = append(text, strings.Join([]string{c.State.Status, c.Line.Text, strings.Join(said, "|")}, "/"))
			return true
		})
		return text
	}
	got := told(&history.CallLog{At: at, Status: "connected", Lines: 1, Omitted: 4, Events: []history.CallEvent{
		{At: at, Line: &two}, {At: at, Line: &three}, {At: at, Correction: &history.Correction{Line: 1, Text: "two, really"}}, {At: at}, {At: at, Correction: &history.Correction{Line: 9, Text: "?"}}}})
	if want := "connected//one connected/two/ connected/three/ connected//one|two, really|three"; strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
	if got := told(&history.CallLog{Lines: 3}); len(got) != 1 || got[0] != "ended//one|two, really|three" {
		t.Errorf("without a log: %q", got)
	}
	if two.Text != "two" || last.Transcript[1].Text != "two, really" {
		t.Error("what was stored has changed")
	}
}
