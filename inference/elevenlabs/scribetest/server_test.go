package scribetest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

var greeting = Script{Utterances: []Utterance{{Text: "Good morning, Ana.", Length: 900 * ms}, {Text: "Adiós.", Language: "es"}}}

func TestSessionsAreRefused(t *testing.T) {
	replaced := func(from, to string) string { return strings.Replace(path, from, to, 1) }
	for _, tt := range []struct {
		path   string
		header http.Header
		name   string
		says   string // a violation
	}{
		{path, header("wrong"), "auth_error", ""},
		{path, nil, "auth_error", "no xi-api-key"},
		{path + "&token=x", nil, "auth_error", "a token is in the address"},
		{replaced("scribe_v2_realtime", "scribe_v2"), header(DefaultKey), "input_error", "model_id"},
		{replaced("ulaw_8000", "alaw_8000"), header(DefaultKey), "input_error", "audio_format"},
		{replaced("manual", "auto"), header(DefaultKey), "input_error", "commit_strategy"},
		{path + "&language_code=English", header(DefaultKey), "input_error", "language_code"},
		{path + "&language=en", header(DefaultKey), "input_error", "unknown query parameter language"},
		{path + "&include_timestamps=1", header(DefaultKey), "input_error", "include_timestamps"},
		{path + "&language_code=en&language_code=es", header(DefaultKey), "input_error", "2 times"},
		{path + strings.Repeat("&keyterms=Ana", 51), header(DefaultKey), "input_error", "51 keyterms"},
		{path + "&keyterms=", header(DefaultKey), "input_error", "empty"},
		{path + "&vad_threshold=.5", header(DefaultKey), "input_error", "commit_strategy=vad alone"},
		{replaced("manual", "vad") + "&vad_silence_threshold_secs=.2", header(DefaultKey), "input_error", "not in 0.3-3"},
	} {
		s, err := Start(Script{})
		if err != nil {
			t.Fatal(err)
		}
		list := dial(t, s, tt.path, tt.header).Closed(1008, "")
		s.Close()
		violations := strings.Join(s.Violations(), "\n")
		if len(list) != 1 || list[0].Name != tt.name || list[0].Error == "" || !strings.Contains(violations, tt.says) || tt.says == "" && violations != "" {
			t.Errorf("%s: %+v, %q", tt.path, list, violations)
		}
	}
}

func TestHandshakesFail(t *testing.T) {
	isOurs := func(resp *http.Response) bool {
		var body struct{ Detail struct{ Status string } }
		return json.NewDecoder(resp.Body).Decode(&body) == nil && body.Detail.Status != ""
	}
	s := New(t, Script{Sockets: 1, Faults: loopbacktest.Unavailable()})
	loopbacktest.HandshakesFail(t, s, path, header(s.Key), isOurs, func() { dial(t, s, path, header(s.Key)).Until("session_started") }, nil)
	if q := s.Books().Query; q.Get("commit_strategy") != "manual" {
		t.Errorf("%v", q)
	}
}

func TestManualCommits(t *testing.T) {
	s := New(t, greeting)
	c := dial(t, s, path, header(s.Key))
	c.Hush(200 * ms)
	c.Say(900 * ms)
	c.commit()
	list := c.Until("committed")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "session_started", "partial good", "partial Good morning", "partial Good morning, ana", "committed Good morning, Ana.")
	if list[0].Session == "" {
		t.Errorf("%+v", list[0])
	}
	c.Hush(300 * ms)
	c.Say(260 * ms)
	c.JSON(chunk(nil, false))
	c.JSON(chunk(nil, true))
	c.Hush(400 * ms)
	c.commit() // of silence
	loopbacktest.Same(t, loopbacktest.Shorts(append(c.Until("committed"), c.Until("committed")...)), "partial adiós", "committed Adiós.", "committed ")
	if b := s.Books(); b.Audio != 2060*ms || b.Finishes != 3 || b.KeepAlives != 1 || b.Opened != 1 {
		t.Errorf("%+v", b)
	}
}

// TestTimes: there are two messages, and the second has the words.
func TestTimes(t *testing.T) {
	for query, words := range map[string]int{"&include_timestamps=true&language_code=en": 5, "&include_language_detection=true": 0} {
		s := New(t, greeting)
		c := dial(t, s, path+query, header(s.Key))
		c.Hush(200 * ms)
		c.Say(900 * ms)
		c.commit()
		list := c.Until("timed")
		m := list[len(list)-1]
		if list[len(list)-2].Short() != "committed "+m.Text || m.Language != "en" || len(m.Words) != words {
			t.Errorf("%q, %+v", loopbacktest.Shorts(list), m)
		}
		if words == 0 {
			continue
		}
		if w := m.Words[2]; w.Text != "morning," || w.Type != "word" || w.Start != .5 || w.End != .8 || m.Words[1].Type != "spacing" {
			t.Errorf("%+v", m.Words)
		}
	}
}

func TestTheVendorCommits(t *testing.T) {
	s := New(t, Script{Utterances: []Utterance{{Text: "one two three four", Length: 1800 * ms, Pauses: []Pause{{After: 2, Length: 800 * ms}}}}})
	for seconds, want := range map[string]string{".5": "one two|three four", "1.5": "one two three four"} {
		c := dial(t, s, strings.Replace(path, "manual", "vad", 1)+"&vad_silence_threshold_secs="+seconds, header(s.Key))
		c.Say(500 * ms)
		c.Hush(800 * ms)
		c.Say(500 * ms)
		c.Hush(1600 * ms)
		var texts []string
		for joined := ""; joined != want; joined = strings.Join(texts, "|") {
			list := c.Until("committed")
			texts = append(texts, list[len(list)-1].Text)
			if len(texts) > 2 {
				t.Fatalf("%q, want %q", texts, want)
			}
		}
		c.commit() // it may be throttled, without a mistake
		c.Until("commit")
	}
}

