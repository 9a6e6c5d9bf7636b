package inworldtest

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
	"parley/media/wav"
)

// isOurs says whether the body of a refusal is the vendor's.
func isOurs(resp *http.Response) bool {
	var body struct{ Code int }
	return json.NewDecoder(resp.Body).Decode(&body) == nil && body.Code == map[int]int{401: 16, 429: 8, 500: 13}[resp.StatusCode]
}

func TestHandshakesAreRefused(t *testing.T) {
	refuses := loopbacktest.Refuses
	loopbacktest.TestHandshakesAreRefused(t, func(f []Fault) (*Server, error) { return Start(Script{Faults: f}) }, isOurs, []loopbacktest.Handshake{
		refuses(path, header("wrong"), 401, ""),
		refuses(path, nil, 401, "Authorization"),
		refuses(path, http.Header{"Authorization": {"Bearer " + DefaultKey}}, 401, "Authorization"),
		refuses(path+"?key=x", header("x"), 401, "there is a query"),
		refuses(path, header(DefaultKey), 429, "", Fault{Status: 429, RetryAfter: 1500 * ms}),
		refuses(path, header(DefaultKey), 500, "", Fault{Status: 500}),
	})
}

func TestTwoSentences(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s)
	c.create("c1", nil)
	c.say("c1", "First ")
	c.say("c1", "one. ")
	c.flush("c1")
	list := c.Until("flushed c1")
	if created := list[0].Result.Created; created == nil || created.Voice != DefaultVoice || created.Delay != 3000 {
		t.Errorf("%+v", list[0])
	}
	length, words := sum(list)
	if length != 660 {
		t.Errorf("%d ms", length)
	}
	loopbacktest.Same(t, words, "First", "one.")
	c.say("c1", "Second. ")
	c.end("c1") // says the rest
	list = c.Until("closed c1")
	times := list[0].Result.Chunk.Info.Words
	if length, _ := sum(list); length != 480 || times.Words[0] != "Second." || times.Start[0] != 0 || times.End[0] != .42 {
		t.Errorf("%d ms, %+v", length, times)
	}
	if texts := loopbacktest.Shorts(list); texts[len(texts)-2] != "flushed c1" {
		t.Errorf("%q", texts)
	}
	if all := s.Contexts(); len(all) != 1 || all[0] != (Context{ID: "c1", Text: "First one. Second. ", Audio: 1140 * ms, End: "closed"}) {
		t.Errorf("%+v", all)
	}
	if b := s.Books(); b.Characters != 19 || b.Requests != 2 || b.Finishes != 1 || b.Audio != 1140*ms || len(b.Body) == 0 || s.Busy() != 0 {
		t.Errorf("%+v", b)
	}
}

func TestAudioIsATone(t *testing.T) {
	for encoding, coding := range codings {
		s := New(t, Script{})
		c := dial(t, s)
		config := audio(encoding, 16000)
		config["speakingRate"] = 1.2
		c.create("c1", fieldsOf{"audioConfig": config, "timestampType": ""})
		c.say("c1", "Hello.")
		c.end("c1")
		var pcm []int16
		for _, m := range c.Until("closed") {
			if b := m.audio(); encoding == linear16 && b != nil {
				clip, err := wav.Decode(bytes.NewReader(b), 1<<20)
				if err != nil || clip.Rate != 16000 {
					t.Errorf("%+v, %v", clip.Rate, err)
				}
				pcm = append(pcm, clip.Samples...)
			} else {
				pcm = append(pcm, coding.Decode(b)...)
			}
			if m.Result.Chunk != nil && m.Result.Chunk.Info.Words.Words != nil {
				t.Error("there are words")
			}
		}
		if level := loopbacktest.Level(pcm); len(pcm) != 6*50*16 || math.Abs(level+15) > .5 {
			t.Errorf("%s: %d samples at %v dBFS", encoding, len(pcm), level)
		}
	}
}

