package wstts_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"parley/api/apitest"
	"parley/inference"
	"parley/media"
	"parley/store"
)

const twoSentences = "Good morning to everybody out there. We are open from nine to five."

// One job: mouth shapes before their audio, a timing for each chunk, EOS. Both
// paths are the same, and the socket stays open.
func TestJob(t *testing.T) {
	engine := quick()
	s := newServer(t, apitest.OverNetwork, engine)
	for _, path := range []string{"/ws/tts", "/ws"} {
		c := s.connect(t, path)
		for range 2 {
			c.ask(twoSentences)
			checkJob(t, c.answer())
		}
	}
	for _, call := range engine.Calls() {
		if s := call.Speech; s.Steps != 6 || s.Voice != "F1" || s.Language != "en" || s.Speed != 1 {
			t.Errorf("asked for %+v", s)
		}
	}
	for _, j := range s.books.all() {
		if n := int64(len(twoSentences)); j.expected != n || j.used != n || !j.ended || j.err != nil || j.account != "acc_1" {
			t.Errorf("books: %+v", j)
		}
	}
	if n := len(s.books.all()); n != 4 {
		t.Errorf("%d jobs", n)
	}
}

func checkJob(t *testing.T, list []message) {
	t.Helper()
	sent, chunks, last := 0, 0, -1.0
	var waiting []float64 // times of shapes that came and whose audio did not
	for i, m := range list {
		switch m.Kind {
		case "visemes":
			if len(waiting) > 0 || len(m.visemes) == 0 {
				t.Errorf("message %d: visemes without their audio between", i)
			}
			for _, v := range m.visemes {
				if v.T < last || v.V < 0 || v.V >= len(twoSentences) {
					t.Errorf("%+v after %v", v, last)
				}
				last = v.T
				waiting = append(waiting, v.T)
			}
		case "audio":
			if n := len(m.audio); n%2 != 0 || n == 0 || n > 512_000 {
				t.Errorf("%d bytes", n)
			}
			from := float64(sent) / 88200
			sent += len(m.audio)
			if to := float64(sent) / 88200; chunks == 0 && (to < 0.1 || to > 0.3) {
				t.Errorf("the first chunk has %.3f s", to)
			} else if len(waiting) > 0 && (waiting[0] < from-0.001 || waiting[len(waiting)-1] > to+0.001) {
				t.Errorf("shapes at %v before the audio from %.3f to %.3f", waiting, from, to)
			}
			waiting, chunks = nil, chunks+1
		case "timing":
			if m.Timing.Chunk != chunks || (m.TTFB != nil) != (chunks == 1) {
				t.Errorf("after chunk %d: %+v", chunks, m)
			}
			if want := float64(sent) / 88.2; m.Timing.Audio < want-0.2 || m.Timing.Audio > want+0.2 || m.Timing.Queue < 0 || m.Timing.Model < 0 {
				t.Errorf("after %.1f ms: %+v", want, m.Timing)
			}
		case "EOS":
			if i != len(list)-1 {
				t.Error("something follows EOS")
			}
		default:
			t.Errorf("message %+v", m)
		}
	}
	if sent != 2*2*44100 || last < 1.7 || count(list, "timing") != chunks {
		t.Errorf("%d bytes, shapes up to %v s: %v", sent, last, kinds(list))
	}
}

// Mouth shapes only for those who ask.
func TestNoVisemes(t *testing.T) {
	c := newServer(t, apitest.OverNetwork, quick()).connect(t, "/ws/tts")
	c.say(`{"text":"Hola.","voice":"F1","lang":"es"}`)
	if list := c.answer(); count(list, "visemes") != 0 || count(list, "audio") == 0 {
		t.Errorf("%v", kinds(list))
	}
}

