package deepgramtest

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

func TestHandshakesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		path   string
		header http.Header
		status int
		says   string // a violation
	}{
		{novaPath, header("wrong"), 401, ""},
		{novaPath, nil, 401, "Authorization"},
		{novaPath, http.Header{"Authorization": {"Bearer " + DefaultKey}}, 401, "Authorization"},
		{"/v1/listen?model=nova-3&encoding=pcm&sample_rate=8000", header(DefaultKey), 400, "encoding"},
		{"/v1/listen?model=nova-3&encoding=mulaw", header(DefaultKey), 400, "sample_rate"},
		{"/v1/listen?model=base&encoding=mulaw&sample_rate=8000", header(DefaultKey), 400, "model"},
		{novaPath + "&utterance_end_ms=500", header(DefaultKey), 400, "utterance_end_ms"},
		{novaPath + "&smart_format=1", header(DefaultKey), 400, "smart_format"},
		{novaPath + "&endpoint=300", header(DefaultKey), 400, "endpoint"},
		{"/v2/listen?model=nova-3&encoding=mulaw&sample_rate=8000", header(DefaultKey), 400, "model"},
		{fluxPath + "&interim_results=true", header(DefaultKey), 400, "interim_results"},
		{fluxPath + "&eot_threshold=.4", header(DefaultKey), 400, "eot_threshold"},
		{fluxPath + "&eot_threshold=.35", header(DefaultKey), 400, "eot_threshold"},
		{fluxPath + "&eot_timeout_ms=400", header(DefaultKey), 400, "eot_timeout_ms"},
		{fluxPath + "&language_hint=es", header(DefaultKey), 400, "language_hint"},
		{"/v3/listen", header(DefaultKey), 404, ""},
	} {
		s, err := Start(Script{})
		if err != nil {
			t.Fatal(err)
		}
		resp := loopbacktest.Refused(t, s.Server, tt.path, tt.header)
		s.Close()
		violations := strings.Join(s.Violations(), "\n")
		if resp.StatusCode != tt.status || !strings.Contains(violations, tt.says) || tt.says == "" && violations != "" {
			t.Errorf("%s: %d, %q", tt.path, resp.StatusCode, violations)
		}
		var body struct {
			Code string `json:"err_code"`
		}
		if tt.status != 404 && (json.NewDecoder(resp.Body).Decode(&body) != nil || body.Code == "" || resp.Header.Get("dg-request-id") == "") {
			t.Errorf("%s: no body of the vendor's", tt.path)
		}
	}
}

func TestHandshakesFail(t *testing.T) {
	s := New(t, Script{Sockets: 1, Faults: []Fault{{Connections: 2, Status: 429, RetryAfter: 1500 * ms}, {Connections: 1, Status: 503}}})
	for _, want := range []int{429, 429, 503} {
		if resp := loopbacktest.Refused(t, s.Server, fluxPath, header(s.Key)); resp.StatusCode != want || want == 429 && resp.Header.Get("Retry-After") != "2" {
			t.Errorf("%d, %v", resp.StatusCode, resp.Header)
		}
	}
	dial(t, s, fluxPath).Until("Connected")
	if resp := loopbacktest.Refused(t, s.Server, fluxPath, header(s.Key)); resp.StatusCode != 429 {
		t.Errorf("a second socket: %d", resp.StatusCode)
	}
	if b := s.Books(); b.Attempts != 5 || b.Opened != 1 || b.Open != 1 || s.Busy() != 1 || b.Query.Get("model") != "flux-general-en" {
		t.Errorf("%+v", b)
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 2, websocket.CloseInternalServerErr, func(t *testing.T, f Fault) *websocket.Conn {
		c := dial(t, New(t, Script{Utterances: booking.Utterances, Faults: []Fault{f}}), fluxPath)
		c.burst(time.Second)
		return c.Conn
	})
}

func TestStall(t *testing.T) {
	s := New(t, Script{Utterances: booking.Utterances, Faults: []Fault{{Then: loopbacktest.Stall, AfterMessages: 1}}})
	c := dial(t, s, fluxPath)
	c.Until("Connected")
	c.say(2 * time.Second)
	_ = c.Conn.SetReadDeadline(time.Now().Add(100 * ms))
	if _, data, err := c.Conn.ReadMessage(); err == nil {
		t.Errorf("%s", data)
	}
	if s.Busy() != 1 {
		t.Error("the stream has ended")
	}
}

// TestDelays: words and ends wait for the script, in order.
func TestDelays(t *testing.T) {
	script := booking
	script.Delays = Delays{Word: func() time.Duration { return 5 * ms }, Final: func() time.Duration { return 120 * ms }}
	s := New(t, script)
	c := dial(t, s, fluxPath)
	begun := time.Now()
	c.say(2400 * ms)
	c.hush(500 * ms)
	c.Until("EndOfTurn")
	if took := time.Since(begun); took < 120*ms {
		t.Errorf("the end came after %v", took)
	}
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.NothingIsLeft(t, func() {
		s, err := Start(booking)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			c := dial(t, s, []string{novaPath, fluxPath}[i%2])
			c.say(500 * ms)
			if i%4 < 2 {
				c.Conn.Close()
			}
		}
		s.Close()
		s.Close()
		if b := s.Books(); b.Opened != 20 || b.Open != 0 || b.OpenTime == 0 || s.Busy() != 0 {
			t.Errorf("%+v, %d busy", b, s.Busy())
		}
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	for name, script := range map[string]Script{
		"flux-pause":    booking,
		"flux-forced":   booking,
		"nova-endpoint": {Utterances: []Utterance{{Text: "Good morning, Ana.", Length: 900 * ms}}},
		"nova-finalize": {Utterances: []Utterance{{Text: "one two three four", Length: 1200 * ms}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t, script)
			loopbacktest.Replay(t, "testdata/"+name+".jsonl", s.URL, header(s.Key), loopbacktest.Recorded(loopbacktest.Mulaw))
		})
	}
}

func ExampleStart() {
	s, err := Start(Script{Utterances: []Utterance{{Text: "Hello."}}})
	if err != nil {
		return
	}
	defer s.Close()
	resp, err := http.Get(s.URL + "/v2/listen")
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	fmt.Println(resp.StatusCode, s.Violations())
	// Output: 401 [Authorization is not Token KEY]
}
