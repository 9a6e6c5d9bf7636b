package assemblyaitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

func TestHandshakesAreRefused(t *testing.T) {
	terms := func(list string) string { return "&keyterms_prompt=" + url.QueryEscape(list) }
	for _, tt := range []struct {
		path   string
		header http.Header
		code   int
		says   string // in the close frame
		noted  string // a violation
	}{
		{universalPath, header("wrong"), 1008, "Invalid API key", ""},
		{universalPath, nil, 1008, "Missing Authorization", "no Authorization"},
		{universalPath, header("Bearer " + DefaultKey), 1008, "Invalid API key", "not the key alone"},
		{universalPath + "&token=" + DefaultKey, nil, 1008, "token", "token"},
		{"/v3/ws?sample_rate=8000", header(DefaultKey), 3006, "speech_model", "speech_model is required"},
		{"/v3/ws?speech_model=best", header(DefaultKey), 3006, "speech_model", "is not known"},
		{proPath + "&encoding=pcm_alaw", header(DefaultKey), 3006, "encoding", "given 2 times"},
		{"/v3/ws?speech_model=u3-rt-pro&encoding=pcm_alaw", header(DefaultKey), 3006, "encoding", "not supported"},
		{"/v3/ws?speech_model=u3-rt-pro&sample_rate=4000", header(DefaultKey), 3006, "sample_rate", "not supported"},
		{universalPath + "&interim_results=true", header(DefaultKey), 3006, "interim_results", "unknown parameter"},
		{universalPath + "&speaker_labels=1", header(DefaultKey), 3006, "speaker_labels", "not true or false"},
		{universalPath + "&agent_context=x", header(DefaultKey), 3006, "agent_context", "not supported by this model"},
		{proPath + "&end_of_turn_confidence_threshold=.5", header(DefaultKey), 3006, "threshold", "not supported by this model"},
		{universalPath + "&end_of_turn_confidence_threshold=2", header(DefaultKey), 3006, "threshold", "not in 0-1"},
		{universalPath + "&min_turn_silence=.5", header(DefaultKey), 3006, "min_turn_silence", "no whole number"},
		{universalPath + "&min_turn_silence=2000", header(DefaultKey), 3006, "max_turn_silence", "do not fit together"},
		{universalPath + "&inactivity_timeout=4", header(DefaultKey), 3006, "inactivity_timeout", "not in 5-3600"},
		{universalPath + terms(`Ana`), header(DefaultKey), 3006, "keyterms_prompt", "no list"},
		{universalPath + terms(`["Ana",""]`), header(DefaultKey), 3006, "keyterms_prompt", "0 characters"},
		{universalPath + "&prompt=", header(DefaultKey), 3006, "prompt", "is empty"},
	} {
		s, err := Start(Script{})
		if err != nil {
			t.Fatal(err)
		}
		dialWith(t, s, tt.path, tt.header).refused(tt.code, tt.says)
		s.Close()
		violations := strings.Join(s.Violations(), "\n")
		if !strings.Contains(violations, tt.noted) || tt.noted == "" && violations != "" {
			t.Errorf("%s: %q", tt.path, violations)
		}
	}
}

func TestHandshakesFail(t *testing.T) {
	for _, code := range []int{1008, 3009} {
		s := New(t, Script{Sockets: 1, TooMany: code, Faults: []Fault{{Connections: 1, Status: 429, RetryAfter: 1500 * ms}, {Connections: 1, Status: 503}}})
		for _, want := range []int{429, 503} {
			conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+proPath, header(s.Key))
			if err == nil {
				conn.Close()
				t.Fatal("it was accepted")
			}
			if resp == nil || resp.StatusCode != want || want == 429 && resp.Header.Get("Retry-After") != "2" {
				t.Errorf("%v, want %d", resp, want)
			}
		}
		dial(t, s, proPath+"&keyterms_prompt="+url.QueryEscape(`["Ana"]`)).until("Begin")
		dial(t, s, proPath).refused(code, "Too many concurrent sessions")
		if b := s.Books(); b.Attempts != 4 || b.Opened != 2 || s.Busy() != 1 || b.Query.Get("speech_model") != "universal-3-5-pro" {
			t.Errorf("%+v, %d busy", b, s.Busy())
		}
	}
}

