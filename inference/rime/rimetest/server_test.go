package rimetest

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// isOurs says whether the body of a refusal is the vendor's.
func isOurs(resp *http.Response) bool {
	var body struct{ Error string }
	return json.NewDecoder(resp.Body).Decode(&body) == nil && body.Error != ""
}

func TestHandshakesAreRefused(t *testing.T) {
	refuses := loopbacktest.Refuses
	loopbacktest.TestHandshakesAreRefused(t, func(f []Fault) (*Server, error) { return Start(Script{Faults: f}) }, isOurs, []loopbacktest.Handshake{
		refuses(path, header("wrong"), 401, ""),
		refuses(path, nil, 401, "Authorization"),
		refuses(path, http.Header{"Authorization": {DefaultKey}}, 401, "Authorization"),
		refuses(path+"&voice=x", header(DefaultKey), 400, "unknown query parameter voice"),
		refuses(path+"&lang=eng", header(DefaultKey), 400, "2 times"),
		refuses(strings.Replace(path, "pcm", "ogg", 1), header(DefaultKey), 400, "audioFormat"),
		refuses(strings.Replace(path, "8000", "8001", 1), header(DefaultKey), 400, "samplingRate"),
		refuses(strings.Replace(path, "coda", "sonic", 1), header(DefaultKey), 400, "modelId"),
		refuses(strings.Replace(path, "=eng", "=English", 1), header(DefaultKey), 400, "lang"),
		refuses(strings.Replace(path, "never", "always", 1), header(DefaultKey), 400, "segment"),
		refuses(strings.Replace(path, DefaultVoice, "", 1), header(DefaultKey), 400, "speaker is required"),
		refuses(strings.Replace(path, DefaultVoice, "nobody", 1), header(DefaultKey), 400, ""),
		refuses(path+"&timeScaleFactor=0", header(DefaultKey), 400, "timeScaleFactor"),
		refuses(path, header(DefaultKey), 429, "", Fault{Status: 429, RetryAfter: 1500 * ms}),
	})
}

func TestTwoSentences(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s, path)
	c.operate("flush") // of nothing
	c.say("c1", "First ")
	c.say("c1", "one. ")
	c.operate("flush")
	c.say("c1", "Second. ")
	c.operate("flush")
	list := c.Until("done")
	audio, words := sum(list)
	if audio != 11*60 {
		t.Errorf("%d ms", audio)
	}
	loopbacktest.Same(t, words, "First", "one.")
	for _, m := range list {
		if m.Context == nil || *m.Context != "c1" {
			t.Errorf("%+v", m)
		}
	}
	list = c.Until("done")
	if audio, words := sum(list); audio != 8*60 || words[0] != "Second." || list[1].Times.Start[0] != 0 || list[1].Times.End[0] != .42 {
		t.Errorf("%d ms, %+v", audio, list)
	}
	if all := s.Contexts(); len(all) != 1 || all[0] != (Context{ID: "c1", Text: "First one. Second. ", Audio: 1140 * ms, End: "done"}) {
		t.Errorf("%+v", all)
	}
	if b := s.Books(); b.Characters != 19 || b.Requests != 2 || b.Finishes != 3 || b.Audio != 1140*ms || len(b.Body) == 0 || s.Busy() != 0 {
		t.Errorf("%+v", b)
	}
}

// TestFlushesWait: what is flushed while something is spoken waits, and is spoken as one.
func TestFlushesWait(t *testing.T) {
	s := New(t, Script{Delays: Delays{FirstAudio: func() time.Duration { return 100 * ms }}})
	c := dial(t, s, path)
	for _, text := range []string{"One. ", "Two. ", "Three."} {
		c.say("c1", text)
		c.operate("flush")
	}
	if audio, _ := sum(c.Until("done")); audio != 5*60 {
		t.Errorf("%d ms", audio)
	}
	list := c.Until("done")
	audio, words := sum(list)
	if audio != 11*60 || s.Books().Requests != 2 || s.Busy() != 0 {
		t.Errorf("%d ms, %+v", audio, s.Books())
	}
	loopbacktest.Same(t, words, "Two.", "Three.")
}

// TestSegments: what is spoken of texts that are not flushed.
func TestSegments(t *testing.T) {
	for segment, want := range map[string]int{"": 5, "&segment=bySentence": 5, "&segment=immediate": 9} {
		s := New(t, Script{})
		c := dial(t, s, strings.TrimSuffix(path, "&segment=never")+segment)
		c.say("c1", "One")
		c.say("c1", ". Two ")
		audio := 0
		for audio < want*60 {
			more, _ := sum(c.Until("done"))
			audio += more
		}
		if isBusy := want == 5; audio != want*60 || (s.Busy() == 1) != isBusy {
			t.Errorf("%q: %d ms, %d busy", segment, audio, s.Busy())
		}
	}
}

