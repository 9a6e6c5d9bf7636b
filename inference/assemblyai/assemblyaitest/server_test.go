package assemblyaitest

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
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
		refused(t, dialWith(t, s, tt.path, tt.header), tt.code, tt.says)
		s.Close()
		violations := strings.Join(s.Violations(), "\n")
		if !strings.Contains(violations, tt.noted) || tt.noted == "" && violations != "" {
			t.Errorf("%s: %q", tt.path, violations)
		}
	}
}

func TestHandshakesFail(t *testing.T) {
	isOurs := func(resp *http.Response) bool { return resp.Header.Get("Content-Type") == "application/json" }
	for _, code := range []int{1008, 3009} {
		s := New(t, Script{Sockets: 1, TooMany: code, Faults: loopbacktest.Unavailable()})
		loopbacktest.HandshakesFail(t, s, proPath, header(s.Key), isOurs,
			func() { dial(t, s, proPath+"&keyterms_prompt="+url.QueryEscape(`["Ana"]`)).Until("Begin") },
			func() { refused(t, dial(t, s, proPath), code, "Too many concurrent sessions") })
		if q := s.Books().Query; q.Get("speech_model") != "universal-3-5-pro" {
			t.Errorf("%v", q)
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
		c.Audio(50*ms, 50*ms, -20)
		c.Audio(1000*ms, 1000*ms, -20)
		c.Audio(tt.length, tt.length, -20)
		refused(t, c, 3007, tt.says)
		if got := s.Books().Audio; got != 1050*ms {
			t.Errorf("%v was heard", got)
		}
	}
	s := New(t, Script{Burst: -1, Expects: []string{"no whole samples"}})
	c := dial(t, s, proPath)
	c.Binary(make([]byte, 801))
	refused(t, c, 3007, "no whole samples")
}

func TestAudioIsTooFast(t *testing.T) {
	s := New(t, Script{Expects: []string{"Audio Transmission Rate Exceeded"}})
	c := dial(t, s, proPath)
	c.Audio(1000*ms, 1000*ms, -90)
	c.Audio(1000*ms, 1000*ms, -90)
	refused(t, c, 3007, "Audio Transmission Rate Exceeded: Received 2.00 sec. audio")
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
		c.Text(`{"type":"UpdateConfiguration","prompt":"A hairdresser.","keyterms_prompt":["Ana"],"min_turn_silence":200}`)
		c.Text(tt.data)
		refused(t, c, 3006, tt.says)
	}
	s := New(t, Script{Expects: []string{"a message after Terminate", "KeepAlive without inactivity_timeout", "a binary one"}, Burst: -1,
		Utterances: []Utterance{{Text: "Yes."}}, Delays: Delays{Final: func() time.Duration { return 200 * ms }}})
	c := dial(t, s, universalPath)
	c.Text(`{"type":"KeepAlive"}`)
	c.Say(300 * ms)
	c.Binary([]byte(`{"type":"ForceEndpoint","padding":"` + strings.Repeat("x", 400) + `"}`))
	c.Text(`{"type":"Terminate"}`)
	c.Text(`{"type":"Terminate"}`) // while the end of the turn is not due
	list := c.Closed(1000, "")
	if list[len(list)-1].Type != "Termination" {
		t.Errorf("%q", loopbacktest.Shorts(list))
	}
}

func TestInactivity(t *testing.T) {
	s := New(t, Script{Idle: 100 * ms, Expects: []string{"neither audio nor KeepAlive"}})
	c := dial(t, s, universalPath+"&inactivity_timeout=5")
	c.Text(`{"type":"KeepAlive"}`)
	refused(t, c, 3005, "Inactivity")
	if n := s.Books().KeepAlives; n != 1 {
		t.Error(n)
	}
	c = dial(t, s, universalPath) // has none
	c.Until("Begin")
	_ = c.Conn.SetReadDeadline(time.Now().Add(200 * ms))
	if _, data, err := c.Conn.ReadMessage(); err == nil || websocket.IsCloseError(err, 3005) {
		t.Errorf("%s %v", data, err)
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 2, codeServer, func(t *testing.T, f Fault) *websocket.Conn {
		c := dial(t, New(t, Script{Burst: -1, Utterances: haircut.Utterances, Faults: []Fault{f}}), universalPath)
		_ = c.Conn.WriteMessage(websocket.BinaryMessage, c.Coding.Encode(loopbacktest.Tone(8000, 0, 8000, loopbacktest.Loud))) // it may be cut already
		return c.Conn
	})
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 20, Start, haircut, func(s *Server, i int) io.Closer {
		c := dial(t, s, []string{universalPath, proPath}[i%2])
		c.Say(500 * ms)
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	for name, coding := range map[string]loopbacktest.Coding{"universal": loopbacktest.Mulaw, "pro": loopbacktest.S16} {
		loopbacktest.TestReplays(t, New, header, loopbacktest.Recorded(coding), map[string]Script{name: haircut})
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
