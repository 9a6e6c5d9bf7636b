package sonioxtest

import (
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

var greeting = Script{Utterances: []Utterance{{Text: "Good morning, Ana.", Length: 900 * ms}, {Text: "Adiós.", Language: "es"}}}

func TestEndpoints(t *testing.T) {
	s := New(t, greeting)
	c := dial(t, s, with(`"enable_endpoint_detection":true,"enable_language_identification":true,"enable_speaker_diarization":true`))
	c.Hush(200 * ms)
	c.Say(900 * ms)
	c.Hush(400 * ms)
	list := c.Until("Good morning, Ana.<end>")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "[good]", "[Good morning]", "[Good morning, ana]", "Good morning, Ana.<end>")
	last := list[3]
	var pieces []string
	for _, token := range last.Tokens {
		if !token.Final {
			t.Errorf("%+v is not final", token)
		}
		pieces = append(pieces, token.Text)
	}
	loopbacktest.Same(t, pieces, "Good", " morn", "ing", ",", " Ana", ".", "<end>")
	if k := last.Tokens[1]; k.Start != 500 || k.End != 600 || k.Language != "en" || k.Speaker != "1" || k.Confidence == 0 {
		t.Errorf("%+v", k)
	}
	if last.FinalMS != 1500 || last.TotalMS != 1500 || list[0].FinalMS != 0 || list[0].TotalMS != 500 {
		t.Errorf("%+v", list)
	}
	c.Say(260 * ms)
	if m := c.Until("[ adiós]")[0]; m.Tokens[0].Language != "es" {
		t.Errorf("%+v", m)
	}
	c.Text("")
	end := c.Closed(1000, "")
	loopbacktest.Same(t, loopbacktest.Shorts(end), " Adiós.", "finished")
	if m := end[1]; m.TotalMS != 1760 {
		t.Errorf("%+v", m)
	}
	if b := s.Books(); b.Audio != 1760*ms || b.AudioBytes != 1760*8 || b.Opened != 1 {
		t.Errorf("%+v", b)
	}
}

// TestTokensBecomeFinal: each once, while speech goes on.
func TestTokensBecomeFinal(t *testing.T) {
	s := New(t, Script{FinalAfter: 500 * ms, Utterances: []Utterance{{Text: "a b c d e f", Length: 1800 * ms}}})
	c := dial(t, s, start)
	c.Say(1800 * ms)
	c.Binary(nil)
	list := c.Closed(1000, "")
	if got := finals(list); got != "a b c d e f" {
		t.Errorf("%q", got)
	}
	replaced := 0
	for _, m := range list {
		if len(m.Tokens) > 0 && m.Tokens[0].Final && !m.Tokens[len(m.Tokens)-1].Final {
			replaced++
		}
	}
	if replaced < 3 {
		t.Errorf("%q", loopbacktest.Shorts(list))
	}
}

func TestFinalize(t *testing.T) {
	s := New(t, Script{Utterances: []Utterance{{Text: "one two three four", Length: 1200 * ms}}})
	c := dial(t, s, start)
	c.Say(800 * ms)
	c.Text(`{"type":"finalize"}`)
	c.Say(400 * ms)
	c.Hush(600 * ms)
	c.Text(`{"type":"finalize","trailing_silence_ms":600}`)
	c.Text(`{"type":"finalize"}`)
	c.Text("")
	list := c.Closed(1000, "")
	if got := finals(list); got != "one two three<fin> four<fin><fin>" {
		t.Errorf("%q", got)
	}
	if n := s.Books().Finishes; n != 3 {
		t.Error(n)
	}
}

func TestEndpointsAndFinalize(t *testing.T) {
	for trap, want := range map[bool]string{false: "Good morning, Ana.<fin> Adiós.<end>", true: "Good morning, Ana.<fin><end> Adiós.<end>"} {
		script := greeting
		script.Traps.EndAfterFin = trap
		s := New(t, script)
		c := dial(t, s, with(`"enable_endpoint_detection":true,"max_endpoint_delay_ms":500`))
		c.Say(900 * ms)
		c.Text(`{"type":"finalize"}`)
		c.Hush(500 * ms)
		c.Say(260 * ms)
		c.Hush(500 * ms)
		c.Text("")
		if got := finals(c.Closed(1000, "")); got != want {
			t.Errorf("trap %v: %q", trap, got)
		}
	}
}

// TestLongestDelay: a pause in an utterance is an endpoint when it is too long.
func TestLongestDelay(t *testing.T) {
	s := New(t, Script{Utterances: []Utterance{{Text: "my number is five five", Length: 2500 * ms, Pauses: []Pause{{After: 3, Length: 1000 * ms}}}}})
	for options, want := range map[string]string{
		`"max_endpoint_delay_ms":600`:  "my number is<end> five five<end>",
		`"max_endpoint_delay_ms":2000`: "my number is five five<end>",
	} {
		c := dial(t, s, with(`"enable_endpoint_detection":true,`+options))
		c.Say(900 * ms)
		c.Hush(1000 * ms)
		c.Say(600 * ms)
		c.Hush(600 * ms)
		c.Text("")
		if got := finals(c.Closed(1000, "")); got != want {
			t.Errorf("%s: %q", options, got)
		}
	}
}

func TestTraps(t *testing.T) {
	s := New(t, Script{Traps: Traps{FinalizeUnanswered: true}, Utterances: []Utterance{{Text: "yes please", EmptyFinal: true}}})
	c := dial(t, s, start)
	c.Text(`{"type":"finalize"}`)
	c.Say(500 * ms)
	c.Text(`{"type":"finalize"}`)
	c.Text("")
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "[yes]", "[yes please]", "<fin>", "finished")
}

func TestPieces(t *testing.T) {
	for word, want := range map[string]string{"a": "a", "five": "five", "number": "numb|er", "mañana!?": "maña|na|!?", "—": "—", "x-ray,": "x-ra|y|,"} {
		if got := strings.Join(pieces(word), "|"); got != want {
			t.Errorf("%s: %s", word, got)
		}
	}
}

func TestDelays(t *testing.T) {
	script := greeting
	script.Delays = Delays{Word: func() time.Duration { return 5 * ms }, Final: func() time.Duration { return 120 * ms }}
	s := New(t, script)
	c := dial(t, s, start)
	begun := time.Now()
	c.Say(900 * ms)
	c.Text(`{"type":"finalize"}`)
	c.Until("Good morning, Ana.<fin>")
	if took := time.Since(begun); took < 120*ms {
		t.Errorf("the end came after %v", took)
	}
}

func TestGoesOnOverConnections(t *testing.T) {
	script := greeting
	script.Continue = true
	script.Faults = []Fault{{Connections: 1, AfterMessages: 3, Then: loopbacktest.Cut}}
	s := New(t, script)
	c := dial(t, s, start)
	c.Say(600 * ms)
	c.Text(`{"type":"finalize"}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("Good morning,<fin>")), "[good]", "[Good morning]", "Good morning,<fin>")
	if _, err := c.Read(); err == nil {
		t.Fatal("the connection was not cut")
	}
	c = dial(t, s, start)
	c.Say(300 * ms)
	c.Text(`{"type":"finalize"}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("Ana.<fin>")), "[ana]", "Ana.<fin>")
}