func TestCommitsAreThrottled(t *testing.T) {
	s := New(t, Script{Utterances: greeting.Utterances, Expects: []string{"a commit of 280ms"}})
	c := dial(t, s, path, header(s.Key))
	c.Say(280 * ms)
	c.commit()
	if m := c.Until("commit_throttled"); !strings.Contains(m[len(m)-1].Error, "0.28s") {
		t.Errorf("%+v", m)
	}
	c.Say(620 * ms)
	c.commit()
	c.Until("committed Good morning, Ana.")
}

func TestTraps(t *testing.T) {
	s := New(t, Script{Traps: Traps{CommitUnanswered: true}, Utterances: []Utterance{{Text: "yes please", EmptyFinal: true}}})
	c := dial(t, s, path, header(s.Key))
	c.Hush(400 * ms)
	c.commit()
	c.Say(500 * ms)
	c.commit()
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("committed")), "session_started", "partial yes", "partial yes please", "committed ")
}

func TestChunksAreRefused(t *testing.T) {
	change := func(m fieldsOf) fieldsOf {
		all := chunk(nil, false)
		maps.Copy(all, m)
		return all
	}
	for says, m := range map[string]fieldsOf{
		"unknown field": change(fieldsOf{"audio": "AAAA"}), "is not known": change(fieldsOf{"message_type": "commit"}), "is missing": {"message_type": "input_audio_chunk"},
		"is not that of ulaw_8000": change(fieldsOf{"sample_rate": 16000}), "no base64": change(fieldsOf{"audio_base_64": "A"}),
		"not in the first chunk": change(fieldsOf{"previous_text": "Hello."}),
	} {
		s := New(t, Script{Expects: []string{says}})
		c := dial(t, s, path, header(s.Key))
		c.JSON(change(fieldsOf{"previous_text": "Hello."}))
		c.JSON(m)
		if list := c.Closed(1008, says); len(list) != 2 || list[1].Name != "input_error" || !strings.Contains(list[1].Error, says) {
			t.Errorf("%s: %+v", says, list)
		}
	}
	s := New(t, Script{Expects: []string{"a binary message"}})
	c := dial(t, s, path, header(s.Key))
	c.Binary(make([]byte, 320))
	c.Closed(1008, "a binary message")
}

func TestItWantsChunks(t *testing.T) {
	s := New(t, Script{Idle: 100 * ms, Expects: []string{"no chunk for 100ms"}})
	c := dial(t, s, path, header(s.Key))
	if list := c.Closed(1008, "no audio"); len(list) != 2 || list[1].Name != "insufficient_audio_activity" {
		t.Errorf("%+v", list)
	}
}

func TestDelays(t *testing.T) {
	script := greeting
	script.Delays = Delays{Word: func() time.Duration { return 5 * ms }, Final: func() time.Duration { return 120 * ms }}
	s := New(t, script)
	c := dial(t, s, path, header(s.Key))
	begun := time.Now()
	c.Say(900 * ms)
	c.commit()
	c.Until("committed")
	if took := time.Since(begun); took < 120*ms {
		t.Errorf("the end came after %v", took)
	}
}

func TestGoesOnOverConnections(t *testing.T) {
	script := greeting
	script.Continue = true
	s := New(t, script)
	c := dial(t, s, path, header(s.Key))
	c.Say(600 * ms)
	c.commit()
	c.Until("committed Good morning,")
	c.Conn.Close()
	c = dial(t, s, path, header(s.Key))
	c.Say(300 * ms)
	c.commit()
	c.Until("committed Ana.")
}

func TestFailures(t *testing.T) {
	for reason, want := range map[string]string{"": "transcriber_error", "quota_exceeded There is no more.": "quota_exceeded", "out of order": "transcriber_error"} {
		s := New(t, Script{Faults: []Fault{{AfterMessages: 1, Then: loopbacktest.Fail, Reason: reason}}})
		if list := dial(t, s, path, header(s.Key)).Closed(1008, reason); len(list) != 2 || list[1].Name != want || list[1].Error == "" {
			t.Errorf("%q: %+v", reason, list)
		}
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 2, 1008, func(t *testing.T, f Fault) *websocket.Conn {
		s := New(t, Script{Utterances: greeting.Utterances, Faults: []Fault{f}})
		c := dial(t, s, path, header(s.Key))
		_ = c.Conn.WriteJSON(chunk(loopbacktest.Mulaw.Encode(loopbacktest.Tone(8000, 0, 8000, loopbacktest.Loud)), true)) // it may be cut already
		return c.Conn
	})
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 20, Start, greeting, func(s *Server, _ int) io.Closer {
		c := dial(t, s, path, header(s.Key))
		c.Say(500 * ms)
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	audio := func(bytes, level int) []byte {
		b, _ := json.Marshal(chunk(loopbacktest.Recorded(loopbacktest.Mulaw)(bytes, level), false))
		return b
	}
	loopbacktest.TestReplays(t, New, header, audio, map[string]Script{"manual": greeting, "vad": greeting, "throttled": {Expects: []string{"a commit of"}}})
}
