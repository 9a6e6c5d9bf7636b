package cartesiatest

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// isOurs says whether the body of a refusal is the vendor's.
func isOurs(resp *http.Response) bool {
	var body struct {
		Code string `json:"error_code"`
	}
	return json.NewDecoder(resp.Body).Decode(&body) == nil && body.Code != ""
}

func TestHandshakesAreRefused(t *testing.T) {
	refuses := loopbacktest.Refuses
	loopbacktest.TestHandshakesAreRefused(t, func(f []Fault) (*Server, error) { return Start(Script{Faults: f}) }, isOurs, []loopbacktest.Handshake{
		refuses(path, http.Header{}, 401, ""),
		refuses(path, header("wrong"), 401, ""),
		refuses(path, http.Header{"Authorization": {"Bearer " + DefaultKey}}, 400, "Cartesia-Version"),
		refuses(path, header(DefaultKey), 429, "", Fault{Status: 429, RetryAfter: 3 * time.Second}),
		refuses(path, header(DefaultKey), 402, "", Fault{Status: 402}),
	})
}

func TestRequestsAreRefused(t *testing.T) {
	format := func(encoding string, rate int) fieldsOf {
		return fieldsOf{"output_format": map[string]any{"container": "raw", "encoding": encoding, "sample_rate": rate}}
	}
	for _, tt := range []struct {
		change  fieldsOf
		status  int
		message string
	}{
		{fieldsOf{"context_id": nil}, 400, "context_id"},
		{fieldsOf{"model_id": nil}, 400, "model_id"},
		{fieldsOf{"transcript": nil}, 400, "transcript"},
		{fieldsOf{"transcript": ""}, 400, "transcript"},
		{fieldsOf{"voice": DefaultVoice}, 400, "JSON"},
		{fieldsOf{"voice": map[string]any{"id": DefaultVoice}}, 400, "voice"},
		{fieldsOf{"language": "english"}, 400, "language"},
		{fieldsOf{"output_format": map[string]any{"container": "wav", "encoding": "pcm_s16le", "sample_rate": 8000}}, 400, "container"},
		{format("mulaw", 8000), 400, "encoding"},
		{format("pcm_mulaw", 8001), 400, "sample_rate"},
		{fieldsOf{"max_buffer_delay_ms": 5001}, 400, "max_buffer_delay_ms"},
		{fieldsOf{"generation_config": map[string]any{"speed": 2}}, 400, "speed"},
		{fieldsOf{"voice": map[string]any{"mode": "id", "id": "nobody"}}, 404, "voice not found"},
		{fieldsOf{"model_id": "aura"}, 404, "model not found"},
	} {
		var expects []string
		if tt.status == 400 {
			expects = []string{tt.message}
		}
		s := New(t, Script{Expects: expects})
		c := dial(t, s)
		c.send("c1", "Hello.", false, tt.change)
		failed(t, c, tt.status, tt.message)
		if s.Busy() != 0 || s.Books().Requests != 0 {
			t.Errorf("%v was accepted", tt.change)
		}
	}
}

func TestMistakesWithinAContext(t *testing.T) {
	s := New(t, Script{Expects: []string{"language, add_timestamps changed", "after continue: false", "without a space", "unknown field speed", "binary", "JSON"},
		Delays: Delays{FirstAudio: func() time.Duration { return time.Hour }}})
	c := dial(t, s)
	c.send("c1", "Hello.", true, nil)
	c.send("c1", "Hello.", true, fieldsOf{"language": "es", "add_timestamps": nil})
	failed(t, c, 400, "changed")
	c.send("c1", "Again.", false, nil)
	c.send("c1", "More.", false, nil)
	failed(t, c, 400, "after continue: false")
	c.send("c2", "Hello.", true, fieldsOf{"speed": 1})
	c.Binary([]byte("{}"))
	failed(t, c, 400, "binary")
	c.Text("{")
	failed(t, c, 400, "JSON")
}

func TestIdleSocketsClose(t *testing.T) {
	s := New(t, Script{Idle: 50 * ms})
	c := dial(t, s)
	c.send("c1", "Hello.", false, nil)
	list := c.Closed(1000, "")
	if len(list) == 0 || list[len(list)-1].Type != "done" {
		t.Errorf("%+v", list)
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 3, websocket.CloseInternalServerErr, func(t *testing.T, f Fault) *websocket.Conn {
		s := New(t, Script{Faults: []Fault{f}})
		c := dial(t, s)
		c.send("c1", "A long sentence, spoken.", false, nil)
		return c.Conn
	})
}

// TestStall: what is not sent counts as in progress.
func TestStall(t *testing.T) {
	s := New(t, Script{Faults: []Fault{{Then: loopbacktest.Stall, AfterMessages: 1}}})
	c := dial(t, s)
	c.send("c1", "Hello.", false, nil)
	c.Until("chunk")
	_ = c.Conn.SetReadDeadline(time.Now().Add(50 * ms))
	if _, data, err := c.Conn.ReadMessage(); err == nil || s.Busy() != 1 {
		t.Errorf("%s, %d busy", data, s.Busy())
	}
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 10, Start, Script{}, func(s *Server, i int) io.Closer {
		c := dial(t, s)
		c.send("c1", "Hello there.", i%2 == 0, nil)
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	loopbacktest.TestReplays(t, New, header, nil, map[string]Script{
		"two-sentences": {},
		"cancel":        {Endings: Endings{DoneAfterCancel: true}, Delays: Delays{Chunk: func() time.Duration { return time.Hour }}, LateChunks: 1},
		"refused":       {Expects: []string{"changed within it", "after continue: false"}, Delays: Delays{FirstAudio: func() time.Duration { return time.Hour }}},
	})
}
