package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/pipeline"
	"parley/pipeline/journal"
	"parley/pipeline/replay"
)

// TestComparedTurns: a call with other settings is told turn by turn, its turns lined up by the caller's words.
func TestComparedTurns(t *testing.T) {
	file, sounds := recorded(t)
	f := read(t, file)
	was := replay.Turns(f.Events)
	if len(was) != 3 || was[0].No != 0 || was[1].Heard != "what time do you open" || !was[1].Interrupted || was[1].Latency <= 0 || was[2].Heard != "no wait I meant on Friday" || was[2].Said == "" {
		t.Errorf("the turns are %+v", was)
	}
	for _, d := range replay.CompareTurns(f.Events, again(t, f, sounds).Events) {
		if !d.Same() {
			t.Errorf("the same call differs: %+v %+v", d.Then, d.Now)
		}
	}
	settings, err := replay.ParseSettings([]string{"interruptible=never", "min_endpoint_ms=800"})
	if err != nil {
		t.Fatal(err)
	}
	change := replay.With(settings)
	now := replay.CompareTurns(f.Events, again(t, f, func(c *pipeline.Config) { sounds(c); change(c) }).Events)
	differs := 0
	for _, d := range now {
		if !d.Same() {
			differs++
		}
	}
	if first := now[1]; differs == 0 || first.Then == nil || first.Now == nil || first.Now.Interrupted || first.Now.Latency <= first.Then.Latency {
		t.Errorf("%d differ, the first is %+v then and %+v now", differs, first.Then, first.Now)
	}
}

// TestTurnsLineUp: one that is not there, one that was split, corrections, functions.
func TestTurnsLineUp(t *testing.T) {
	t.Parallel()
	line := func(turn int, text string) journal.Event {
		return journal.Event{Kind: "user_line", Turn: turn, Text: text, AtUS: int64(turn) * 1e6}
	}
	said := func(turn int, text string) journal.Event {
		return journal.Event{Kind: "agent_line", Turn: turn, Text: text}
	}
	then := []journal.Event{said(0, "Hello."), line(1, "a"), said(1, "A."), line(2, "b and c"), {Kind: "tool_begun", Turn: 2, Call: &inference.ToolCall{Name: "f"}}, said(2, "B."), said(2, "More."),
		{Kind: "timed", Turn: 2, Timing: &journal.Timing{TotalUS: 400_000}}, {Kind: "timed", Turn: 2, Timing: &journal.Timing{TotalUS: 900_000}}, line(3, "bie"),
		{Kind: "user_line_again", Turn: 3, Replaces: "bie", Text: "bye"}}
	now := []journal.Event{said(0, "Hello."), line(1, "a"), said(1, "A."), line(2, "b"), said(2, "B?"), line(3, "and c"), line(4, "bye"), said(4, "Bye.")}
	var got []string
	for _, d := range replay.CompareTurns(then, now) {
		side := func(t *replay.Turn) string {
			if t == nil {
				return "-"
			}
			return fmt.Sprintf("%d %q %q %v %v", t.No, t.Heard, t.Said, t.Functions, t.Latency.Round(time.Millisecond))
		}
		got = append(got, fmt.Sprintf("%v: %s | %s", d.Same(), side(d.Then), side(d.Now)))
	}
	const want = `true: 0 "" "Hello." [] 0s | 0 "" "Hello." [] 0s
true: 1 "a" "A." [] 0s | 1 "a" "A." [] 0s
false: 2 "b and c" "B. More." [f] 400ms | -
false: - | 2 "b" "B?" [] 0s
false: - | 3 "and c" "" [] 0s
false: 3 "bye" "" [] 0s | 4 "bye" "Bye." [] 0s`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}