// Requests that are wrong leave the socket open, and are told in their turn.
func TestValidation(t *testing.T) {
	s := newServer(t, apitest.OverNetwork, quick())
	c := s.connect(t, "/ws/tts")
	c.ask(twoSentences)
	for _, body := range []string{"EOS", "[]", `{"voice":"F1","language":"en"}`, `{"text":" ","voice":"F1","language":"en"}`} {
		c.say("%s", body)
	}
	if err := c.WriteMessage(websocket.BinaryMessage, []byte{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	c.say(`{"text":"Hi.","language":"en"}`)
	c.say(`{"text":"Hi.","voice":"F1"}`)
	c.say(`{"text":"Hi.","voice":"F1","lang":"ko"}`)
	c.say(`{"text":"Hi.","voice":"F1","language":"en","speed":2.5}`)
	c.say(`{"text":"%s","voice":"F1","language":"en"}`, strings.Repeat(`\ud83d\ude00`, 5001))
	c.say(`{"text":"%s","voice":"F1","language":"en"}`, strings.Repeat(`\ud83d\ude00`, 5000))
	c.wantEOS()
	for _, code := range []string{"invalid_request_format", "invalid_request_format", "invalid_request_format", "invalid_request_format",
		"invalid_request_format", "invalid_voice", "invalid_language", "invalid_language", "speed_out_of_range", "text_too_long"} {
		chunks, m := c.wantError("validation." + code)
		if chunks != 0 || *m.Data.Retryable || m.Data.Detail == "" {
			t.Errorf("%d chunks before %+v", chunks, m)
		}
	}
	c.wantEOS()
	if jobs := s.books.all(); len(jobs) != 2 || jobs[1].used != 5000 {
		t.Errorf("%d jobs", len(jobs))
	}
}

func TestJSONEnd(t *testing.T) {
	s := newServer(t, apitest.OverNetwork, quick())
	for path, want := range map[string]int{"/ws/tts": 0, "/ws?eos=json": 1, "/ws?eos=text": 0} {
		c := s.connect(t, path)
		c.ask("Hello.")
		list := c.answer()
		if count(list, "eos") != want || want == 1 && list[len(list)-2].Kind != "eos" {
			t.Errorf("%s: %v", path, kinds(list))
		}
		c.say(`{}`)
		if list := c.answer(); len(list) != 1 {
			t.Errorf("%s, an error: %v", path, kinds(list))
		}
	}
}

// A job that fails on our side ends with an error and without EOS, costs nothing,
// and the next one works.
func TestFailure(t *testing.T) {
	for _, c := range []struct {
		limit int
		fault inference.Fault
		code  string
	}{
		{0, inference.ErrFailed, "tts.synthesis_failed"},
		{0, inference.ErrUnavailable, "tts.voice_unavailable"},
		{12, inference.ErrFailed, "tts.synthesis_failed"},
	} {
		engine := quick()
		engine.Err = &inference.Error{Engine: "fake", Fault: c.fault}
		engine.Limit, engine.Sentence = c.limit, 3e9
		s := newServer(t, apitest.OverNetwork, engine)
		client := s.connect(t, "/ws/tts")
		for range 2 {
			client.ask("One sentence.")
			chunks, m := client.wantError(c.code)
			if (chunks > 0) != (c.limit > 0) || !*m.Data.Retryable {
				t.Errorf("%d chunks before %+v", chunks, m)
			}
		}
		for _, j := range s.books.all() {
			if j.used != 0 || !j.ended || j.err == nil {
				t.Errorf("books: %+v", j)
			}
		}
	}
}

// What the books refuse is an error of that job alone.
func TestRefused(t *testing.T) {
	s := newServer(t, apitest.OverNetwork, quick())
	c := s.connect(t, "/ws/tts")
	for _, r := range []struct {
		err       error
		code      string
		retryable bool
	}{
		{store.ErrInsufficientBalance, "billing.insufficient_balance", false},
		{store.ErrDisputed, "billing.account_disputed", false},
		{store.ErrConcurrency, "limit.concurrency", true},
		{store.ErrUnavailable, "service.unavailable", true},
	} {
		s.books.set(r.err)
		c.ask("Hello.")
		if chunks, m := c.wantError(r.code); chunks != 0 || *m.Data.Retryable != r.retryable {
			t.Errorf("%d chunks before %+v", chunks, m)
		}
		s.books.set(nil)
		c.ask("Hello.")
		c.wantEOS()
	}
}

// An account that may not start anything is told so when it connects.
func TestRefusedAtConnect(t *testing.T) {
	s := newServer(t, apitest.OverNetwork, quick())
	s.books.admit = store.ErrInsufficientBalance
	c := s.connect(t, "/ws/tts")
	c.wantError("billing.insufficient_balance")
	c.wantClose(1008)
	_, answer, err := s.Dialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/ws/tts?api_key=wrong", nil)
	if err == nil || answer.StatusCode != 401 {
		t.Errorf("with a bad key: %v, %v", err, answer)
	}
}

// The balance ends in the middle of a job: what was sent is paid for.
func TestBalanceRunsOut(t *testing.T) {
	engine := quick()
	engine.Limit = 5 // of ten chunks; then it waits
	s := newServer(t, apitest.OverNetwork, engine)
	c := s.connect(t, "/ws/tts")
	c.ask(twoSentences)
	for {
		if m, err := c.next(); err != nil || m.Kind == "audio" {
			break
		}
	}
	s.books.stop(&media.Ended{Reason: media.BalanceExhausted})
	c.wantError("billing.insufficient_balance")
	if j := s.books.all()[0]; j.used == 0 || j.used >= j.expected || j.err == nil {
		t.Errorf("books: %+v", j)
	}
	c.say(`{}`) // it is still there
	c.wantError("validation.invalid_request_format")
}

// Clients close to abort: the engine is free at once, and the characters of what
// was sent are paid for.
func TestAbort(t *testing.T) {
	for name, leave := range map[string]func(*client){
		"abnormally": func(c *client) { c.UnderlyingConn().Close() },
		"politely": func(c *client) {
			if err := c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, "")); err != nil {
				t.Error(err)
			}
		},
	} {
		engine := quick()
		engine.Limit = 5
		s := newServer(t, apitest.OverNetwork, engine)
		c := s.connect(t, "/ws/tts")
		c.ask(twoSentences)
		for {
			if m, err := c.next(); err != nil || m.Kind == "audio" {
				break
			}
		}
		leave(c)
		s.Wait() // the handler has returned
		j := s.books.all()[0]
		if engine.Busy() != 0 || !j.ended || j.err != context.Canceled || j.used == 0 || j.used >= j.expected {
			t.Errorf("%s: %d busy, books: %+v", name, engine.Busy(), j)
		}
	}
}

// What cannot be spoken is no error and costs nothing.
func TestNothingToSpeak(t *testing.T) {
	engine := quick()
	engine.Sentence = 0
	s := newServer(t, apitest.OverNetwork, engine)
	c := s.connect(t, "/ws/tts")
	c.ask("...")
	if audio := c.wantEOS(); len(audio) != 0 || s.books.all()[0].used != 0 {
		t.Errorf("%d bytes, books %+v", len(audio), s.books.all()[0])
	}
}
