package inktest

import (
	"encoding/json"
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
	var body message
	return json.NewDecoder(resp.Body).Decode(&body) == nil && body.Status == resp.StatusCode && body.Code != "" && body.Title != ""
}

func TestHandshakesAreRefused(t *testing.T) {
	refuses := loopbacktest.Refuses
	loopbacktest.TestHandshakesAreRefused(t, func(f []Fault) (*Server, error) { return Start(Script{Faults: f}) }, isOurs, []loopbacktest.Handshake{
		refuses(turnsPath, header("wrong"), 401, ""),
		refuses(plainPath, nil, 401, ""),
		refuses(plainPath, http.Header{"Authorization": {"Bearer " + DefaultKey}}, 400, "Cartesia-Version"),
		refuses(turnsPath+"&api_key=x", header(DefaultKey), 400, "unknown query parameter api_key"),
		refuses(turnsPath+"&language=en", header(DefaultKey), 400, "unknown query parameter language"),
		refuses(plainPath+"&keyterm=Ana", header(DefaultKey), 400, "unknown query parameter keyterm"),
		refuses(plainPath+"&language=es", header(DefaultKey), 400, "2 times"),
		refuses(strings.Replace(plainPath, "=en&", "=English&", 1), header(DefaultKey), 400, "language"),
		refuses(strings.Replace(strings.Replace(plainPath, "whisper", "2", 1), "=en&", "=es&", 1), header(DefaultKey), 400, "not supported by ink-2"),
		refuses(strings.Replace(plainPath, "mulaw", "opus", 1), header(DefaultKey), 400, "encoding"),
		refuses(strings.Replace(plainPath, "8000", "4000", 1), header(DefaultKey), 400, "sample_rate"),
		refuses(strings.Replace(plainPath, "model=ink-whisper&", "", 1), header(DefaultKey), 400, "model is required"),
		refuses(strings.Replace(turnsPath, "ink-2", "ink-whisper", 1), header(DefaultKey), 404, ""),
		refuses(turnsPath+strings.Repeat("&keyterm=a", 101), header(DefaultKey), 400, "101 terms"),
		refuses(turnsPath+"&keyterm="+strings.Repeat("a", 1201), header(DefaultKey), 400, "1 terms"),
		refuses(turnsPath+"&turn_start_threshold=.95", header(DefaultKey), 400, "not in 0.5-0.9"),
		refuses(turnsPath+"&turn_eager_end_threshold=.2", header(DefaultKey), 400, "not in 0.3-0.6"),
		refuses(turnsPath+"&turn_end_threshold=.6", header(DefaultKey), 400, "not in 0.05-0.5"),
		refuses(turnsPath+"&turn_end_threshold=.45", header(DefaultKey), 400, "below its eager end"),
		refuses(turnsPath+"&turn_end_timeout_ms=500", header(DefaultKey), 400, "not in 640-11200"),
	})
}

func TestHandshakesFail(t *testing.T) {
	s := New(t, Script{Sockets: 1, Faults: loopbacktest.Unavailable()})
	loopbacktest.HandshakesFail(t, s, plainPath, header(s.Key), isOurs, func() { dial(t, s, turnsPath).Until("connected") }, nil)
}

func TestMessagesAreRefused(t *testing.T) {
	for _, tt := range []struct{ path, message, says string }{
		{turnsPath, "finalize", "is not known"},
		{turnsPath, `{"type":"finalize"}`, "is not known"},
		{turnsPath, `{"type":"config","turn":{}}`, "is not known"},
		{plainPath, `{"type":"close"}`, "is not known"},
		{plainPath, "flush", "is not known"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		c := dial(t, s, tt.path)
		c.Text(tt.message)
		if list := c.Closed(1008, tt.says); list[len(list)-1].Type != "error" || list[len(list)-1].Status != 400 {
			t.Errorf("%s: %+v", tt.message, list)
		}
	}
	for _, path := range []string{turnsPath, plainPath} {
		s := New(t, Script{Expects: []string{"3 bytes", "a binary one", "after the one that closes"}, Utterances: []Utterance{{Text: "Yes."}},
			Delays: Delays{Final: func() time.Duration { return 200 * ms }}})
		c := dial(t, s, strings.Replace(path, "mulaw", "s16le", 1))
		c.Binary([]byte("abc"))
		c.Closed(1008, "3 bytes")
		c = dial(t, s, path)
		c.Say(300 * ms)
		c.Binary([]byte(`{"type":"close"}`))
		end := "close"
		if path == turnsPath {
			end = `{"type":"close"}`
		}
		c.Text(end)
		c.Text(end) // while the last words are not due
		c.Closed(1000, "")
	}
}

func TestIdle(t *testing.T) {
	s := New(t, Script{Idle: 100 * ms})
	dial(t, s, turnsPath).Closed(1000, "idle")
}

func TestEncodings(t *testing.T) {
	s := New(t, Script{Utterances: []Utterance{{Text: "Yes."}}})
	for name, coding := range codings {
		c := dial(t, s, strings.Replace(plainPath, "pcm_mulaw", name, 1))
		for m := range loopbacktest.Sound(coding, 300*ms, 100*ms, loopbacktest.Loud) {
			c.Binary(m)
		}
		c.Text("done")
		loopbacktest.Same(t, news(c.Closed(1000, "")), "final Yes.", "done")
	}
}

func TestFaults(t *testing.T) {
	for _, path := range []string{turnsPath, plainPath} {
		loopbacktest.TestFaults(t, 1, websocket.CloseInternalServerErr, func(t *testing.T, f Fault) *websocket.Conn {
			c := dial(t, New(t, Script{Utterances: booking.Utterances, Faults: []Fault{f}}), path)
			_ = c.Conn.WriteMessage(websocket.BinaryMessage, loopbacktest.Mulaw.Encode(loopbacktest.Tone(12000, 0, 8000, loopbacktest.Loud))) // it may be cut already
			return c.Conn
		})
	}
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 20, Start, booking, func(s *Server, i int) io.Closer {
		c := dial(t, s, []string{turnsPath, plainPath}[i%2])
		c.Say(500 * ms)
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	loopbacktest.TestReplays(t, New, header, loopbacktest.Recorded(loopbacktest.Mulaw), map[string]Script{"turns-pause": booking, "turns-close": booking, "plain": booking})
}
