package deepgramtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// booking is the turn with a pause of the reference: eager, resumed, eager, end.
var booking = Script{Utterances: []Utterance{
	{Text: "I want to book a table for two", Length: 2400 * ms, Pauses: []Pause{{After: 6, Length: 400 * ms}}},
	{Text: "Thanks"},
}}

func TestFluxPauseInsideATurn(t *testing.T) {
	s := New(t, booking)
	c := dial(t, s, fluxPath)
	c.Say(1500 * ms)
	c.Hush(400 * ms)
	c.Say(500 * ms)
	c.Hush(600 * ms)
	c.Say(300 * ms)
	list := c.Until("StartOfTurn Thanks")
	loopbacktest.Same(t, news(list), "Connected", "StartOfTurn I", "EagerEndOfTurn I want to book a table", "TurnResumed I want to book a table",
		"EagerEndOfTurn I want to book a table for two", "EndOfTurn I want to book a table for two", "StartOfTurn Thanks")
	for i, m := range list {
		if m.Sequence != i {
			t.Errorf("message %d has the number %d", i, m.Sequence)
		}
		switch {
		case m.Event == "EagerEndOfTurn" && (m.Confidence < .4 || m.Confidence >= .7), m.Event == "EndOfTurn" && m.Confidence < .7:
			t.Errorf("%s with %v", m.Event, m.Confidence)
		case m.Event == "EndOfTurn" && (m.Trigger != "model" || m.Turn != 0), m.Event != "EndOfTurn" && m.Trigger != "":
			t.Errorf("%+v", m)
		}
	}
	if m := list[len(list)-1]; m.Turn != 1 {
		t.Errorf("the turn is %d", m.Turn)
	}
	updates := slices.DeleteFunc(list, func(m message) bool { return m.Event != "Update" })
	if len(updates) < 5 {
		t.Errorf("%d updates", len(updates))
	}
	c.Hush(80 * ms)
	c.Text(`{"type":"CloseStream"}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "EndOfTurn Thanks")
}

func TestFluxPausesFollowTheAudio(t *testing.T) {
	for _, pause := range []time.Duration{240 * ms, 400 * ms, 1200 * ms} {
		s := New(t, booking)
		c := dial(t, s, fluxPath)
		c.Say(1520 * ms) // a tail of 20 ms
		c.Hush(pause)
		c.Say(500 * ms)
		c.Hush(600 * ms)
		list := c.Until("EndOfTurn")
		loopbacktest.Same(t, news(list), "Connected", "StartOfTurn I", "EagerEndOfTurn I want to book a table", "TurnResumed I want to book a table",
			"EagerEndOfTurn I want to book a table for two", "EndOfTurn I want to book a table for two")
		words := list[len(list)-1].Words
		if end, want := words[7].End, (1520*ms + pause + 500*ms).Seconds(); end < want-.05 || end > want+.05 {
			t.Errorf("after a pause of %v the last word ends at %v, want %v", pause, end, want)
		}
	}
}

func TestFluxWithoutEagerEnds(t *testing.T) {
	s := New(t, booking)
	c := dial(t, s, strings.Replace(fluxPath, "&eager_eot_threshold=.4", "", 1))
	c.Say(1500 * ms)
	c.Hush(400 * ms)
	c.Say(500 * ms)
	c.Hush(600 * ms)
	loopbacktest.Same(t, news(c.Until("EndOfTurn")), "Connected", "StartOfTurn I", "EndOfTurn I want to book a table for two")
}

func TestFluxTimesOut(t *testing.T) {
	s := New(t, booking)
	c := dial(t, s, fluxPath+"&eot_timeout_ms=500")
	c.Say(1500 * ms)
	c.Hush(600 * ms)
	c.Say(600 * ms)
	c.Hush(600 * ms)
	loopbacktest.Same(t, news(c.Until("EndOfTurn for")), "Connected", "StartOfTurn I", "EagerEndOfTurn I want to book a table", "EndOfTurn I want to book a table",
		"StartOfTurn for", "EagerEndOfTurn for two", "EndOfTurn for two")
}

func TestFluxIsForcedToEnd(t *testing.T) {
	s := New(t, booking)
	c := dial(t, s, strings.Replace(fluxPath, "eager_eot_threshold=.4", "eot_threshold=1.0", 1))
	c.Text(`{"type":"ForceEndTurn"}`) // no turn is open
	c.Say(1500 * ms)
	c.Hush(3000 * ms)
	c.Text(`{"type":"ForceEndTurn"}`)
	c.Say(600 * ms)
	c.Hush(3000 * ms)
	c.Say(300 * ms)
	c.Text(`{"type":"ForceEndTurn"}`)
	list := c.Until("EndOfTurn for")
	loopbacktest.Same(t, news(list), "Connected", "StartOfTurn I", "EndOfTurn I want to book a table", "StartOfTurn for", "EndOfTurn for two Thanks")
	if m := list[len(list)-1]; m.Trigger != "manual" || m.Turn != 1 {
		t.Errorf("%+v", m)
	}
}

func TestFluxIsConfigured(t *testing.T) {
	s := New(t, Script{Expects: []string{"while another was unanswered", "above eot_threshold", "language_hints", "unknown field"}})
	c := dial(t, s, fluxPath)
	answer := func(m string) string {
		c.Text(m)
		return c.Until("Configure")[0].Short()
	}
	c.Until("Connected")
	if got := answer(`{"type":"Configure","thresholds":{"eot_threshold":0.8},"keyterms":["Ana"]}`); got != "ConfigureSuccess" {
		t.Error(got)
	}
	for _, wrong := range []string{
		`{"type":"Configure","thresholds":{"eager_eot_threshold":0.9}}`,
		`{"type":"Configure","language_hints":["es"]}`,
		`{"type":"Configure","keyterm":["es"]}`,
	} {
		if got := answer(wrong); got != "ConfigureFailure" {
			t.Errorf("%s: %s", wrong, got)
		}
	}
	c.Text(`{"type":"Configure"}`)
	c.Text(`{"type":"Configure"}`)
	first, second := c.Until("Configure")[0], c.Until("Configure")[0]
	if first.Type != "ConfigureSuccess" || first.Thresholds.End != .8 || first.Thresholds.Eager != .4 || second.Type != "ConfigureFailure" {
		t.Errorf("%+v %+v", first, second)
	}
}

func TestFluxHasNoKeepAlive(t *testing.T) {
	for _, name := range []string{"KeepAlive", "Finalize"} {
		s := New(t, Script{Expects: []string{name}})
		c := dial(t, s, fluxPath)
		c.Text(`{"type":"` + name + `"}`)
		loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1008, "")), "Connected", "Error")
	}
}
