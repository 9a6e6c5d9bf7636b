package inktest

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
		path   string
		header http.Header
		status int
		says   string // a violation
	}{
		{turnsPath, header("wrong"), 401, ""},
		{plainPath, nil, 401, ""},
		{plainPath, http.Header{"Authorization": {"Bearer " + DefaultKey}}, 400, "Cartesia-Version"},
		{turnsPath + "&api_key=x", header(DefaultKey), 400, "unknown query parameter api_key"},
		{turnsPath + "&language=en", header(DefaultKey), 400, "unknown query parameter language"},
		{plainPath + "&keyterm=Ana", header(DefaultKey), 400, "unknown query parameter keyterm"},
		{plainPath + "&language=es", header(DefaultKey), 400, "2 times"},
		{strings.Replace(plainPath, "=en&", "=English&", 1), header(DefaultKey), 400, "language"},
		{strings.Replace(strings.Replace(plainPath, "whisper", "2", 1), "=en&", "=es&", 1), header(DefaultKey), 400, "not supported by ink-2"},
		{strings.Replace(plainPath, "mulaw", "opus", 1), header(DefaultKey), 400, "encoding"},
		{strings.Replace(plainPath, "8000", "4000", 1), header(DefaultKey), 400, "sample_rate"},
		{strings.Replace(plainPath, "model=ink-whisper&", "", 1), header(DefaultKey), 400, "model is required"},
		{strings.Replace(turnsPath, "ink-2", "ink-whisper", 1), header(DefaultKey), 404, ""},
		{turnsPath + strings.Repeat("&keyterm=a", 101), header(DefaultKey), 400, "101 terms"},
		{turnsPath + "&keyterm=" + strings.Repeat("a", 1201), header(DefaultKey), 400, "1 terms"},
		{turnsPath + "&turn_start_threshold=.95", header(DefaultKey), 400, "not in 0.5-0.9"},
		{turnsPath + "&turn_eager_end_threshold=.2", header(DefaultKey), 400, "not in 0.3-0.6"},
		{turnsPath + "&turn_end_threshold=.6", header(DefaultKey), 400, "not in 0.05-0.5"},
		{turnsPath + "&turn_end_threshold=.45", header(DefaultKey), 400, "below its eager end"},
		{turnsPath + "&turn_end_timeout_ms=500", header(DefaultKey), 400, "not in 640-11200"},
	} {
		s, err := Start(Script{})
		if err != nil {
			t.Fatal(err)
		}
		resp := loopbacktest.Refused(t, s.Server, tt.path, tt.header)
		s.Close()
		violations := strings.Join(s.Violations(), "\n")
		var body message
		if resp.StatusCode != tt.status || !strings.Contains(violations, tt.says) || tt.says == "" && violations != "" ||
			json.NewDecoder(resp.Body).Decode(&body) != nil || body.Status != tt.status || body.Code == "" || body.Title == "" {
			t.Errorf("%s: %d, %q, %+v", tt.path, resp.StatusCode, violations, body)
		}
	}
}

func TestHandshakesFail(t *testing.T) {
	s := New(t, Script{Sockets: 1, Faults: []Fault{{Connections: 1, Status: 429, RetryAfter: 1500 * ms}, {Connections: 1, Status: 503}}})
	for _, want := range []int{429, 503} {
		if resp := loopbacktest.Refused(t, s.Server, turnsPath, header(s.Key)); resp.StatusCode != want || want == 429 && resp.Header.Get("Retry-After") != "2" {
			t.Errorf("%d, %v", resp.StatusCode, resp.Header)
		}
	}
	dial(t, s, turnsPath).Until("connected")
	if resp := loopbacktest.Refused(t, s.Server, plainPath, header(s.Key)); resp.StatusCode != 429 {
		t.Error(resp.StatusCode)
	}
	if b := s.Books(); b.Attempts != 4 || b.Opened != 1 || s.Busy() != 1 {
		t.Errorf("%+v, %d busy", b, s.Busy())
	}
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
		c.say(300 * ms)
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
	loopbacktest.NothingIsLeft(t, func() {
		s, err := Start(booking)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			c := dial(t, s, []string{turnsPath, plainPath}[i%2])
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
	for _, name := range []string{"turns-pause", "turns-close", "plain"} {
		t.Run(name, func(t *testing.T) {
			s := New(t, booking)
			loopbacktest.Replay(t, "testdata/"+name+".jsonl", s.URL, header(s.Key), loopbacktest.Recorded(loopbacktest.Mulaw))
		})
	}
}