func TestAudioIsRefused(t *testing.T) {
	for _, tt := range []struct {
		length time.Duration
		says   string
	}{
		{40 * ms, "Input Duration Violation: 40.0 ms. Expected between 50 and 1000 ms"},
		{1100 * ms, "Input Duration Violation: 1100.0 ms"},
	} {
		s := New(t, Script{Burst: -1, Expects: []string{tt.says}})
		c := dial(t, s, proPath)
		c.message(50*ms, -20)
		c.message(1000*ms, -20)
		c.message(tt.length, -20)
		c.refused(3007, tt.says)
		if got := s.Books().Audio; got != 1050*ms {
			t.Errorf("%v was heard", got)
		}
	}
	s := New(t, Script{Burst: -1, Expects: []string{"no whole samples"}})
	c := dial(t, s, proPath)
	if err := c.conn.WriteMessage(websocket.BinaryMessage, make([]byte, 801)); err != nil {
		t.Fatal(err)
	}
	c.refused(3007, "no whole samples")
}

func TestAudioIsTooFast(t *testing.T) {
	s := New(t, Script{Expects: []string{"Audio Transmission Rate Exceeded"}})
	c := dial(t, s, proPath)
	c.message(1000*ms, -90)
	c.message(1000*ms, -90)
	c.refused(3007, "Audio Transmission Rate Exceeded: Received 2.00 sec. audio")
}

func TestPace(t *testing.T) {
	var p pace
	now := time.Unix(1, 0)
	for i, tt := range []struct {
		after, length time.Duration
		want          bool
	}{
		{0, 1000 * ms, true},
		{0, 50 * ms, false},
		{100 * ms, 50 * ms, true},
		{time.Minute, 1000 * ms, true}, // what was not sent in the minute is not saved up
		{500 * ms, 600 * ms, false},
	} {
		now = now.Add(tt.after)
		if got := p.allows(tt.length, time.Second, now); got != tt.want {
			t.Errorf("message %d: %v, %v ahead", i, got, p.ahead)
		}
	}
}