func TestClear(t *testing.T) {
	for late, trap := range []bool{false, true, false} {
		s := New(t, Script{Delays: patient, LateChunks: late, Traps: Traps{DoneAfterClear: trap, BareDone: trap}})
		c := dial(t, s, path)
		c.say("c1", "A sentence. ")
		c.operate("flush")
		c.say("c2", "Another. ")
		c.operate("flush")
		c.say("c2", "Never. ")
		c.Until("chunk")
		c.operate("clear") // reaches both
		c.say("c3", "Yes")
		c.operate("flush")
		got := map[string]int{}
		for {
			m, err := c.Read()
			if err != nil {
				t.Fatal(err)
			}
			if m.Context != nil && *m.Context == "c3" {
				break
			}
			got[m.Type]++
		}
		if got["chunk"] != late || (got["done"] == 1) != trap {
			t.Errorf("after a clear: %v, want %d chunks", got, late)
		}
		all := s.Contexts()
		if len(all) != 3 || all[0].End != "cleared" || all[1].End != "cleared" || all[2].End != "" || s.Books().Cancels != 2 || s.Busy() != 1 {
			t.Errorf("%+v, %d busy", all, s.Busy())
		}
	}
}

func TestOneContextAtATime(t *testing.T) {
	s := New(t, Script{Expects: []string{"context c2 begins although text of another one was not flushed"}})
	c := dial(t, s, path)
	c.say("c1", "One ")
	c.say("c2", "two.")
	c.operate("flush")
	for _, m := range c.Until("done") {
		if *m.Context != "c2" {
			t.Errorf("%+v", m)
		}
	}
}

func TestContextsNeedNoName(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s, path)
	c.Text(`{"text":"One."}`)
	c.operate("flush")
	if list := c.Until("done"); list[0].Context != nil || len(s.Contexts()) != 1 {
		t.Errorf("%+v", list)
	}
}

func TestEOS(t *testing.T) {
	s := New(t, Script{Expects: []string{"after eos"}, Delays: Delays{FirstAudio: func() time.Duration { return 100 * ms }}})
	c := dial(t, s, path)
	c.say("c1", "The rest.")
	c.operate("eos")
	c.operate("flush")
	list := c.Closed(1000, "")
	if audio, _ := sum(list); audio != 9*60 || list[len(list)-1].Type != "done" {
		t.Errorf("%d ms, %q", audio, loopbacktest.Shorts(list))
	}
}

func TestMistakes(t *testing.T) {
	for message, says := range map[string]string{
		`{`: "EOF", `[]`: "cannot unmarshal", `{"text":"a","speaker":"b"}`: "unknown field",
		`{}`: "either text or operation", `{"text":"a","operation":"flush"}`: "either text or operation", `{"operation":"stop"}`: "unknown operation",
		"binary": "a binary message",
	} {
		s := New(t, Script{Expects: []string{says}})
		c := dial(t, s, path)
		if message == "binary" {
			c.Binary([]byte(message))
		} else {
			c.Text(message)
		}
		if m := c.Until("error")[0]; !strings.Contains(m.Message, says) {
			t.Errorf("%s: %+v", message, m)
		}
		c.say("c1", "It goes on.")
		c.operate("flush")
		c.Until("done")
	}
}

func TestAudioIsATone(t *testing.T) {
	for format, coding := range codings {
		s := New(t, Script{})
		c := dial(t, s, strings.Replace(path, "=pcm", "="+format, 1)+"&timeScaleFactor=1.5")
		c.say("c1", "Hello.")
		c.operate("flush")
		var pcm []int16
		for _, m := range c.Until("done") {
			b, _ := base64.StdEncoding.DecodeString(m.Data)
			pcm = append(pcm, coding.Decode(b)...)
		}
		if level := loopbacktest.Level(pcm); len(pcm) != 6*90*8 || math.Abs(level+15) > .5 {
			t.Errorf("%s: %d samples at %v dBFS", format, len(pcm), level)
		}
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 3, websocket.CloseInternalServerErr, func(t *testing.T, f Fault) *websocket.Conn {
		c := dial(t, New(t, Script{Faults: []Fault{f}}), path)
		_ = c.Conn.WriteJSON(map[string]string{"text": "A long sentence, spoken."}) // it may be cut already
		_ = c.Conn.WriteJSON(map[string]string{"operation": "flush"})
		return c.Conn
	})
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 10, Start, Script{Delays: patient}, func(s *Server, _ int) io.Closer {
		c := dial(t, s, path)
		c.say("c1", "Hello there. ")
		c.operate("flush")
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	loopbacktest.TestReplays(t, New, header, nil, map[string]Script{"two-sentences": {}, "clear": {LateChunks: 1, Delays: patient}})
}
