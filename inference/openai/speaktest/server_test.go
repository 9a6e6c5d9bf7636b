package speaktest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/media/wav"
)

func TestRequestsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		change fieldsOf
		param  string
		says   string
	}{
		{fieldsOf{"model": nil}, "model", "required"},
		{fieldsOf{"input": ""}, "input", "0 characters"},
		{fieldsOf{"input": strings.Repeat("ñ", 4097)}, "input", "4097 characters"},
		{fieldsOf{"voice": "Ana"}, "voice", "is not a voice"},
		{fieldsOf{"model": "tts-1", "stream_format": nil}, "voice", "marin"},
		{fieldsOf{"model": "tts-1", "voice": "alloy"}, "stream_format", "not supported by tts-1"},
		{fieldsOf{"model": "tts-1", "voice": "alloy", "stream_format": nil, "instructions": "Softly."}, "instructions", "not supported by tts-1"},
		{fieldsOf{"stream_format": "ndjson"}, "stream_format", "ndjson"},
		{fieldsOf{"response_format": nil}, "response_format", "mp3"},
		{fieldsOf{"speed": 4.5}, "speed", "not in .25-4"},
		{fieldsOf{"stream": true}, "body", "unknown field"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		resp := post(t, s, header(s.Key), body(tt.change))
		var answer struct {
			Error struct{ Message, Type, Param, Code string }
		}
		if json.NewDecoder(resp.Body).Decode(&answer) != nil || resp.StatusCode != 400 || answer.Error.Type != "invalid_request_error" || answer.Error.Code == "" ||
			answer.Error.Param != tt.param || !strings.Contains(answer.Error.Message, tt.says) || s.Books().Requests != 0 {
			t.Errorf("%v: %d, %+v", tt.change, resp.StatusCode, answer)
		}
	}
}

func TestRequestsFail(t *testing.T) {
	s := New(t, Script{Expects: []string{"Authorization", "does not exist", "Content-Type"}, Requests: 1, Delays: patient, Faults: []Fault{
		{Connections: 1, Status: 429, RetryAfter: 1500 * ms, Reason: "insufficient_quota"}, {Connections: 1, Status: 500}}})
	refused := func(want int, code string, h http.Header, body []byte) *http.Response {
		t.Helper()
		resp := post(t, s, h, body)
		var answer struct{ Error struct{ Code string } }
		if json.NewDecoder(resp.Body).Decode(&answer) != nil || resp.StatusCode != want || answer.Error.Code != code || resp.Header.Get("x-request-id") == "" {
			t.Errorf("%d %+v, want %d %s", resp.StatusCode, answer, want, code)
		}
		return resp
	}
	if h := refused(429, "insufficient_quota", header(s.Key), body(nil)).Header; h.Get("Retry-After") != "2" {
		t.Errorf("%v", h)
	}
	refused(500, "server_error", header(s.Key), body(nil))
	refused(401, "invalid_api_key", header("wrong"), body(nil))
	refused(401, "invalid_api_key", nil, body(nil))
	refused(400, "unsupported_content_type", http.Header{"Authorization": {"Bearer " + s.Key}}, body(nil))
	refused(404, "model_not_found", header(s.Key), body(fieldsOf{"model": "whisper-1", "voice": "alloy", "stream_format": nil}))
	if resp := loopbacktest.Post(t.Context(), t, s.URL+"/v1/audio/speak", header(s.Key), body(nil)); resp.StatusCode != 404 {
		t.Error(resp.StatusCode)
	}
	post(t, s, header(s.Key), body(nil)) // speaks for hours
	refused(429, "rate_limit_exceeded", header(s.Key), body(nil))
	if s.Busy() != 1 {
		t.Errorf("%d busy", s.Busy())
	}
}

