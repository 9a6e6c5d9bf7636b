package inktest

import (
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// booking has a pause in a turn: six words in 1.5 s, 0.5 s of quiet, two words in 0.5 s.
var booking = Script{Utterances: []Utterance{
	{Text: "I want to book a table for two", Length: 2500 * ms, Pauses: []Pause{{After: 6, Length: 500 * ms}}}, {Text: "Thanks."}}}

func TestAPauseInATurn(t *testing.T) {
	s := New(t, booking)
	c := dial(t, s, turnsPath)
	c.Hush(200 * ms)
	c.Say(1500 * ms)
	c.Hush(500 * ms)
	c.Say(500 * ms)
	c.Hush(1000 * ms) // what ends a turn
	list := c.Until("end")
	loopbacktest.Same(t, news(list), "connected", "start", "eager_end I want to book a table", "resume", "eager_end I want to book a table for two",
		"end I want to book a table for two")
	text := ""
	for _, m := range list {
		if m.Request == "" || !strings.HasPrefix(m.Transcript, text) && m.Transcript != "" {
			t.Errorf("%+v after %q", m, text)
		}
		if m.Transcript != "" {
			text = m.Transcript
		}
	}
	c.Say(260 * ms)
	c.Text(`{"type":"close"}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "start", "update Thanks.", "end Thanks.")
	if b := s.Books(); b.Audio != 3960*ms || b.AudioBytes != 3960*8 || b.Opened != 1 {
		t.Errorf("%+v", b)
	}
}

// TestThresholds: a turn ends sooner when it may, and in a pause when that is enough.
func TestThresholds(t *testing.T) {
	s := New(t, booking)
	for query, want := range map[string]string{
		"&turn_end_threshold=.35":                         "eager_end I want to book a table|end I want to book a table|start|end for two",
		"&turn_end_threshold=.05&turn_end_timeout_ms=900": "eager_end I want to book a table|resume|end I want to book a table for two",
	} {
		c := dial(t, s, turnsPath+query)
		c.Say(1500 * ms)
		c.Hush(500 * ms)
		c.Say(500 * ms)
		c.Text(`{"type":"close"}`)
		if got := strings.Join(news(c.Closed(1000, "")), "|"); got != "connected|start|"+want {
			t.Errorf("%s: %q", query, got)
		}
	}
	c := dial(t, s, turnsPath+"&turn_eager_end_threshold=.31&turn_end_threshold=.05&turn_end_timeout_ms=640")
	c.Say(1500 * ms)
	c.Hush(640 * ms) // the pause is longer than planned
	c.Until("end I want to book a table")
}

func TestNoiseIsNoTurn(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s, turnsPath)
	c.Say(500 * ms)
	c.Hush(1000 * ms)
	c.Text(`{"type":"close"}`)
	loopbacktest.Same(t, news(c.Closed(1000, "")), "connected")
}

func TestCloseEndsAnEagerTurn(t *testing.T) {
	s := New(t, Script{Utterances: []Utterance{{Text: "Yes, please.", Length: 500 * ms}, {Text: "No.", EmptyFinal: true}}})
	c := dial(t, s, turnsPath)
	c.Say(500 * ms)
	c.Hush(440 * ms)
	c.Until("eager_end")
	c.Text(`{"type":"close"}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "end Yes, please.")
}

func TestDeltas(t *testing.T) {
	s := New(t, Script{FinalAfter: 500 * ms, Utterances: []Utterance{{Text: "one two three four", Length: 1200 * ms}, {Text: "Adiós.", Language: "es"}}})
	c := dial(t, s, plainPath)
	c.Hush(100 * ms)
	c.Say(1200 * ms)
	c.Text("finalize")
	list := c.Until("flush_done")
	text, starts := "", []float64{}
	for _, m := range list {
		if m.Type == "transcript" && (m.Language != "en" || m.Request == "" || len(m.Words) == 0 || m.Duration == 0) {
			t.Errorf("%+v", m)
		}
		if !m.Final {
			continue
		}
		text += m.Text
		for _, w := range m.Words {
			starts = append(starts, w.Start)
		}
	}
	if text != "one two three four" || len(starts) != 4 || starts[0] != .1 || starts[3] != 1 || len(news(list)) < 3 {
		t.Errorf("%q at %v: %q", text, starts, loopbacktest.Shorts(list))
	}
	c.Hush(400 * ms)
	c.Say(260 * ms)
	c.Text("finalize")
	c.Text("finalize") // of nothing
	c.Text("done")
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "partial  Adiós.", "final  Adiós.", "flush_done", "flush_done", "done")
	if n := s.Books().Finishes; n != 3 {
		t.Error(n)
	}
}

func TestTraps(t *testing.T) {
	s := New(t, Script{Traps: Traps{FlushUnanswered: true}, Utterances: []Utterance{{Text: "yes", EmptyFinal: true}}})
	c := dial(t, s, plainPath)
	c.Text("finalize")
	c.Say(260 * ms)
	c.Text("finalize")
	c.Text("close")
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "partial yes", "final ", "flush_done", "done")
}

func TestDelays(t *testing.T) {
	script := booking
	script.Delays = Delays{Word: func() time.Duration { return 5 * ms }, Eager: func() time.Duration { return 10 * ms }, Final: func() time.Duration { return 120 * ms }}
	s := New(t, script)
	for _, path := range []string{turnsPath, plainPath} {
		c := dial(t, s, path)
		begun := time.Now()
		c.Say(1500 * ms)
		end := "done"
		if path == turnsPath {
			end = `{"type":"close"}`
		}
		c.Text(end)
		c.Closed(1000, "")
		if took := time.Since(begun); took < 120*ms {
			t.Errorf("the end came after %v", took)
		}
	}
}

func TestGoesOnOverConnections(t *testing.T) {
	for path, want := range map[string][2]string{plainPath: {"final I want to", "final book a"}, turnsPath: {"end I want to", "end book a"}} {
		script := booking
		script.Continue = true
		s := New(t, script)
		for _, text := range want {
			c := dial(t, s, path)
			c.Say(time.Duration(len(strings.Fields(text))-1) * 250 * ms)
			end := "close"
			if path == turnsPath {
				end = `{"type":"close"}`
			}
			c.Text(end)
			list := c.Closed(1000, "")
			if got := strings.Join(news(list), "|"); !strings.Contains(got, text) {
				t.Errorf("%q, want %q", got, text)
			}
		}
	}
}