func TestMessagesAreRefused(t *testing.T) {
	for _, tt := range []struct{ data, says string }{
		{`{`, "Invalid JSON"},
		{`[]`, "Invalid Message"},
		{`{"type":"Finalize"}`, "Invalid Message Type"},
		{`{"type":"UpdateConfiguration","min_turn_silence":2000}`, "do not fit together"},
		{`{"type":"UpdateConfiguration","max_silence":2000}`, "unknown field"},
		{`{"type":"UpdateConfiguration","keyterms_prompt":[""]}`, "0 characters"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		c := dial(t, s, proPath)
		c.text(`{"type":"UpdateConfiguration","prompt":"A hairdresser.","keyterms_prompt":["Ana"],"min_turn_silence":200}`)
		c.text(tt.data)
		c.refused(3006, tt.says)
	}
	s := New(t, Script{Expects: []string{"a message after Terminate", "KeepAlive without inactivity_timeout", "a binary one"}, Burst: -1,
		Utterances: []Utterance{{Text: "Yes."}}, Delays: Delays{Final: func() time.Duration { return 200 * ms }}})
	c := dial(t, s, universalPath)
	c.text(`{"type":"KeepAlive"}`)
	c.say(300 * ms)
	if err := c.conn.WriteMessage(websocket.BinaryMessage, []byte(`{"type":"ForceEndpoint","padding":"`+strings.Repeat("x", 400)+`"}`)); err != nil {
		t.Fatal(err)
	}
	c.text(`{"type":"Terminate"}`)
	c.text(`{"type":"Terminate"}`) // while the end of the turn is not due
	list := c.closed(1000, "")
	if list[len(list)-1].Type != "Termination" {
		t.Errorf("%q", shorts(list))
	}
}

func TestInactivity(t *testing.T) {
	s := New(t, Script{Idle: 100 * ms, Expects: []string{"neither audio nor KeepAlive"}})
	c := dial(t, s, universalPath+"&inactivity_timeout=5")
	c.text(`{"type":"KeepAlive"}`)
	c.refused(3005, "Inactivity")
	if n := s.Books().KeepAlives; n != 1 {
		t.Error(n)
	}
	c = dial(t, s, universalPath) // has none
	c.until("Begin")
	_ = c.conn.SetReadDeadline(time.Now().Add(200 * ms))
	if _, data, err := c.conn.ReadMessage(); err == nil || websocket.IsCloseError(err, 3005) {
		t.Errorf("%s %v", data, err)
	}
}

func TestFaults(t *testing.T) {
	for _, f := range []Fault{
		{Then: loopbacktest.Cut, AfterMessages: 2},
		{AfterBytes: 300},
		{Then: loopbacktest.Close, AfterMessages: 2, Code: 1012, Reason: "restart"},
		{Then: loopbacktest.Fail, AfterMessages: 2},
		{Then: loopbacktest.Unknown, AfterMessages: 2},
		{Then: loopbacktest.Invalid, AfterMessages: 2},
		{Then: loopbacktest.Nulls, AfterMessages: 2},
		{Then: loopbacktest.Huge, AfterMessages: 2},
	} {
		s := New(t, Script{Burst: -1, Utterances: haircut.Utterances, Faults: []Fault{f}})
		c := dial(t, s, universalPath)
		_ = c.conn.WriteMessage(websocket.BinaryMessage, c.send.Encode(loopbacktest.Tone(8000, 0, 8000, -20))) // it may be cut already
		got, largest := []string{}, 0
		var err error
		for len(got) < 4 && err == nil {
			var data []byte
			if _, data, err = c.conn.ReadMessage(); err == nil {
				var m message
				if json.Unmarshal(data, &m) != nil {
					m.Type = "invalid"
				}
				got, largest = append(got, m.short()), max(largest, len(data))
			}
		}
		var end *websocket.CloseError
		isClose := errors.As(err, &end)
		switch f.Then {
		case loopbacktest.Nothing, loopbacktest.Cut:
			if err == nil || isClose && end.Code != websocket.CloseAbnormalClosure || len(got) > 2 {
				t.Errorf("%+v: %v after %q", f, err, got)
			}
		case loopbacktest.Close, loopbacktest.Fail:
			want := map[loopbacktest.Action]int{loopbacktest.Close: 1012, loopbacktest.Fail: 3005}[f.Then]
			if !isClose || end.Code != want || f.Then == loopbacktest.Fail && got[2] != "Error" {
				t.Errorf("%+v: %v after %q", f, err, got)
			}
		default:
			if err != nil || got[2] == "turn how [much]" || (f.Then == loopbacktest.Huge) != (largest > 2<<20) {
				t.Errorf("%+v: %v, %q", f, err, got)
			}
		}
	}
}

func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := Start(haircut)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		c := dial(t, s, []string{universalPath, proPath}[i%2])
		c.say(500 * ms)
		if i%4 < 2 {
			c.conn.Close()
		}
	}
	s.Close()
	s.Close()
	if b := s.Books(); b.Opened != 20 || b.Open != 0 || b.OpenTime == 0 || s.Busy() != 0 {
		t.Errorf("%+v, %d busy", b, s.Busy())
	}
	for range 100 {
		if runtime.NumGoroutine() <= before+1 {
			return
		}
		runtime.Gosched()
		time.Sleep(ms)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	for name, coding := range map[string]loopbacktest.Coding{"universal": loopbacktest.Mulaw, "pro": loopbacktest.S16} {
		t.Run(name, func(t *testing.T) {
			s := New(t, haircut)
			loopbacktest.Replay(t, "testdata/"+name+".jsonl", s.URL, header(s.Key), func(bytes, level int) []byte {
				if level == 0 {
					level = -90
				}
				return coding.Encode(loopbacktest.Tone(bytes/coding.Width(), 0, 8000, float64(level)))
			})
		})
	}
}

func ExampleStart() {
	s, err := Start(Script{Utterances: []Utterance{{Text: "Hello."}}})
	if err != nil {
		return
	}
	defer s.Close()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/v3/ws", http.Header{"Authorization": {DefaultKey}})
	if err != nil {
		return
	}
	defer conn.Close()
	_, data, _ := conn.ReadMessage()
	fmt.Println(string(data), s.Violations())
	// Output: {"error":"Invalid parameter: speech_model is required","error_code":3006,"type":"Error"} [/v3/ws: speech_model is required]
}