func TestEvents(t *testing.T) {
	for _, spelled := range []bool{false, true} {
		s := New(t, Script{Traps: Traps{Delta: spelled}})
		resp := post(t, s, header(s.Key), body(fieldsOf{"instructions": "Softly.", "speed": 1.5}))
		list := loopbacktest.Streamed[data](t, resp, false)
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			t.Errorf("%v", resp.Header)
		}
		audio := 0
		for _, d := range list[:len(list)-1] {
			if audio += len(d.Audio) + len(d.Delta); d.Type != "speech.audio.delta" || (d.Delta != nil) != spelled {
				t.Errorf("%+v", d)
			}
		}
		end := list[len(list)-1]
		if audio != 18*40*48 || end.Type != "speech.audio.done" || end.Usage.In != 5 || end.Usage.Out == 0 || end.Usage.Total != 5+end.Usage.Out {
			t.Errorf("%d bytes, %+v", audio, end)
		}
		if b := s.Books(); b.Requests != 1 || b.Characters != 18 || b.Audio != 720*ms || b.TokensIn != 5 || b.TokensOut != end.Usage.Out || b.Cancels != 0 || len(b.Body) == 0 {
			t.Errorf("%+v", b)
		}
		if all := s.Speeches(); len(all) != 1 || all[0] != (Speech{Text: "Good morning, Ana.", Audio: 720 * ms, End: "done"}) {
			t.Errorf("%+v", all)
		}
	}
}

// TestAudio: without events the body is audio, and so it is of servers that know of none.
func TestAudio(t *testing.T) {
	for _, tt := range []struct {
		trap   bool
		change fieldsOf
	}{
		{false, fieldsOf{"stream_format": nil}}, {false, fieldsOf{"stream_format": "audio", "response_format": "wav"}},
		{false, fieldsOf{"model": "tts-1-hd", "voice": "alloy", "stream_format": nil}}, {true, nil},
	} {
		s := New(t, Script{Traps: Traps{Plain: tt.trap}})
		resp := post(t, s, header(s.Key), body(tt.change))
		b, err := io.ReadAll(resp.Body)
		kind := "audio/pcm"
		if tt.change["response_format"] == "wav" {
			var clip wav.Clip
			clip, err = wav.Decode(bytes.NewReader(b), 1<<20)
			kind, b = "audio/wav", loopbacktest.S16.Encode(clip.Samples)
		}
		if level := loopbacktest.Level(loopbacktest.S16.Decode(b)); err != nil || len(b) != 18*60*48 || math.Abs(level+15) > .5 || resp.Header.Get("Content-Type") != kind {
			t.Errorf("%v: %v, %d bytes at %v dBFS, %v", tt.change, err, len(b), level, resp.Header)
		}
		if b := s.Books(); b.Audio != 1080*ms || b.TokensOut != 0 {
			t.Errorf("%+v", b)
		}
	}
}

func TestClientsGoAway(t *testing.T) {
	for _, change := range []fieldsOf{nil, {"stream_format": nil}} {
		s := New(t, Script{Delays: patient})
		ctx, cancel := context.WithCancel(t.Context())
		resp := loopbacktest.Post(ctx, t, s.URL+"/v1/audio/speech", header(s.Key), body(change))
		if _, err := io.ReadFull(resp.Body, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		cancel()
		for s.Busy() > 0 {
			<-time.After(ms)
		}
		if b, all := s.Books(), s.Speeches(); b.Cancels != 1 || b.Audio > 80*ms || all[0].End != "cut" {
			t.Errorf("%+v, %+v", b, all)
		}
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestStreamFaults(t, 2, 16, 3000, "", func(f Fault) *http.Response {
		s := New(t, Script{Faults: []Fault{f}})
		return post(t, s, header(s.Key), body(nil))
	}, func(d data) bool { return d.Error != nil }, func(d data) bool { return d.Type == "speech.audio.done" })
	s := New(t, Script{Faults: []Fault{{AfterBytes: 5000}}})
	if b, err := io.ReadAll(post(t, s, header(s.Key), body(fieldsOf{"stream_format": nil})).Body); err == nil || len(b) != 5000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 10, Start, Script{Delays: patient}, func(s *Server, _ int) io.Closer {
		return post(t, s, header(s.Key), body(nil)).Body
	})
}

// TestGolden replays exchanges in the vendor's shapes: each request of the file, and what came back.
func TestGolden(t *testing.T) {
	loopbacktest.TestExchanges(t, New, header, map[string]Script{
		"events": {}, "refused": {Expects: []string{"0 characters"}, Faults: []Fault{{Connections: 1, Status: 503}}}})
}