// TestTextIsHeld: until a flush, unless there is enough of it, or for too long.
func TestTextIsHeld(t *testing.T) {
	for _, tt := range []struct {
		config fieldsOf
		texts  []string
		want   int // characters
	}{
		{fieldsOf{"autoMode": true}, []string{"One. ", "Two ", "three. Four "}, 16},
		{fieldsOf{"bufferCharThreshold": 8}, []string{"One ", "two ", "three"}, 8},
		{fieldsOf{"maxBufferDelayMs": 30}, []string{"One"}, 3},
		{fieldsOf{"autoMode": true}, []string{strings.Repeat("x", 800), strings.Repeat("y", 201), "z"}, 1001},
	} {
		s := New(t, Script{})
		c := dial(t, s)
		c.create("c1", tt.config)
		for _, text := range tt.texts {
			c.say("c1", text)
		}
		for length := 0; length < tt.want*60; {
			more, _ := sum(c.Until("flushed"))
			length += more
			if length > tt.want*60 {
				t.Errorf("%v: %d ms", tt.config, length)
			}
		}
		c.flush("c1")
		if more, _ := sum(c.Until("flushed")); more != (len(strings.Join(tt.texts, ""))-tt.want)*60 {
			t.Errorf("%v: %d ms more", tt.config, more)
		}
	}
}

func TestLateAudio(t *testing.T) {
	for late, want := range map[int]int{0: 12, 2: 2, -1: 0} {
		delays := patient
		if late == 0 {
			delays = Delays{}
		}
		s := New(t, Script{LateChunks: late, Delays: delays})
		c := dial(t, s)
		c.create("c1", nil)
		c.say("c1", "A sentence. ") // 9 chunks
		c.flush("c1")
		c.Until("chunk")
		c.say("c1", "Two ") // 3 more
		c.end("c1")
		n := 0
		for _, m := range c.Until("closed") {
			if m.Result.Chunk != nil {
				n++
			}
		}
		if late == 0 {
			n++ // that was read before
		}
		if n != want || s.Busy() != 0 {
			t.Errorf("late %d: %d chunks, %d busy", late, n, s.Busy())
		}
	}
}

func TestContextsSpeakAtOnce(t *testing.T) {
	s := New(t, Script{Contexts: 2, Delays: Delays{Chunk: func() time.Duration { return 5 * ms }}})
	c := dial(t, s)
	c.create("c1", nil)
	c.create("c2", nil)
	c.create("c3", nil) // the account has no more
	c.Until("status 8 c3")
	c.say("c1", "The first one is long. ")
	c.say("c2", "Hi. ")
	c.end("c1")
	c.end("c2")
	if list := loopbacktest.Shorts(c.Until("closed c2")); strings.Contains(strings.Join(list, "|"), "closed c1") {
		t.Errorf("%q", list)
	}
	c.Until("closed c1")
}

