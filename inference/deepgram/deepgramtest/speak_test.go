package deepgramtest

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

const (
	auraPath  = "/v1/speak?model=aura-2-thalia-en&encoding=linear16&sample_rate=8000"
	turnsPath = "/v2/speak?model=flux-haley-en&encoding=linear16&sample_rate=8000"
)

// listener is a raw client of a voice.
type listener struct {
	client
	t *testing.T
}

// spoken is any message of a voice.
type spoken struct {
	Type, Code, Description string
	WarnCode                string `json:"warn_code"`
	Sequence                *int   `json:"sequence_id"`
	Speech                  string `json:"speech_id"`
	Length                  int    `json:"audio_duration_ms"`
	Input                   int    `json:"input_character_count"`
	Billable                int    `json:"billable_character_count"`
	Played                  *int   `json:"audio_played_ms"`
	Said                    string `json:"text_spoken"`
	Remaining               string `json:"text_remaining"`
	TotalLength             int    `json:"total_audio_duration_ms"`
	TotalBillable           int    `json:"total_billable_character_count"`
	Applied                 struct{ Speed float64 }
	Metadata                struct {
		Speech string `json:"speech_id"`
		Length int    `json:"audio_duration_ms"`
	}

	audio []byte
}

func listen(t *testing.T, s *Server, path string) *listener {
	t.Helper()
	return &listener{dial(t, s, path), t}
}

func (l *listener) speak(text string) {
	l.t.Helper()
	l.JSON(map[string]string{"type": "Speak", "text": text})
}

func (l *listener) order(typ string) {
	l.t.Helper()
	l.Text(`{"type":"` + typ + `"}`)
}

func (l *listener) read() (m spoken, err error) {
	_ = l.Conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	kind, data, err := l.Conn.ReadMessage()
	if err != nil {
		return m, err
	}
	if kind == websocket.BinaryMessage {
		return spoken{Type: "audio", audio: data}, nil
	}
	return m, json.Unmarshal(data, &m)
}

// until reads until a message of the type, and returns it with those before it.
func (l *listener) until(typ string) (list []spoken) {
	l.t.Helper()
	for {
		m, err := l.read()
		if err != nil {
			l.t.Fatalf("%v after %q", err, types(list))
		}
		if list = append(list, m); m.Type == typ {
			return list
		}
	}
}

// closed reads to the end, which must be a close frame, and returns what came before.
func (l *listener) closed(code int) (list []spoken) {
	l.t.Helper()
	for {
		m, err := l.read()
		var end *websocket.CloseError
		if errors.As(err, &end) && end.Code == code {
			return list
		}
		if err != nil {
			l.t.Fatalf("%v, want close %d", err, code)
		}
		list = append(list, m)
	}
}

// types are those of messages, audio in a row counted once.
func types(list []spoken) (names []string) {
	for _, m := range list {
		names = append(names, m.Type)
	}
	return slices.CompactFunc(names, func(a, b string) bool { return a == "audio" && b == "audio" })
}

// heard16 is the audio of messages in ms, at 16 bits and 8 kHz.
func heard16(list []spoken) (ms int) {
	for _, m := range list {
		ms += len(m.audio)
	}
	return ms / 16
}

// patient speaks its first chunk, and another one after an hour.
func patient() VoiceDelays {
	return VoiceDelays{Chunk: func() time.Duration { return time.Hour }}
}

func TestVoicesRefuseHandshakes(t *testing.T) {
	refuses := loopbacktest.Refuses
	loopbacktest.TestHandshakesAreRefused(t, func(f []Fault) (*Server, error) { return Start(Script{Faults: f}) }, isOurs, []loopbacktest.Handshake{
		refuses(auraPath+"&container=wav", header(DefaultKey), 400, "unknown query parameter container"),
		refuses(auraPath+"&speed=1", header(DefaultKey), 400, "unknown query parameter speed"),
		refuses(auraPath+"&mip_opt_out=1", header(DefaultKey), 400, "mip_opt_out"),
		refuses(strings.Replace(auraPath, "aura-2-thalia-en", "flux-haley-en", 1), header(DefaultKey), 400, "model"),
		refuses(strings.Replace(auraPath, "8000", "44100", 1), header(DefaultKey), 400, "sample_rate"),
		refuses(strings.Replace(auraPath, "linear16", "mp3", 1), header(DefaultKey), 400, "encoding"),
		refuses(strings.Replace(auraPath, "linear16&sample_rate=8000", "mulaw&sample_rate=24000", 1), header(DefaultKey), 400, "sample_rate"),
		refuses(strings.Replace(turnsPath, "flux-haley-en", "aura-2-thalia-en", 1), header(DefaultKey), 400, "model"),
		refuses(turnsPath+"&speed=1.6", header(DefaultKey), 400, "speed"),
		refuses(turnsPath+"&speed=1.01", header(DefaultKey), 400, "speed"),
		refuses(turnsPath+"&expressivity=3", header(DefaultKey), 400, "expressivity"),
		refuses(turnsPath+"&language=en", header(DefaultKey), 400, "unknown query parameter language"),
		refuses(turnsPath, header(DefaultKey), 429, "", Fault{Status: 429, RetryAfter: time.Second}),
		refuses(turnsPath, header(DefaultKey), 503, "", Fault{Status: 503}),
		refuses(turnsPath, header("wrong"), 401, ""),
	})
}

