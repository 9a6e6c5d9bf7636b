package sonioxtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// isOurs says whether the body of a refusal is the vendor's.
func isOurs(resp *http.Response) bool {
	var body struct {
		Status  int `json:"status_code"`
		Message string
	}
	return json.NewDecoder(resp.Body).Decode(&body) == nil && body.Status == resp.StatusCode && body.Message != ""
}

func TestHandshakesAreRefused(t *testing.T) {
	refuses := loopbacktest.Refuses
	loopbacktest.TestHandshakesAreRefused(t, func(f []Fault) (*Server, error) { return Start(Script{Faults: f}) }, isOurs, []loopbacktest.Handshake{
		refuses(path, header("wrong"), 401, ""),
		refuses(path, nil, 401, "Authorization"),
		refuses(path, http.Header{"Authorization": {DefaultKey}}, 401, "Authorization"),
		refuses(path+"?api_key=x", header(DefaultKey), 400, "a query"),
	})
}

func TestHandshakesFail(t *testing.T) {
	s := New(t, Script{Sockets: 1, Faults: loopbacktest.Unavailable()})
	loopbacktest.HandshakesFail(t, s, path, header(s.Key), isOurs, func() {
		c := dial(t, s, start)
		c.Text(`{"type":"finalize"}`)
		c.Until("<fin>")
	}, func() {
		if m := dial(t, s, start).Closed(1000, ""); len(m) != 1 || m[0].Code != 429 || !strings.Contains(m[0].Error, "concurrent requests") {
			t.Errorf("a second request: %+v", m)
		}
	})
}

func TestConfigurationsAreRefused(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(start, from, to, 1) }
	for _, tt := range []struct{ first, says, noted string }{
		{"", "Start request is malformed.", "EOF"},
		{`[]`, "Start request is malformed.", "cannot unmarshal"},
		{with(`"enable_endpoints":true`), "Start request is malformed.", "unknown field"},
		{with(`"api_key":"x"`), "Start request is malformed.", "api_key"},
		{change("stt-rt-v5", "stt-async-v3"), "Invalid model specified.", "Invalid model"},
		{change(`"audio_format":"mulaw",`, ""), "Missing audio format.", "Missing audio format"},
		{change("mulaw", "auto"), "Invalid audio data format: auto", "auto"},
		{change(`"sample_rate":8000,`, ""), "Audio data sample rate must be specified", "sample rate"},
		{change(`"num_channels":1,`, ""), "Audio data channels must be specified", "channels"},
		{change(`"num_channels":1`, `"num_channels":2`), "Start request is malformed.", "2 channels"},
		{change(`"es"`, `"Spanish"`), "Invalid language hint.", "language hint"},
		{change(`"es"`, `"en"`), "Language hints must be unique.", "unique"},
		{with(`"max_endpoint_delay_ms":400`), "Start request is malformed.", "not in 500-3000"},
		{with(`"endpoint_sensitivity":2`), "Start request is malformed.", "not in -1-1"},
		{with(`"context":{"text":"` + strings.Repeat("x", 10001) + `"}`), "Context is too long", "Context is too long"},
		{with(`"client_reference_id":"` + strings.Repeat("x", 257) + `"`), "Client reference ID is too long", "reference"},
	} {
		s := New(t, Script{Expects: []string{tt.noted}})
		if m := dial(t, s, tt.first).Closed(1000, ""); len(m) != 1 || m[0].Code != 400 || !strings.HasPrefix(m[0].Error, tt.says) {
			t.Errorf("%.200s: %+v", tt.first, m)
		}
	}
	s := New(t, greeting)
	c := dial(t, s, with(`"language_hints_strict":true,"endpoint_sensitivity":-0.5,"endpoint_latency_adjustment_level":2,
		"context":{"general":[{"key":"domain","value":"hairdresser"}],"text":"A salon.","terms":["Ana"]},"client_reference_id":"call-1"`))
	c.Text(`{"type":"finalize"}`)
	c.Until("<fin>")
}

func TestMessagesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		kind              int
		data, says, noted string
	}{
		{websocket.TextMessage, `{`, "Control request is malformed.", "EOF"},
		{websocket.TextMessage, `{"type":"finalize","silence":1}`, "Control request is malformed.", "unknown field"},
		{websocket.TextMessage, `{"type":"Finalize"}`, "Control request invalid type.", "Finalize"},
		{websocket.BinaryMessage, "abc", "Audio decode error.", "3 bytes"},
	} {
		s := New(t, Script{Expects: []string{tt.noted}})
		c := dial(t, s, strings.Replace(start, "mulaw", "pcm_s16le", 1))
		if err := c.Conn.WriteMessage(tt.kind, []byte(tt.data)); err != nil {
			t.Fatal(err)
		}
		if m := c.Closed(1000, ""); len(m) != 1 || m[0].Code != 400 || m[0].Error != tt.says {
			t.Errorf("%s: %+v", tt.data, m)
		}
	}
	s := New(t, Script{Expects: []string{"must be a text message"}})
	c := loopbacktest.Dial[message](t, s, path, header(s.Key))
	c.Binary([]byte(start))
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1000, "")), "Start request must be a text message.")
}

func TestMistakesThatAreHeard(t *testing.T) {
	s := New(t, Script{Expects: []string{"a binary one", "after the empty one"}, Utterances: []Utterance{{Text: "Yes."}},
		Delays: Delays{Final: func() time.Duration { return 200 * ms }}})
	c := dial(t, s, start)
	c.Say(300 * ms)
	c.Binary([]byte(`{"type":"keepalive"}`))
	c.Binary(nil)
	c.Text(`{"type":"keepalive"}`) // while the last words are not due
	if list := c.Closed(1000, ""); loopbacktest.Shorts(list)[len(list)-1] != "finished" {
		t.Errorf("%q", loopbacktest.Shorts(list))
	}
}

func TestItWantsKeepalive(t *testing.T) {
	s := New(t, Script{Idle: 100 * ms, Expects: []string{"neither audio nor keepalive"}})
	c := dial(t, s, start)
	c.Text(`{"type":"keepalive"}`)
	if m := c.Closed(1000, ""); len(m) != 1 || m[0].Code != 408 {
		t.Errorf("%+v", m)
	}
	if n := s.Books().KeepAlives; n != 1 {
		t.Error(n)
	}
}

func TestFailures(t *testing.T) {
	for reason, want := range map[string]int{"": 503, "Cannot continue request (code 7).": 503, "408 Input too slow": 408} {
		s := New(t, Script{Utterances: greeting.Utterances, Faults: []Fault{{AfterMessages: 1, Then: loopbacktest.Fail, Reason: reason}}})
		c := dial(t, s, start)
		c.Binary(loopbacktest.Mulaw.Encode(loopbacktest.Tone(4000, 0, 8000, -20)))
		if m := c.Closed(1000, ""); len(m) != 2 || m[1].Code != want || m[1].Error == "" || !strings.HasSuffix(reason, m[1].Error) && reason != "" {
			t.Errorf("%q: %+v", reason, m)
		}
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 1, websocket.CloseNormalClosure, func(t *testing.T, f Fault) *websocket.Conn {
		c := dial(t, New(t, Script{Utterances: greeting.Utterances, Faults: []Fault{f}}), start)
		_ = c.Conn.WriteMessage(websocket.BinaryMessage, loopbacktest.Mulaw.Encode(loopbacktest.Tone(8000, 0, 8000, loopbacktest.Loud))) // it may be cut already
		return c.Conn
	})
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 20, Start, greeting, func(s *Server, _ int) io.Closer {
		c := dial(t, s, start)
		c.Say(500 * ms)
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	loopbacktest.TestReplays(t, New, header, loopbacktest.Recorded(loopbacktest.Mulaw), map[string]Script{"endpoints": greeting, "finalize": greeting})
}

func ExampleStart() {
	s, err := Start(Script{Utterances: []Utterance{{Text: "Hello."}}})
	if err != nil {
		return
	}
	defer s.Close()
	resp, err := http.Get(s.URL + path)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	fmt.Println(resp.StatusCode, s.Violations())
	// Output: 401 [Authorization is not Bearer KEY]
}