func TestASixthContextIsRefused(t *testing.T) {
	s := New(t, Script{Expects: []string{"more than 5 contexts"}})
	c := dial(t, s)
	for _, id := range []string{"c1", "c2", "c3", "c4", "c5", "c6"} {
		c.create(id, nil)
	}
	c.Until("status 8 c6")
	c.end("c1")
	c.Until("closed c1")
	c.create("c6", nil)
	c.Until("created c6")
	other := dial(t, s) // each socket counts its own
	other.create("c1", nil)
	other.Until("created c1")
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct {
		message any
		short   string
		says    string // a violation; empty: there is none
	}{
		{"{", "error 3", "EOF"},
		{fieldsOf{"create": fieldsOf{"voice": "x"}}, "error 3", "unknown field"},
		{fieldsOf{"contextId": "c1"}, "error 3", "0 requests"},
		{fieldsOf{"flush_context": fieldsOf{}, "close_context": fieldsOf{}, "contextId": "c1"}, "error 3", "2 requests"},
		{fieldsOf{"send_text": fieldsOf{"text": "Hi."}, "contextId": "c9"}, "status 5 c9", "it never was"},
		{fieldsOf{"close_context": fieldsOf{}, "contextId": "c9"}, "status 5 c9", "it never was"},
		{fieldsOf{"send_text": fieldsOf{"text": ""}, "contextId": "c9"}, "status 5 c9", ""},
		{fieldsOf{"send_text": fieldsOf{"text": ""}}, "status 5 ", ""},
		{fieldsOf{"send_text": fieldsOf{"text": strings.Repeat("x", 1001)}, "contextId": "c1"}, "status 3 c1", "1001 characters"},
	} {
		script := Script{}
		if tt.says != "" {
			script.Expects = []string{tt.says}
		}
		s := New(t, script)
		c := dial(t, s)
		c.create("c1", nil)
		if text, ok := tt.message.(string); ok {
			c.Text(text)
		} else {
			c.JSON(tt.message)
		}
		c.Until(tt.short)
		c.JSON(fieldsOf{"send_text": fieldsOf{"text": "It goes on.", "flush_context": fieldsOf{}}, "contextId": "c1"})
		c.Until("flushed")
	}
	s := New(t, Script{Expects: []string{"a binary message"}})
	c := dial(t, s)
	c.Binary([]byte(`{"flush_context":{}}`))
	c.Until("error 3")
}

func TestContextsAreRefused(t *testing.T) {
	for says, change := range map[string]fieldsOf{
		"voiceId": {"voiceId": ""}, "modelId": {"modelId": "sonic"}, "audioEncoding": {"audioConfig": audio("OGG", 8000)}, "sampleRateHertz": {"audioConfig": audio("PCM", 8001)},
		"speakingRate": {"audioConfig": fieldsOf{"audioEncoding": "PCM", "sampleRateHertz": 8000, "speakingRate": 2}}, "timestampType": {"timestampType": "LETTER"},
		"maxBufferDelayMs": {"maxBufferDelayMs": -1}, "bufferCharThreshold": {"bufferCharThreshold": 1001},
	} {
		s := New(t, Script{Expects: []string{says}})
		c := dial(t, s)
		c.create("c1", change)
		c.Until("status 3 c1")
		if s.Busy() != 0 {
			t.Errorf("%s: it was accepted", says)
		}
	}
	s := New(t, Script{Expects: []string{"exists already"}})
	c := dial(t, s)
	c.create("c1", fieldsOf{"voiceId": "nobody"})
	if m := c.Until("status 3 c1")[0]; !strings.Contains(m.Result.Status.Message, "Unknown voice") {
		t.Errorf("%+v", m)
	}
	c.create("c1", nil)
	c.create("c1", nil)
	c.Until("status 6 c1")
	c.end("c1")
	c.end("c1") // it may cross its end
	c.Until("status 5 c1")
}

func TestKeepAlive(t *testing.T) {
	s := New(t, Script{Idle: 100 * ms})
	c := dial(t, s)
	c.create("c1", nil)
	c.say("c1", "")
	c.Closed(1000, "inactivity")
	if n := s.Books().KeepAlives; n != 1 {
		t.Error(n)
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 3, websocket.CloseInternalServerErr, func(t *testing.T, f Fault) *websocket.Conn {
		c := dial(t, New(t, Script{Faults: []Fault{f}}))
		c.create("c1", nil)
		_ = c.Conn.WriteJSON(fieldsOf{"send_text": fieldsOf{"text": "A long sentence, spoken.", "flush_context": fieldsOf{}}, "contextId": "c1"}) // it may be cut already
		return c.Conn
	})
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 10, Start, Script{Delays: patient}, func(s *Server, i int) io.Closer {
		c := dial(t, s)
		c.create("c1", nil)
		c.say("c1", "Hello there. ")
		if i%2 == 0 {
			c.end("c1")
		}
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	loopbacktest.TestReplays(t, New, header, nil, map[string]Script{
		"two-sentences": {}, "barge-in": {LateChunks: 1, Delays: patient}, "refused": {Expects: []string{"it never was", "exists already"}},
	})
}
