package cartesiatest

import (
	"encoding/base64"
	"math"
	"slices"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

func TestTwoSentencesInOneContext(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s)
	c.send("c1", "First. ", true, nil)
	c.send("c1", "Second one.", false, nil)
	list := c.Until("done")
	audio, words := sum(list)
	if want := 18 * 60 * 16; audio != want || !slices.Equal(words, []string{"First.", "Second", "one."}) {
		t.Errorf("%d bytes, want %d; %q", audio, want, words)
	}
	for _, m := range list {
		if n := m.audio(); m.Type == "chunk" && (m.Status != 206 || n > 100*16 || n < 20*16) {
			t.Errorf("%+v", m)
		}
		if slices.Contains(m.Words.Words, "Second") && (m.Words.Start[0] != .42 || m.Words.End[0] != .78) {
			t.Errorf("%+v", m.Words)
		}
	}
	contexts := s.Contexts()
	if len(contexts) != 1 || contexts[0].Text != "First. Second one." || contexts[0].Audio != 1080*ms || contexts[0].End != "done" {
		t.Errorf("%+v", contexts)
	}
	if b := s.Books(); b.Characters != 18 || b.Requests != 2 || b.Audio != 1080*ms || len(b.Body) == 0 || s.Busy() != 0 {
		t.Errorf("%+v", b)
	}
}

func TestAudioIsATone(t *testing.T) {
	for encoding, coding := range encodings {
		s := New(t, Script{})
		c := dial(t, s)
		c.send("c1", "Hello.", false, fieldsOf{
			"output_format":     map[string]any{"container": "raw", "encoding": encoding, "sample_rate": 24000},
			"generation_config": map[string]any{"speed": 1.2}, "add_phoneme_timestamps": true})
		var pcm []int16
		var phonemes []string
		for _, m := range c.Until("done") {
			b, _ := base64.StdEncoding.DecodeString(m.Data)
			pcm = append(pcm, coding.Decode(b)...)
			phonemes = append(phonemes, m.Phonemes.Phonemes...)
		}
		if level := loopbacktest.Level(pcm); len(pcm) != 6*50*24 || math.Abs(level+15) > .5 {
			t.Errorf("%s: %d samples at %v dBFS", encoding, len(pcm), level)
		}
		if len(phonemes) != 6 {
			t.Errorf("%q", phonemes)
		}
	}
}

func TestTextIsHeldUntilASentenceEnds(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s)
	held := fieldsOf{"max_buffer_delay_ms": nil}
	c.send("c1", "One ", true, held)
	c.send("c1", "two. Thr", true, held)
	list := c.Until("timestamps")
	for len(list) < 7 { // 9 characters are 540 ms in 7 chunks
		m, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		if m.Type == "chunk" {
			list = append(list, m)
		} else if slices.Contains(m.Words.Words, "Thr") {
			t.Error("it was not held")
		}
	}
	c.send("c1", "ee", false, held)
	audio, words := sum(c.Until("done"))
	if audio > 5*60*16+80*16 || !slices.Contains(words, "Three") {
		t.Errorf("%d bytes, %q", audio, words)
	}
}

func TestHeldTextIsSpokenAfterTheDelay(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s)
	c.send("c1", "One", true, fieldsOf{"max_buffer_delay_ms": 30})
	if _, words := sum(c.Until("timestamps")); !slices.Contains(words, "One") {
		t.Errorf("%q", words)
	}
}

func TestFlush(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s)
	held := fieldsOf{"max_buffer_delay_ms": nil}
	c.send("c1", "One", true, held)
	c.send("c1", "", true, fieldsOf{"max_buffer_delay_ms": nil, "flush": true})
	list := c.Until("flush_done")
	if audio, _ := sum(list); audio != 3*60*16 || list[len(list)-1].Flush != 0 {
		t.Errorf("%d bytes, %+v", audio, list)
	}
	c.send("c1", " two", false, held)
	if list := c.Until("done"); list[0].Flush != 1 {
		t.Errorf("%+v", list)
	}
}

func TestCancel(t *testing.T) {
	slow := Delays{FirstAudio: func() time.Duration { return ms }, Chunk: func() time.Duration { return time.Hour }}
	s := New(t, Script{Delays: slow, LateChunks: 2, Endings: Endings{DoneAfterCancel: true}, Expects: []string{"although it is cancelled", "never was"}})
	c := dial(t, s)
	c.send("c1", "A long sentence that takes its time.", false, nil)
	c.Until("chunk")
	if s.Busy() != 1 {
		t.Error("it is not busy")
	}
	c.JSON(fieldsOf{"context_id": "c1", "cancel": true})
	list := c.Until("done")
	late := slices.DeleteFunc(list, func(m message) bool { return m.Type != "chunk" })
	if len(late) != 2 || s.Busy() != 0 {
		t.Errorf("%d late chunks, %d busy", len(late), s.Busy())
	}
	c.JSON(fieldsOf{"context_id": "c1", "cancel": true}) // it may cross its end
	c.send("c1", "More.", true, nil)
	failed(t, c, 400, "cancelled")
	c.JSON(fieldsOf{"context_id": "c9", "cancel": true})
	failed(t, c, 400, "never was")
	if got := s.Contexts()[0]; got.End != "cancelled" || got.Audio != 240*ms || s.Books().Cancels != 3 {
		t.Errorf("%+v", got)
	}
}

func TestContextsDie(t *testing.T) {
	s := New(t, Script{ContextLife: 20 * ms, Endings: Endings{DoneAfterExpiry: true}, Expects: []string{"although it is expired"}})
	c := dial(t, s)
	c.send("c1", "One.", true, nil)
	c.Until("done")
	c.send("c1", "Two.", true, nil)
	failed(t, c, 400, "expired")
}

func TestContextsSpeakAtOnce(t *testing.T) {
	s := New(t, Script{Contexts: 2, Delays: Delays{Chunk: func() time.Duration { return 5 * ms }}})
	c := dial(t, s)
	c.send("c1", "The first one is long.", false, nil)
	c.send("c2", "Second.", false, nil)
	c.send("c3", "Third.", false, nil)
	failed(t, c, 429, "concurrent")
	if list := c.Until("done"); list[len(list)-1].Context != "c2" {
		t.Errorf("%+v", list)
	}
	c.Until("done")
	c.send("c3", "Third.", false, nil)
	c.Until("done")
}
