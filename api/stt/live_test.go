package stt_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"pgregory.net/rapid"

	"parley/api"
	"parley/api/stt"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/store"
)

// quick is a recogniser that answers at once and keeps what it hears.
func quick(texts ...string) *enginetest.FakeASR {
	f := enginetest.NewFakeASR()
	f.Texts, f.FinalAfter, f.Keep = texts, 0, true
	return f
}

// stream waits for the latest stream to have heard something of an utterance.
func stream(t *testing.T, f *enginetest.FakeASR, number int) *enginetest.FakeStream {
	t.Helper()
	for guard := time.Now().Add(20 * time.Second); time.Now().Before(guard); time.Sleep(time.Millisecond) {
		if s := f.Streams(); len(s) >= number && s[number-1].Written() > 0 {
			return s[number-1]
		}
	}
	t.Fatalf("stream %d hears nothing", number)
	return nil
}

func TestLive(t *testing.T) {
	asr := quick("what time does the train leave", "thank you")
	s := newServer(t, asr)
	p := s.connect(t)
	p.say(`{"language":"en-US","vad":"silero"}`)
	p.speak(speech(t, sentence))
	heard := stream(t, asr, 1)
	heard.Partial("what")
	p.want("what", false)
	heard.Partial("what") // nothing new
	heard.Partial("what time")
	p.want("what time", false)
	p.say(`{"type":"end"}`)
	p.want("what time does the train leave", true)

	p.say(`{"type":"end"}`) // there is nothing to end
	p.speak(silence(time.Second))
	p.nothing()

	p.speak(speech(t, "no thank you"))
	p.speak(silence(time.Second)) // ends it
	p.want("thank you", true)
	if got := heard.Config().Language; got != "en" || len(asr.Streams()) != 1 {
		t.Errorf("language %q, %d streams", got, len(asr.Streams()))
	}
	p.Close()
	used, err := s.books.settled(t)
	want := int64(len(speech(t, sentence))+len(speech(t, "no thank you"))+2*16000) / 16
	if used != want || !errors.Is(err, context.Canceled) {
		t.Errorf("charged %d ms of %d, ended by %v", used, want, err)
	}
}

// TestLiveFinals: what a recogniser says in pieces is one final; nothing is a final
// only where it takes back a partial.
func TestLiveFinals(t *testing.T) {
	asr := quick()
	asr.FinalAfter = -1 // the test speaks
	s := newServer(t, asr)
	p := s.connect(t)
	p.say(`{"language":"en"}`)
	finished := func(f *enginetest.FakeStream, n int) {
		p.say(`{"type":"end"}`)
		p.nothing() // the end was taken before
		if f.Finishes() != n {
			t.Fatalf("%d utterances ended, want %d", f.Finishes(), n)
		}
	}
	utter := func(then func(*enginetest.FakeStream)) {
		p.speak(speech(t, sentence))
		then(stream(t, asr, 1))
	}
	utter(func(f *enginetest.FakeStream) {
		f.Final("what time does")
		p.want("what time does", false)
		f.Partial("what time does the train")
		p.want("what time does the train", false)
		f.Final("the train leave")
		p.want("what time does the train leave", false)
		p.say(`{"type":"end"}`)
		p.want("what time does the train leave", true)
	})
	utter(func(f *enginetest.FakeStream) {
		finished(f, 2)
		f.Final("")
		p.nothing()
	})
	utter(func(f *enginetest.FakeStream) {
		f.Partial("a cough")
		p.want("a cough", false)
		finished(f, 3)
		f.Final("")
		p.want("", true)
	})
}

func TestLiveRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		books     error // refuses
		asr       func(*enginetest.FakeASR)
		config    string
		quiet     bool // no audio is needed
		code      string
		retryable bool
		closed    int
	}{
		"unsupported language": {config: `{"language":"ca"}`, quiet: true, code: "stt.language_not_supported", closed: 1008},
		"unknown language":     {config: `{"language":"tlh"}`, quiet: true, code: "stt.language_not_supported", closed: 1008},
		"not configured": {config: `{"language":"de-AT"}`, quiet: true, code: "stt.not_configured", closed: 1008,
			asr: func(f *enginetest.FakeASR) { f.Languages = []string{"en"} }},
		"concurrency": {books: store.ErrConcurrency, code: "limit.concurrency", retryable: true, closed: 1008},
		"balance":     {books: store.ErrInsufficientBalance, code: "billing.insufficient_balance", closed: 1008},
		"disputed":    {books: store.ErrDisputed, code: "billing.account_disputed", closed: 1008},
		"draining":    {books: api.ErrDraining, code: "service.unavailable", retryable: true, closed: 1001},
		"database":    {books: store.ErrUnavailable, code: "service.unavailable", retryable: true, closed: 1011},
		"no recogniser": {code: "stt.stream_create_failed", retryable: true, closed: 1011,
			asr: func(f *enginetest.FakeASR) {
				f.OpenErr = &inference.Error{Engine: "fake", Fault: inference.ErrUnavailable}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			asr := quick("hello")
			if c.asr != nil {
				c.asr(asr)
			}
			s := newServer(t, asr)
			s.books.refuse = c.books
			p := s.connect(t)
			if c.config == "" {
				c.config = `{"language":"en"}`
			}
			p.say(c.config)
			if !c.quiet {
				p.sound(make([]byte, 640))
			}
			p.wantError(c.code, c.retryable)
			if why := p.wantClose(c.closed); why == "" {
				t.Error("closed without a reason")
			}
			if s.books.begun() > 0 {
				if used, err := s.books.settled(t); used != 0 || err == nil {
					t.Errorf("charged %d ms, ended by %v", used, err)
				}
			}
			if n := len(asr.Streams()); n > 0 {
				t.Errorf("%d streams", n)
			}
		})
	}
}

func TestLiveNeedsCredential(t *testing.T) {
	s := newServer(t, quick())
	_, r, err := s.Dialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+stt.LivePath+"?api_key=sk_bad", nil)
	if err == nil || r == nil || r.StatusCode != http.StatusUnauthorized {
		t.Errorf("%v %v", r, err)
	}
	conn, _, err := s.Dialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+stt.LivePath+"?api_key="+goodKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// TestLiveWithoutAudio: a client that is refused its microphone pays nothing.
func TestLiveWithoutAudio(t *testing.T) {
	asr := quick()
	s := newServer(t, asr)
	p := s.connect(t)
	p.say(`{"language":"es"}`)
	p.say(`{"type":"end"}`)
	p.sound(nil)
	p.nothing()
	p.Close()
	s.Wait()
	if s.books.begun() != 0 || len(asr.Streams()) != 0 {
		t.Errorf("%d works, %d streams", s.books.begun(), len(asr.Streams()))
	}
}

// TestLiveMessages: what makes no sense is answered and does no harm.
func TestLiveMessages(t *testing.T) {
	asr := quick("hello")
	s := newServer(t, asr)
	p := s.connect(t)
	p.say(`{"type":"hello","from":"a newer client"}`)
	for _, bad := range []string{"", "null and void", "[1]", `{"language":7}`, `{"type":[]}`} {
		p.say(bad)
		p.wantError("validation.invalid_request_format", false)
	}
	p.say(`{"language":"fr","vad":{"any":"thing"}}`)
	p.say(`{"language":"FR_fr"}`) // once more the same
	p.say(`{}`)
	p.say(`{"language":"it"}`)
	if m := p.wantError("validation.invalid_request_format", false); m.Detail == "" {
		t.Error("no detail")
	}
	p.speak(speech(t, sentence))
	p.say(`{"type":"end"}`)
	p.want("hello", true)
	if got := stream(t, asr, 1).Config().Language; got != "fr" {
		t.Errorf("language %q", got)
	}
}

func TestLiveMessageLimits(t *testing.T) {
	for name, c := range map[string]struct {
		kind int
		size int
		ok   bool
	}{
		"text":       {websocket.TextMessage, 64 << 10, true},
		"long text":  {websocket.TextMessage, 64<<10 + 1, false},
		"audio":      {websocket.BinaryMessage, 1 << 20, true},
		"long audio": {websocket.BinaryMessage, 1<<20 + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newServer(t, quick()).connect(t)
			b := slices.Repeat([]byte{' '}, c.size)
			copy(b, `{"type":"padding"}`)
			if err := p.WriteMessage(c.kind, b); err != nil {
				t.Fatal(err)
			}
			switch {
			case !c.ok:
				p.wantClose(1009)
			case c.kind == websocket.BinaryMessage: // far more than a microphone gives
				p.wantError("validation.invalid_request_format", false)
			default:
				p.nothing()
			}
		})
	}
}

