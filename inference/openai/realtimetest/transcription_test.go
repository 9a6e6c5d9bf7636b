package realtimetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// isOurs says whether the body of a refusal is the vendor's.
func isOurs(resp *http.Response) bool {
	var body struct {
		Error struct{ Type, Code, Message string }
	}
	return json.NewDecoder(resp.Body).Decode(&body) == nil && body.Error.Code != "" && body.Error.Message != "" && resp.Header.Get("x-request-id") != ""
}

func TestHandshakesAreRefused(t *testing.T) {
	refuses := loopbacktest.Refuses
	loopbacktest.TestHandshakesAreRefused(t, func(f []Fault) (*Transcription, error) { return StartTranscription(TranscriptionScript{Faults: f}) }, isOurs, []loopbacktest.Handshake{
		refuses(path, header("wrong"), 401, ""),
		refuses(path, nil, 401, "Authorization"),
		refuses(path, http.Header{"Authorization": {"Token " + DefaultKey}}, 401, "Authorization"),
		refuses(path+"&language=en", header(DefaultKey), 400, "language"),
		refuses(path+"&intent=transcription", header(DefaultKey), 400, "2 times"),
	})
}

func TestSessionsAreRefused(t *testing.T) {
	beta := header(DefaultKey)
	beta.Set("OpenAI-Beta", "realtime=v1")
	for _, tt := range []struct {
		path   string
		header http.Header
		code   string
		says   string // a violation
	}{
		{path + "&model=gpt-4o-transcribe", header(DefaultKey), "invalid_model", "must not provide a model"},
		{"/v1/realtime", header(DefaultKey), "missing_model", "must provide a model"},
		{path, beta, "beta_api_shape_disabled", "Beta"},
	} {
		s := NewTranscription(t, TranscriptionScript{Expects: []string{tt.says}})
		loopbacktest.Same(t, loopbacktest.Shorts(dial(t, s.server, tt.path, tt.header).Closed(4000, "invalid_request_error."+tt.code)), "error "+tt.code)
	}
}

func TestHandshakesFail(t *testing.T) {
	s := NewTranscription(t, TranscriptionScript{Sockets: 1, Faults: loopbacktest.Unavailable()})
	loopbacktest.HandshakesFail(t, s, path, header(s.Key), isOurs, func() { dial(t, s.server, path, header(s.Key)).Until("session.created") }, nil)
	if q := s.Books().Query; q.Get("intent") != "transcription" {
		t.Errorf("%v", q)
	}
}

// TestUpdates: what an update changes, and what it cannot.
func TestUpdates(t *testing.T) {
	s := NewTranscription(t, greeting)
	c := dial(t, s.server, path, header(s.Key))
	if m := c.Until("session.created")[0]; m.Session.ID == "" || m.Session.Type != "transcription" || m.Session.Audio.Input.Format.Rate != 24000 || m.Session.Audio.Input.Detection == nil {
		t.Errorf("%+v", m)
	}
	c.Text(`{"type":"session.update","session":{"type":"transcription","audio":{"input":{"transcription":{"model":"gpt-live-transcribe","languages":["en","es"],"keywords":["Ana"]},
		"turn_detection":null,"noise_reduction":{"type":"near_field"}}}}}`)
	if m := c.Until("session.updated")[0]; m.Session.Audio.Input.Format.Type != "audio/pcm" || m.Session.Audio.Input.Detection != nil {
		t.Errorf("%+v", m)
	}
	c.Text(`{"type":"session.update","session":{"type":"transcription","audio":{"input":{"turn_detection":{"type":"server_vad","silence_duration_ms":250}}}}}`)
	if m := c.Until("session.updated")[0]; *m.Session.Audio.Input.Detection.Silence != 250 || *m.Session.Audio.Input.Detection.Padding != 300 {
		t.Errorf("%+v", m)
	}
}

