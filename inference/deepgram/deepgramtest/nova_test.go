package deepgramtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

// quick ends speech soon.
var quick = strings.Replace(novaPath, "endpointing=300", "endpointing=100", 1)

func TestNovaHearsAnUtterance(t *testing.T) {
	s := New(t, Script{Utterances: []Utterance{{Text: "Good morning, Ana.", Length: 900 * ms}, {Text: "Bye."}}})
	c := dial(t, s, novaPath+"&utterance_end_ms=1000")
	c.Hush(200 * ms)
	c.Say(900 * ms)
	c.Hush(1200 * ms)
	list := c.Until("UtteranceEnd")
	texts := []string{}
	for _, m := range list {
		texts = append(texts, m.Short())
	}
	loopbacktest.Same(t, texts, "SpeechStarted", "partial Good", "partial Good morning,", "partial Good morning, Ana.", "speech_final Good morning, Ana.", "UtteranceEnd")
	if m := list[0]; m.Timestamp != .2 {
		t.Errorf("speech started at %v", m.Timestamp)
	}
	m := list[4]
	var channel struct {
		Alternatives []struct {
			Words []struct {
				Word       string
				Punctuated string `json:"punctuated_word"`
				Start, End float64
			}
		}
	}
	if err := json.Unmarshal(m.Channel, &channel); err != nil {
		t.Fatal(err)
	}
	if m.Start != 0 || m.Duration != 1.4 {
		t.Errorf("the final covers %v for %v", m.Start, m.Duration)
	}
	if w := channel.Alternatives[0].Words[1]; w.Start != .5 || w.End != .8 || w.Word != "morning" || w.Punctuated != "morning," {
		t.Errorf("%+v", w)
	}
	if list[5].LastWordEnd != 1.1 {
		t.Errorf("last word ended at %v", list[5].LastWordEnd)
	}
	c.Say(260 * ms)
	c.Text(`{"type":"CloseStream"}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "SpeechStarted", "partial Bye.", "final Bye.", "Metadata")
	if b := s.Books(); b.Audio != 2560*ms || b.AudioBytes != 2560*16 || b.Opened != 1 {
		t.Errorf("%+v", b)
	}
}

func TestNovaPausesEndSpeech(t *testing.T) {
	s := New(t, Script{Utterances: []Utterance{{Text: "my number is five five", Length: 1900 * ms, Pauses: []Pause{{After: 3, Length: 400 * ms}}}}})
	c := dial(t, s, novaPath)
	c.Say(900 * ms)
	c.Hush(400 * ms)
	c.Say(600 * ms)
	c.Hush(300 * ms)
	loopbacktest.Same(t, news(c.Until("speech_final five")), "SpeechStarted", "speech_final my number is", "speech_final five five")
}

func TestNovaFinalizes(t *testing.T) {
	s := New(t, Script{Utterances: []Utterance{{Text: "one two three four", Length: 1200 * ms}}})
	c := dial(t, s, strings.Replace(novaPath, "endpointing=300", "endpointing=false", 1))
	c.Say(800 * ms)
	c.Text(`{"type":"Finalize"}`)
	c.Say(400 * ms)
	c.Hush(600 * ms)
	c.Text(`{"type":"Finalize"}`)
	c.Text(`{"type":"Finalize"}`)
	c.Text(`{"type":"CloseStream"}`)
	var got []string
	for _, text := range loopbacktest.Shorts(c.Closed(1000, "")) {
		if !strings.HasPrefix(text, "partial") {
			got = append(got, text)
		}
	}
	loopbacktest.Same(t, got, "SpeechStarted", "from_finalize one two three", "from_finalize four", "from_finalize", "final", "Metadata")
	if n := s.Books().Finishes; n != 3 {
		t.Error(n)
	}
}

func TestNovaFinalsOfLongSpeech(t *testing.T) {
	s := New(t, Script{FinalEvery: time.Second, Utterances: []Utterance{{Text: "a b c d e f", Length: 2400 * ms}}})
	c := dial(t, s, quick)
	c.Say(2400 * ms)
	c.Hush(400 * ms)
	list := c.Until("speech_final")
	loopbacktest.Same(t, news(list), "SpeechStarted", "final a b", "final c d", "speech_final e f")
	at := 0.0
	for _, m := range list {
		if m.Final {
			if m.Start != at {
				t.Errorf("a final begins at %v, want %v", m.Start, at)
			}
			at = m.Start + m.Duration
		}
	}
}

func TestNovaTraps(t *testing.T) {
	s := New(t, Script{Traps: Traps{FinalizeUnanswered: true, SpeechStartedRepeats: true},
		Utterances: []Utterance{{Text: "yes please", EmptyFinal: true}}})
	c := dial(t, s, novaPath)
	c.Text(`{"type":"Finalize"}`)
	c.Say(500 * ms)
	c.Hush(400 * ms)
	c.Text(`{"type":"Finalize"}`)
	c.Text(`{"type":"CloseStream"}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "SpeechStarted", "SpeechStarted", "partial yes", "partial yes please", "speech_final", "final", "Metadata")
}

func TestNovaGoesOnOverConnections(t *testing.T) {
	s := New(t, Script{Continue: true, FinalEvery: time.Second, Faults: []Fault{{Connections: 1, AfterMessages: 4, Then: loopbacktest.Cut}},
		Utterances: []Utterance{{Text: "a b c d e f", Length: 2400 * ms}, {Text: "next"}}})
	c := dial(t, s, quick)
	c.burst(1200 * ms)
	loopbacktest.Same(t, news(c.Until("final")), "SpeechStarted", "final a b")
	if _, err := c.Read(); err == nil {
		t.Fatal("the connection was not cut")
	}
	c = dial(t, s, quick)
	c.Say(1600 * ms) // from the end of b
	c.Hush(400 * ms)
	c.Say(300 * ms)
	c.Hush(400 * ms)
	loopbacktest.Same(t, news(c.Until("speech_final next")), "SpeechStarted", "final c d", "speech_final e f", "SpeechStarted", "speech_final next")
}

func TestNovaWantsKeepAlive(t *testing.T) {
	s := New(t, Script{Idle: 100 * ms, Expects: []string{"neither audio nor KeepAlive"}})
	c := dial(t, s, novaPath)
	c.Text(`{"type":"KeepAlive"}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1011, "NET-0001")))
	if n := s.Books().KeepAlives; n != 1 {
		t.Error(n)
	}
}

func TestNovaRefusesMessages(t *testing.T) {
	for _, tt := range []struct {
		kind            int
		data, violation string
	}{
		{websocket.BinaryMessage, `{"type":"KeepAlive"}`, "KeepAlive came in a binary message"},
		{websocket.BinaryMessage, "abc", "no whole samples"},
		{websocket.BinaryMessage, "", "empty message"},
		{websocket.TextMessage, `{"type":"Configure"}`, `knows no text message "Configure"`},
		{websocket.TextMessage, `{`, `no JSON`},
	} {
		s := New(t, Script{Expects: []string{tt.violation}})
		c := dial(t, s, novaPath)
		if err := c.Conn.WriteMessage(tt.kind, []byte(tt.data)); err != nil {
			t.Fatal(err)
		}
		loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1008, "DATA-0000")))
	}
}