// TestLiveSplits: it does not matter how the audio is cut into messages.
func TestLiveSplits(t *testing.T) {
	asr := quick("hello")
	s := newServer(t, asr)
	audio := pcm(concat(silence(300*time.Millisecond), speech(t, "no thank you")))
	var want []int16
	rapid.Check(t, func(r *rapid.T) {
		p := s.connect(t)
		p.say(`{"language":"en"}`)
		for b := audio; len(b) > 0; {
			n := min(len(b), rapid.IntRange(0, 20_000).Draw(r, "bytes"))
			p.sound(b[:n])
			b = b[n:]
		}
		p.say(`{"type":"end"}`)
		p.want("hello", true)
		streams := asr.Streams()
		got := streams[len(streams)-1].Audio()
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			r.Errorf("the recogniser heard %d samples, not the same %d", len(got), len(want))
		}
		p.Close()
		s.Wait()
		s.books.mu.Lock()
		used := s.books.works[len(s.books.works)-1].used
		s.books.mu.Unlock()
		if used != int64(len(audio)/32) {
			r.Errorf("charged %d ms of %d", used, len(audio)/32)
		}
	})
}

// TestLiveEarlyAudio: audio that comes before the configuration waits for it, and
// not for ever.
func TestLiveEarlyAudio(t *testing.T) {
	voice := speech(t, sentence)
	for name, c := range map[string]struct {
		then     []string
		language string
	}{
		"configured":     {[]string{`{"language":"pt"}`, `{"type":"end"}`}, "pt"},
		"not configured": {[]string{`{"type":"end"}`}, ""},
		"waited":         {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asr := quick("hello")
				p := newMemoryServer(t, asr).connect(t)
				p.speak(voice)
				for _, text := range c.then {
					p.say(text)
				}
				p.want("hello", true)
				f := asr.Streams()[0]
				if f.Config().Language != c.language || f.Written() < len(voice)*9/10 {
					t.Errorf("language %q, %d samples of %d", f.Config().Language, f.Written(), len(voice))
				}
			})
		})
	}
}

// TestLiveTooFast: two microphones on one socket bring half as much again as one,
// after some seconds, and the client is told once.
func TestLiveTooFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryServer(t, quick())
		p := s.connect(t)
		p.say(`{"language":"en"}`)
		const seconds = 60
		go func() {
			for range seconds * 50 {
				p.sound(make([]byte, 1280))
				time.Sleep(20 * time.Millisecond)
			}
			p.Close()
		}()
		p.wantError("validation.invalid_request_format", false)
		if _, b, err := p.ReadMessage(); err == nil {
			t.Errorf("got %s", b)
		}
		used, _ := s.books.settled(t)
		if most := int64(10_000 + seconds*1500); used > most || used < most-100 {
			t.Errorf("%d ms were taken, want %d", used, most)
		}
	})
}

// TestLiveLostRecogniser: a stream that falls is replaced once, and the new one
// hears the utterance from its beginning.
func TestLiveLostRecogniser(t *testing.T) {
	asr := quick("what time does the train leave")
	s := newServer(t, asr)
	p := s.connect(t)
	p.say(`{"language":"en"}`)
	p.speak(speech(t, sentence))
	p.nothing() // all was taken
	first := asr.Streams()[0]
	first.Fail(errors.New("the worker died"))
	second := stream(t, asr, 2)
	p.say(`{"type":"end"}`)
	p.want("what time does the train leave", true)
	if heard := second.Audio(); !slices.Equal(heard[:first.Written()], first.Audio()) {
		t.Errorf("the second stream heard other audio: %d samples, the first one %d", len(heard), first.Written())
	}

	p.speak(speech(t, sentence))
	p.nothing()
	second.Fail(errors.New("the worker died"))
	stream(t, asr, 3).Fail(errors.New("the worker died"))
	p.wantError("stt.stream_create_failed", true)
	p.wantClose(1011)
	if _, err := s.books.settled(t); !errors.Is(err, api.ErrRecognition) {
		t.Errorf("ended by %v", err)
	}
}