func TestEventsAreRefused(t *testing.T) {
	session := func(input string) string {
		return `{"type":"session.update","session":{"type":"transcription","audio":{"input":` + input + `}}}`
	}
	with := func(transcription string) string {
		return session(`{"turn_detection":null,"transcription":{` + transcription + `}}`)
	}
	for _, tt := range []struct{ event, code, says string }{
		{`{`, "invalid_json", "not JSON"},
		{`{"type":"response.create"}`, "invalid_value", "Invalid value: 'response.create'"},
		{`{"type":"transcription_session.update"}`, "invalid_value", "Invalid value"},
		{`{"type":"input_audio_buffer.append","audio":"AAAA"}`, "invalid_state", "session.update comes first"},
		{`{"type":"session.update","session":{"type":"realtime"}}`, "invalid_parameter", "Passing a realtime session"},
		{`{"type":"session.update","session":{"type":"transcription","model":"x"}}`, "unknown_parameter", "Unknown parameter: 'model'"},
		{session(`{"format":{"type":"pcm16"}}`), "invalid_value", "'audio/pcm', 'audio/pcma', 'audio/pcmu'"},
		{session(`{"format":{"type":"audio/pcm","rate":16000}}`), "invalid_value", "Invalid rate for audio/pcm: 16000"},
		{session(`{"format":{"type":"audio/pcmu","rate":8000}}`), "invalid_value", "Invalid rate for audio/pcmu"},
		{session(`{"turn_detection":{"type":"client_vad"}}`), "invalid_value", "'server_vad', 'semantic_vad'"},
		{session(`{"turn_detection":{"type":"semantic_vad","threshold":0.5}}`), "invalid_value", "the other type"},
		{session(`{"turn_detection":{"type":"server_vad","create_response":true}}`), "invalid_value", "no responses"},
		{session(`{"turn_detection":{"type":"server_vad","threshold":2}}`), "invalid_value", "not in 0-1"},
		{session(`{"noise_reduction":{"type":"car"}}`), "invalid_value", "'car'"},
		{session(`{}`), "missing_required_parameter", "audio.input.transcription"},
		{with(`"model":"whisper-2"`), "invalid_model", "not supported in transcription mode"},
		{with(`"model":"whisper-1","keywords":["Ana"]`), "invalid_value", "keywords"},
		{with(`"model":"gpt-transcribe","languages":["en"]`), "invalid_value", "languages"},
		{with(`"model":"gpt-realtime-whisper","prompt":"x"`), "invalid_value", "prompt"},
		{with(`"model":"gpt-realtime-whisper","delay":"none"`), "invalid_value", "delay"},
		{session(`{"turn_detection":{"type":"server_vad"},"transcription":{"model":"gpt-realtime-whisper"}}`), "invalid_value", "must be null"},
	} {
		s := NewTranscription(t, TranscriptionScript{Expects: []string{tt.says}})
		c := dial(t, s.server, path, header(s.Key))
		c.Text(tt.event)
		c.Text(with(`"model":"gpt-realtime-whisper","delay":"low"`)) // the session goes on
		list := c.Until("session.updated")
		if len(list) != 3 || list[1].Error.Code != tt.code || !strings.Contains(list[1].Error.Message, tt.says) {
			t.Errorf("%s: %q, %+v", tt.event, loopbacktest.Shorts(list), list[1].Error)
		}
	}
}

func TestAudioIsRefused(t *testing.T) {
	s := NewTranscription(t, TranscriptionScript{Expects: []string{"Expected base64", "Expected a non-empty value", "no whole samples", "cannot change", "Binary messages", "Unknown parameter: 'final'"}})
	c := dial(t, s.server, path, header(s.Key))
	c.Text(`{"type":"session.update","session":{"type":"transcription","audio":{"input":{"transcription":{"model":"gpt-transcribe"}}}}}`)
	c.Text(`{"type":"input_audio_buffer.append","audio":"µ"}`)
	c.Text(`{"type":"input_audio_buffer.append","audio":""}`)
	c.Text(`{"type":"input_audio_buffer.append","audio":"AAAA"}`)
	c.Text(configuration("gpt-transcribe", "null"))
	c.Text(`{"type":"input_audio_buffer.commit","final":true}`)
	if err := c.Conn.WriteMessage(websocket.BinaryMessage, make([]byte, 960)); err != nil {
		t.Fatal(err)
	}
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("error invalid_message")), "session.created", "session.updated", "error invalid_value", "error invalid_value",
		"error invalid_value", "error invalid_value", "error unknown_parameter", "error invalid_message")
	if b := s.Books(); b.Audio != 0 {
		t.Errorf("%v was heard", b.Audio)
	}
}

func TestSessionsExpire(t *testing.T) {
	for _, script := range []TranscriptionScript{
		{Faults: []Fault{{AfterMessages: 1, Then: loopbacktest.Fail, Reason: "session_expired"}}},
		{Lifetime: 50 * ms},
	} {
		s := NewTranscription(t, script)
		list := dial(t, s.server, path, header(s.Key)).Closed(1001, "Your session hit the maximum duration of 60 minutes.")
		loopbacktest.Same(t, loopbacktest.Shorts(list), "session.created", "error session_expired")
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 2, 1011, func(t *testing.T, f Fault) *websocket.Conn {
		script := greeting
		script.Faults = []Fault{f}
		return play(t, NewTranscription(t, script).server, path, configuration(live, "null"), string(golden(8000, loopbacktest.Loud)))
	})
}

// play sends messages, of which the connection may have been cut already.
func play(t *testing.T, s *server, path string, messages ...string) *websocket.Conn {
	t.Helper()
	c := dial(t, s, path, header(s.Key))
	for _, m := range messages {
		_ = c.Conn.WriteMessage(websocket.TextMessage, []byte(m))
	}
	return c.Conn
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 20, StartTranscription, greeting, func(s *Transcription, i int) io.Closer {
		c := configured(t, s.server, []string{live, "whisper-1"}[i%2], "null")
		c.Say(500 * ms)
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	loopbacktest.TestReplays(t, NewTranscription, header, golden, map[string]TranscriptionScript{"manual": greeting, "server-vad": greeting})
}

func ExampleStartTranscription() {
	s, err := StartTranscription(TranscriptionScript{Utterances: []Utterance{{Text: "Hello."}}})
	if err != nil {
		return
	}
	defer s.Close()
	resp, err := http.Get(s.URL + "/v1/realtime?intent=transcription")
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	fmt.Println(resp.StatusCode, s.Violations())
	// Output: 401 [Authorization is not Bearer KEY]
}