func TestVoicesAreATone(t *testing.T) {
	for _, tt := range []struct {
		path   string
		coding loopbacktest.Coding
		want   int
	}{
		{"/v1/speak?model=aura-asteria-en", loopbacktest.S16, 6 * 60 * 24},
		{"/v1/speak?model=aura-2-thalia-en&encoding=alaw", loopbacktest.Alaw, 6 * 60 * 8},
		{"/v2/speak?model=flux-haley-en&encoding=mulaw&sample_rate=16000", loopbacktest.Mulaw, 6 * 60 * 16},
		{"/v2/speak?model=flux-haley-en&sample_rate=44100&speed=1.5&expressivity=-1&mip_opt_out=true&tag=a&tag=b", loopbacktest.S16, 6 * 40 * 441 / 10},
	} {
		s := New(t, Script{})
		l := listen(t, s, tt.path)
		l.speak("Hello.")
		l.order("Flush")
		last := "Flushed"
		if strings.HasPrefix(tt.path, "/v2") {
			last = "SpeechMetadata"
		}
		var pcm []int16
		for _, m := range l.until(last) {
			pcm = append(pcm, tt.coding.Decode(m.audio)...)
		}
		if level := loopbacktest.Level(pcm); len(pcm) != tt.want || math.Abs(level+15) > .5 {
			t.Errorf("%s: %d samples, want %d, at %v dBFS", tt.path, len(pcm), tt.want, level)
		}
	}
}

// TestVoicesCount: a socket that is dropped counts for a while, one that is closed does not.
func TestVoicesCount(t *testing.T) {
	for _, path := range []string{auraPath, turnsPath} {
		s := New(t, Script{Voice: Voice{Sockets: 1, Linger: time.Hour}})
		for range 3 {
			l := listen(t, s, path)
			if resp := loopbacktest.Refused(t, s, path, header(s.Key)); resp.StatusCode != http.StatusTooManyRequests {
				t.Errorf("a second socket: %d", resp.StatusCode)
			}
			l.speak("Hello.")
			l.order("Flush")
			l.order("Close")
			l.closed(1000)
		}
		l := listen(t, s, path)
		l.speak("Hello.")
		l.order("Close") // without a Flush
		l.closed(1000)
		if resp := loopbacktest.Refused(t, s, path, header(s.Key)); resp.StatusCode != http.StatusTooManyRequests {
			t.Errorf("after a close without a flush: %d", resp.StatusCode)
		}
	}
	s := New(t, Script{Voice: Voice{Sockets: 1, Linger: 300 * ms}})
	listen(t, s, auraPath).Conn.Close()
	loopbacktest.Refused(t, s, auraPath, header(s.Key))
	for range 300 {
		conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+auraPath, header(s.Key))
		if err == nil {
			conn.Close()
			return
		}
		time.Sleep(10 * ms)
	}
	t.Error("it counts for ever")
}

func TestVoicesEndForMistakes(t *testing.T) {
	for _, path := range []string{auraPath, turnsPath} {
		for message, says := range map[string]string{`{"type":"Finalize"}`: "no message of this type", `{`: "no message of this type", "binary": "a binary message"} {
			s := New(t, Script{Expects: []string{says}})
			l := listen(t, s, path)
			kind := websocket.TextMessage
			if message == "binary" {
				kind = websocket.BinaryMessage
			}
			if err := l.Conn.WriteMessage(kind, []byte(message)); err != nil {
				t.Fatal(err)
			}
			if list := l.closed(1008); list[len(list)-1].Type != "Error" {
				t.Errorf("%+v", list)
			}
		}
	}
	s := New(t, Script{Expects: []string{"Speak without text", "Flush has the unknown field now", "after Close"}, Voice: Voice{Delays: patient()}})
	l := listen(t, s, turnsPath)
	l.speak("")
	l.speak("Hello.")
	l.Text(`{"type":"Flush","now":true}`)
	l.order("Close")
	l.order("Flush")
	for range 1000 {
		if len(s.Violations()) == 3 {
			break
		}
		time.Sleep(ms)
	}
}

func TestVoicesGrowOld(t *testing.T) {
	s := New(t, Script{Voice: Voice{Age: 30 * ms}})
	listen(t, s, auraPath).closed(1000)
}

func TestVoicesHaveFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 3, websocket.CloseInternalServerErr, func(t *testing.T, f Fault) *websocket.Conn {
		l := listen(t, New(t, Script{Faults: []Fault{f}}), auraPath)
		_ = l.Conn.WriteJSON(map[string]string{"type": "Speak", "text": "A sentence that is long."}) // it may be cut already
		_ = l.Conn.WriteJSON(map[string]string{"type": "Flush"})
		return l.Conn
	})
}

func TestVoicesLeaveNothing(t *testing.T) {
	script := Script{Voice: Voice{Linger: time.Hour, Delays: patient()}}
	loopbacktest.TestNothingIsLeft(t, 12, Start, script, func(s *Server, i int) io.Closer {
		l := listen(t, s, []string{auraPath, turnsPath}[i%2])
		l.speak("Hello there.")
		if i%4 < 2 {
			l.order("Flush")
		}
		return l.Conn
	})
}

// TestVoicesGolden replays exchanges in the vendor's shapes.
func TestVoicesGolden(t *testing.T) {
	loopbacktest.TestReplays(t, New, header, nil, map[string]Script{
		"aura-two-sentences": {},
		"aura-clear":         {Voice: Voice{LateChunks: 2, Delays: patient()}},
		"flux-tts-turns":     {},
		"flux-tts-interrupt": {Voice: Voice{LateChunks: 1, Delays: patient()}},
	})
}