// TestLiveStopped: what has been said when the session must end is still
// recognised.
func TestLiveStopped(t *testing.T) {
	for name, c := range map[string]struct {
		stop      func(*server, *work)
		code      string
		retryable bool
		closed    int
	}{
		"balance": {func(_ *server, w *work) { w.cancel(&media.Ended{Reason: media.BalanceExhausted}) },
			"billing.insufficient_balance", false, 1008},
		"drained work": {func(_ *server, w *work) { w.cancel(&media.Ended{Reason: media.APIHangup, Detail: "drain"}) },
			"service.unavailable", true, 1001},
		"draining": {func(s *server, _ *work) { go s.set.Drain(context.Background()) },
			"service.unavailable", true, 1001},
	} {
		t.Run(name, func(t *testing.T) {
			asr := quick("what time does the train leave")
			s := newServer(t, asr)
			p := s.connect(t)
			p.say(`{"language":"en"}`)
			p.speak(speech(t, sentence))
			p.nothing()
			c.stop(s, s.books.only(t))
			p.want("what time does the train leave", true)
			p.wantError(c.code, c.retryable)
			p.wantClose(c.closed)
			if _, err := s.books.settled(t); err == nil {
				t.Error("the work was done")
			}
		})
	}
}

// TestLiveSilentRecogniser: the end of a session does not wait for ever.
func TestLiveSilentRecogniser(t *testing.T) {
	voice := speech(t, sentence)
	synctest.Test(t, func(t *testing.T) {
		asr := quick()
		asr.FinalAfter = -1
		s := newMemoryServer(t, asr)
		p := s.connect(t)
		p.say(`{"language":"en"}`)
		p.speak(voice)
		p.nothing()
		s.books.only(t).cancel(&media.Ended{Reason: media.BalanceExhausted})
		p.wantError("billing.insufficient_balance", false)
		p.wantClose(1008)
	})
}

// TestLiveMute: a microphone may be off for minutes, which ends the utterance that
// it interrupts; a client that sends nothing at all is let go.
func TestLiveMute(t *testing.T) {
	voice := speech(t, sentence)
	synctest.Test(t, func(t *testing.T) {
		asr := quick("hello", "again")
		s := newMemoryServer(t, asr)
		p := s.connect(t)
		p.say(`{"language":"en"}`)
		p.speak(voice)
		p.want("hello", true)
		go func() {
			time.Sleep(9 * time.Minute)
			p.speak(voice)
		}()
		p.want("again", true) // pings were answered meanwhile
		if why := p.wantClose(1000); why == "" {
			t.Error("closed without a reason")
		}
		if used, err := s.books.settled(t); used != int64(2*len(voice)/16) || err != nil {
			t.Errorf("charged %d ms, ended by %v", used, err)
		}
	})
}

// TestLiveFlood: messages that are not audio do not pile up.
func TestLiveFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asr := quick()
		asr.OpenDelay = 5 * time.Second // the conductor waits for it
		p := newMemoryServer(t, asr).connect(t)
		p.say(`{"language":"en"}`)
		p.sound(make([]byte, 640))
		synctest.Wait()
		for range 100 {
			p.say(`{"type":"end"}`)
		}
		p.wantError("validation.invalid_request_format", false)
		p.wantClose(1008)
	})
}

// TestLiveRealRecogniser has a synthetic caller understood word by word.
func TestLiveRealRecogniser(t *testing.T) {
	p := newServer(t, pocketsphinxEngine(t)).connect(t)
	p.say(`{"language":"en"}`)
	for i, text := range []string{sentence, "the weather is very nice today"} {
		p.speak(concat(silence(300*time.Millisecond), speech(t, text)))
		if i > 0 {
			p.speak(silence(time.Second))
		} else {
			p.say(`{"type":"end"}`)
		}
		partials := 0
		m := p.next()
		for ; !*m.IsFinal; m = p.next() {
			partials++
		}
		t.Logf("%d partials, %q", partials, m.Data)
		if wrong := wordErrors(text, m.Data); wrong > 0.3 || partials == 0 {
			t.Errorf("%q was heard as %q, after %d partials", text, m.Data, partials)
		}
	}
}
