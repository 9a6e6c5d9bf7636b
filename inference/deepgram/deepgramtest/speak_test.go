package deepgramtest

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"runtime"
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
type listener struct{ *client }

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
	return &listener{dial(t, s, path)}
}

func (l *listener) speak(text string) {
	l.t.Helper()
	b, _ := json.Marshal(map[string]string{"type": "Speak", "text": text})
	l.text(string(b))
}

func (l *listener) order(typ string) {
	l.t.Helper()
	l.text(`{"type":"` + typ + `"}`)
}

func (l *listener) read() (m spoken, err error) {
	_ = l.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	kind, data, err := l.conn.ReadMessage()
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
	for _, tt := range []struct {
		path   string
		status int
		says   string
	}{
		{auraPath + "&container=wav", 400, "unknown query parameter container"},
		{auraPath + "&speed=1", 400, "unknown query parameter speed"},
		{auraPath + "&mip_opt_out=1", 400, "mip_opt_out"},
		{strings.Replace(auraPath, "aura-2-thalia-en", "flux-haley-en", 1), 400, "model"},
		{strings.Replace(auraPath, "8000", "44100", 1), 400, "sample_rate"},
		{strings.Replace(auraPath, "linear16", "mp3", 1), 400, "encoding"},
		{strings.Replace(auraPath, "linear16&sample_rate=8000", "mulaw&sample_rate=24000", 1), 400, "sample_rate"},
		{strings.Replace(turnsPath, "flux-haley-en", "aura-2-thalia-en", 1), 400, "model"},
		{turnsPath + "&speed=1.6", 400, "speed"},
		{turnsPath + "&speed=1.01", 400, "speed"},
		{turnsPath + "&expressivity=3", 400, "expressivity"},
		{turnsPath + "&language=en", 400, "unknown query parameter language"},
	} {
		s, err := Start(Script{})
		if err != nil {
			t.Fatal(err)
		}
		resp := refused(t, s, tt.path, header(s.Key))
		s.Close()
		if violations := strings.Join(s.Violations(), "\n"); resp.StatusCode != tt.status || !strings.Contains(violations, tt.says) {
			t.Errorf("%s: %d, %q", tt.path, resp.StatusCode, violations)
		}
	}
	s := New(t, Script{Faults: []Fault{{Connections: 1, Status: 429, RetryAfter: time.Second}, {Connections: 1, Status: 503}}})
	for _, want := range []int{429, 503, 401} {
		h := header(s.Key)
		if want == 401 {
			h = header("wrong")
		}
		if resp := refused(t, s, turnsPath, h); resp.StatusCode != want {
			t.Errorf("%d, want %d", resp.StatusCode, want)
		}
	}
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
			if resp := refused(t, s, path, header(s.Key)); resp.StatusCode != http.StatusTooManyRequests {
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
		if resp := refused(t, s, path, header(s.Key)); resp.StatusCode != http.StatusTooManyRequests {
			t.Errorf("after a close without a flush: %d", resp.StatusCode)
		}
	}
	s := New(t, Script{Voice: Voice{Sockets: 1, Linger: 300 * ms}})
	listen(t, s, auraPath).conn.Close()
	refused(t, s, auraPath, header(s.Key))
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
			if err := l.conn.WriteMessage(kind, []byte(message)); err != nil {
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
	l.text(`{"type":"Flush","now":true}`)
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
	for _, f := range []Fault{
		{Then: loopbacktest.Cut, AfterMessages: 3},
		{AfterBytes: 3000},
		{Then: loopbacktest.Close, AfterMessages: 3, Code: 1012},
		{Then: loopbacktest.Fail, AfterMessages: 3},
		{Then: loopbacktest.Invalid, AfterMessages: 3},
		{Then: loopbacktest.Huge, AfterMessages: 3},
		{Then: loopbacktest.Nulls, AfterMessages: 3},
		{Then: loopbacktest.Unknown, AfterMessages: 3},
	} {
		s := New(t, Script{Faults: []Fault{f}})
		l := listen(t, s, auraPath)
		l.speak("A sentence that is long.")
		_ = l.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"Flush"}`))
		n, odd := 0, 0
		var err error
		for done := false; !done && err == nil; {
			var kind int
			var data []byte
			if kind, data, err = l.conn.ReadMessage(); err != nil {
				break
			}
			n++
			var m spoken
			if kind == websocket.TextMessage && (json.Unmarshal(data, &m) != nil || !slices.Contains([]string{"Metadata", "Flushed"}, m.Type) || m.Type == "Flushed" && m.Sequence == nil) {
				odd++
			}
			done = m.Type == "Flushed" && m.Sequence != nil
		}
		switch f.Then {
		case loopbacktest.Nothing, loopbacktest.Cut:
			if err == nil || f.Then == loopbacktest.Cut && n != 3 {
				t.Errorf("%+v: %v after %d", f, err, n)
			}
		case loopbacktest.Close, loopbacktest.Fail:
			if !websocket.IsCloseError(err, max(1011, f.Code)) || (odd == 1) != (f.Then == loopbacktest.Fail) {
				t.Errorf("%+v: %v after %d", f, err, n)
			}
		default:
			if err != nil || odd != 1 {
				t.Errorf("%+v: %v, %d odd", f, err, odd)
			}
		}
	}
}

func TestVoicesLeaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := Start(Script{Voice: Voice{Linger: time.Hour, Delays: patient()}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		l := listen(t, s, []string{auraPath, turnsPath}[i%2])
		l.speak("Hello there.")
		if i%4 < 2 {
			l.order("Flush")
		}
		if i%3 == 0 {
			l.conn.Close()
		}
	}
	s.Close()
	if b := s.Books(); b.Opened != 12 || b.Open != 0 || s.Busy() != 0 {
		t.Errorf("%+v, %d busy", b, s.Busy())
	}
	for range 100 {
		if runtime.NumGoroutine() <= before+1 {
			return
		}
		time.Sleep(ms)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestVoicesGolden replays exchanges in the vendor's shapes.
func TestVoicesGolden(t *testing.T) {
	for name, script := range map[string]Script{
		"aura-two-sentences": {},
		"aura-clear":         {Voice: Voice{LateChunks: 2, Delays: patient()}},
		"flux-tts-turns":     {},
		"flux-tts-interrupt": {Voice: Voice{LateChunks: 1, Delays: patient()}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t, script)
			loopbacktest.Replay(t, "testdata/"+name+".jsonl", s.URL, header(s.Key), nil)
		})
	}
}
