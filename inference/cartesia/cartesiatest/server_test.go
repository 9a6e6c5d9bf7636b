package cartesiatest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

func TestHandshakesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		header http.Header
		faults []Fault
		status int
		says   string
	}{
		{header: http.Header{}, status: 401},
		{header: header("wrong"), status: 401},
		{header: http.Header{"Authorization": {"Bearer " + DefaultKey}}, status: 400, says: "Cartesia-Version"},
		{header: header(DefaultKey), faults: []Fault{{Status: 429, RetryAfter: 3 * time.Second}}, status: 429},
		{header: header(DefaultKey), faults: []Fault{{Status: 402}}, status: 402},
	} {
		s, err := Start(Script{Faults: tt.faults})
		if err != nil {
			t.Fatal(err)
		}
		resp := loopbacktest.Refused(t, s.Server, path, tt.header)
		s.Close()
		if resp.StatusCode != tt.status || !strings.Contains(strings.Join(s.Violations(), ""), tt.says) {
			t.Errorf("%v: %v, %q", tt, resp, s.Violations())
			continue
		}
		var body struct {
			Code string `json:"error_code"`
		}
		if json.NewDecoder(resp.Body).Decode(&body) != nil || body.Code == "" {
			t.Errorf("%d has no body of the vendor's", resp.StatusCode)
		}
	}
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
	loopbacktest.NothingIsLeft(t, func() {
		s, err := Start(Script{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			c := dial(t, s)
			c.send("c1", "Hello there.", i%2 == 0, nil)
			if i%3 == 0 {
				c.Conn.Close()
			}
		}
		s.Close()
		if b := s.Books(); b.Opened != 10 || b.Open != 0 {
			t.Errorf("%+v", b)
		}
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	for name, script := range map[string]Script{
		"two-sentences": {},
		"cancel":        {Endings: Endings{DoneAfterCancel: true}, Delays: Delays{Chunk: func() time.Duration { return time.Hour }}, LateChunks: 1},
		"refused":       {Expects: []string{"changed within it", "after continue: false"}, Delays: Delays{FirstAudio: func() time.Duration { return time.Hour }}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t, script)
			loopbacktest.Replay(t, "testdata/"+name+".jsonl", s.URL, header(s.Key), nil)
		})
	}
}
