package deepgramtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// isOurs says whether the body of a refusal is the vendor's, who has none for an address that does not exist.
func isOurs(resp *http.Response) bool {
	var body struct {
		Code string `json:"err_code"`
	}
	return resp.StatusCode == 404 || json.NewDecoder(resp.Body).Decode(&body) == nil && body.Code != "" && resp.Header.Get("dg-request-id") != ""
}

func TestHandshakesAreRefused(t *testing.T) {
	refuses := loopbacktest.Refuses
	loopbacktest.TestHandshakesAreRefused(t, func(f []Fault) (*Server, error) { return Start(Script{Faults: f}) }, isOurs, []loopbacktest.Handshake{
		refuses(novaPath, header("wrong"), 401, ""),
		refuses(novaPath, nil, 401, "Authorization"),
		refuses(novaPath, http.Header{"Authorization": {"Bearer " + DefaultKey}}, 401, "Authorization"),
		refuses("/v1/listen?model=nova-3&encoding=pcm&sample_rate=8000", header(DefaultKey), 400, "encoding"),
		refuses("/v1/listen?model=nova-3&encoding=mulaw", header(DefaultKey), 400, "sample_rate"),
		refuses("/v1/listen?model=base&encoding=mulaw&sample_rate=8000", header(DefaultKey), 400, "model"),
		refuses(novaPath+"&utterance_end_ms=500", header(DefaultKey), 400, "utterance_end_ms"),
		refuses(novaPath+"&smart_format=1", header(DefaultKey), 400, "smart_format"),
		refuses(novaPath+"&endpoint=300", header(DefaultKey), 400, "endpoint"),
		refuses("/v2/listen?model=nova-3&encoding=mulaw&sample_rate=8000", header(DefaultKey), 400, "model"),
		refuses(fluxPath+"&interim_results=true", header(DefaultKey), 400, "interim_results"),
		refuses(fluxPath+"&eot_threshold=.4", header(DefaultKey), 400, "eot_threshold"),
		refuses(fluxPath+"&eot_threshold=.35", header(DefaultKey), 400, "eot_threshold"),
		refuses(fluxPath+"&eot_timeout_ms=400", header(DefaultKey), 400, "eot_timeout_ms"),
		refuses(fluxPath+"&language_hint=es", header(DefaultKey), 400, "language_hint"),
		refuses("/v3/listen", header(DefaultKey), 404, ""),
	})
}

func TestHandshakesFail(t *testing.T) {
	s := New(t, Script{Sockets: 1, Faults: loopbacktest.Unavailable()})
	loopbacktest.HandshakesFail(t, s, fluxPath, header(s.Key), isOurs, func() { dial(t, s, fluxPath).Until("Connected") }, nil)
	if q := s.Books().Query; q.Get("model") != "flux-general-en" {
		t.Errorf("%v", q)
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
	c.Say(2 * time.Second)
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
	c.Say(2400 * ms)
	c.Hush(500 * ms)
	c.Until("EndOfTurn")
	if took := time.Since(begun); took < 120*ms {
		t.Errorf("the end came after %v", took)
	}
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 20, Start, booking, func(s *Server, i int) io.Closer {
		c := dial(t, s, []string{novaPath, fluxPath}[i%2])
		c.Say(500 * ms)
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	loopbacktest.TestReplays(t, New, header, loopbacktest.Recorded(loopbacktest.Mulaw), map[string]Script{
		"flux-pause":    booking,
		"flux-forced":   booking,
		"nova-endpoint": {Utterances: []Utterance{{Text: "Good morning, Ana.", Length: 900 * ms}}},
		"nova-finalize": {Utterances: []Utterance{{Text: "one two three four", Length: 1200 * ms}}},
	})
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
