package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/talk"
	"parley/api/tts"
	"parley/api/wsagent"
	"parley/api/wsagent/client"
	"parley/inference"
	"parley/media"
	"parley/media/mediatest"
	"parley/store"
)

const goodKey = "sk_good"

// house is the server's side: it knows one key and converses as the test says.
type house struct {
	converse func(ctx context.Context, c talk.Change, leg talk.Leg)
	refuse   error

	mu    sync.Mutex
	urls  []string
	asked []string // agent identifiers
	told  chan string
}

func (h *house) Authenticate(_ context.Context, secret string) (api.Principal, error) {
	if secret != goodKey {
		return api.Principal{}, store.ErrUnauthorized
	}
	return api.Principal{Key: "key_1"}, nil
}

func (h *house) Admit(_ context.Context, _ api.Principal, agent string) (talk.Conversation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, agent)
	return h, h.refuse
}

func (h *house) Converse(ctx context.Context, c talk.Change, leg talk.Leg) {
	h.converse(ctx, c, leg)
}
func (h *house) ID() string                   { return "ses_1" }
func (h *house) Cancel()                      {}
func (h *house) Fail()                        {}
func (h *house) Type(text string)             { h.told <- "type " + text }
func (h *house) Interrupt()                   { h.told <- "interrupt" }
func (h *house) ToolResult(id, result string) { h.told <- "tool " + id + " " + result }
func (h *house) Update(c talk.Change)         { h.told <- fmt.Sprint("update ", *c.Voice) }

// memory is a listener whose connections are pipes, for simulated time.
type memory struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *memory) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memory) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (l *memory) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours, nil
}

// open serves h until the end of the test: in memory, or on the network when the
// dialer it returns is nil.
func open(t *testing.T, h *house, inMemory bool) (url string, dialer *websocket.Dialer) {
	h.told = make(chan string, 10)
	a := api.New(h)
	wsagent.Mount(a, &wsagent.Handler{Agents: h, Resume: &wsagent.Resumption{Key: "a key", Now: time.Now}})
	handler := a.Handler(api.Options{})
	var serving sync.WaitGroup
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serving.Add(1)
		defer serving.Done()
		h.mu.Lock()
		h.urls = append(h.urls, r.RequestURI)
		h.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	if inMemory {
		l := &memory{conns: make(chan net.Conn), done: make(chan struct{})}
		s.Listener.Close()
		s.Listener = l
		dialer = &websocket.Dialer{NetDialContext: l.dial}
	}
	s.Start()
	t.Cleanup(func() {
		s.Close()
		serving.Wait()
	})
	return s.URL, dialer
}

// answer conducts a leg: each time the caller has been silent for 500 ms after
// speech it says 200 ms of a tone. With greet it begins with 300 ms of another.
func answer(greet bool) func(context.Context, talk.Change, talk.Leg) {
	return func(ctx context.Context, _ talk.Change, leg talk.Leg) {
		time.Sleep(100 * time.Millisecond) // it takes engines a while
		leg.Status("prompt_set", 0)
		gone := make(chan error, 1)
		go func() { gone <- leg.Run(ctx) }()
		generation, quiet := 0, -1
		var speech []int16
		var written media.Time
		say := func(freq float64, d time.Duration) {
			generation++
			leg.Status("thinking", generation)
			leg.Status("speaking", generation)
			speech = mediatest.Tone(freq, wsagent.RateOut, media.FromDuration(d).Samples(wsagent.RateOut), 0.5)
		}
		if greet {
			say(800, 300*time.Millisecond)
		} else {
			leg.Status("listening", 0)
		}
		for drained := !greet; ; {
			select {
			case <-gone:
				return
			case <-time.After(time.Until(leg.Next())):
			}
			now := time.Now()
			for f, ok := leg.Read(now); ok; f, ok = leg.Read(now) {
				switch {
				case mediatest.Level(f.Samples) > -40:
					quiet = 0
				case quiet >= 0:
					quiet++
				}
			}
			if quiet == 25 {
				quiet = -1
				leg.Transcript("user", "a tone")
				say(1200, 200*time.Millisecond)
				drained = false
			}
			n := wsagent.RateOut.FrameSamples()
			for due := leg.Due(now); due > 0 && len(speech) >= n; due-- {
				leg.Write(media.Frame{Samples: speech[:n], Rate: wsagent.RateOut})
				speech = speech[n:]
				written += media.FrameTime
			}
			if !drained && len(speech) < n && leg.Played(now) == written {
				drained = true
				leg.Transcript("agent", fmt.Sprint("reply ", generation))
				leg.Status("listening", 0)
			}
		}
	}
}

// tone is d of a caller's voice.
func tone(d time.Duration) []int16 {
	return mediatest.Tone(400, client.RateIn, media.FromDuration(d).Samples(client.RateIn), 0.5)
}

// TestTalk: a clip with two utterances, in simulated time: what was said, how long
// the answers took, and what a listener heard.
func TestTalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{converse: answer(true)}
		url, dialer := open(t, h, true)
		clip := slices.Concat(tone(time.Second), make([]int16, 2*16000), tone(600*time.Millisecond))
		began := time.Now()
		r, err := client.Talk(t.Context(), client.TalkConfig{URL: url, Key: goodKey, AgentID: "agt_1", Clip: clip,
			AwaitGreeting: true, Quiet: time.Second, Dialer: dialer})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, l := range r.Lines {
			said = append(said, l.Role+": "+l.Text)
		}
		want := []string{"agent: reply 1", "user: a tone", "agent: reply 2", "user: a tone", "agent: reply 3"}
		if !slices.Equal(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
		if len(r.Turns) != 2 {
			t.Fatalf("turns %+v", r.Turns)
		}
		for i, turn := range r.Turns {
			if turn.Latency < 500*time.Millisecond || turn.Latency > 560*time.Millisecond || turn.FirstAudio-turn.SpeechEnd != turn.Latency {
				t.Errorf("turn %d: %+v", i+1, turn)
			}
		}
		if gap := r.Turns[1].SpeechEnd - r.Turns[0].SpeechEnd; gap != 2600*time.Millisecond {
			t.Errorf("the utterances ended %v apart", gap)
		}
		if r.Closed.Code != 1000 || len(r.Errors) != 0 {
			t.Errorf("closed with %+v, errors %+v", r.Closed, r.Errors)
		}
		if took := time.Since(began); took < 5*time.Second || took > 7*time.Second {
			t.Errorf("took %v", took)
		}
		first := media.FromDuration(r.Turns[0].FirstAudio + 10*time.Millisecond).Samples(client.RateOut)
		if freq, _ := mediatest.Peak(r.Heard[first:first+8000], client.RateOut); freq < 1190 || freq > 1210 {
			t.Errorf("heard %.0f Hz for an answer", freq)
		}
		if level := mediatest.Level(r.Heard[first-8000 : first]); level > -90 {
			t.Errorf("heard %.0f dBFS before it", level)
		}
		if h.urls[0] != "/ws/agent?agent_id=agt_1" || h.asked[0] != "agt_1" {
			t.Errorf("asked for %q, agent %q", h.urls, h.asked)
		}
	})
}

// TestTalkEnds: the other ways in which a talk is over.
func TestTalkEnds(t *testing.T) {
	silent := func(ctx context.Context, _ talk.Change, leg talk.Leg) {
		leg.Status("prompt_set", 0)
		leg.Error(&inference.Error{Engine: "x", Fault: inference.ErrFailed}, "detail")
		_ = leg.Run(ctx)
	}
	for _, tt := range []struct {
		name string
		h    *house
		cfg  client.TalkConfig
		life time.Duration // of the context; 0: for ever
		took time.Duration
		code int
		err  error
	}{
		{"no answer", &house{converse: silent}, client.TalkConfig{Clip: tone(time.Second), Max: 10 * time.Second}, 0, 10 * time.Second, 1000, nil},
		{"only a greeting", &house{converse: answer(true)}, client.TalkConfig{Quiet: time.Second, Max: 10 * time.Second}, 0, 1600 * time.Millisecond, 1000, nil},
		{"never ready", &house{converse: func(ctx context.Context, _ talk.Change, leg talk.Leg) { _ = leg.Run(ctx) }},
			client.TalkConfig{Max: 7 * time.Second}, 0, 7 * time.Second, 1000, nil},
		{"canceled", &house{converse: silent}, client.TalkConfig{}, 3 * time.Second, 3 * time.Second, 1000, context.DeadlineExceeded},
		{"hung up", &house{converse: func(ctx context.Context, _ talk.Change, leg talk.Leg) {
			leg.Status("prompt_set", 0)
			ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, &media.Ended{Reason: media.MaxDuration})
			defer cancel()
			_ = leg.Run(ctx)
		}}, client.TalkConfig{}, 0, 2 * time.Second, 1008, nil},
		{"refused", &house{refuse: store.ErrConcurrency}, client.TalkConfig{}, 0, 0, 1008, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.life > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.life)
					defer cancel()
				}
				tt.cfg.URL, tt.cfg.Dialer = open(t, tt.h, true)
				tt.cfg.Key, tt.cfg.Prompt = goodKey, "Be brief."
				began := time.Now()
				r, err := client.Talk(ctx, tt.cfg)
				if !errors.Is(err, tt.err) || r.Closed.Code != tt.code {
					t.Errorf("%v, closed with %+v, want %v and %d", err, r.Closed, tt.err, tt.code)
				}
				if took := time.Since(began); took < tt.took || took > tt.took+300*time.Millisecond {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if tt.name == "refused" && (len(r.Errors) != 1 || r.Errors[0].Code != "limit.concurrency" || r.Closed.Reason == "") {
					t.Errorf("errors %+v, closed with %+v", r.Errors, r.Closed)
				}
			})
		})
	}
}

// TestEvents: everything the agent's side sends, and everything the client does,
// over the network.
func TestEvents(t *testing.T) {
	legs := make(chan talk.Leg, 1)
	h := &house{converse: func(ctx context.Context, c talk.Change, leg talk.Leg) {
		leg.Status("prompt_set", 0)
		legs <- leg
		_ = leg.Run(ctx)
	}}
	url, _ := open(t, h, false)
	events := make(chan client.Event, 100)
	c, err := client.Dial(t.Context(), url, goodKey, "", client.Options{OnEvent: func(e client.Event) { events <- e }, Record: time.Second, Played: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(context.Background())
	closed := make(chan client.Closed, 1)
	go func() { closed <- c.Run(ctx) }()
	defer hangUp()
	for _, err := range []error{c.Control("voice", "F3"), c.Frame(map[string]any{"type": "rates", "playback": 44100}), c.SendText("hello"), c.Interrupt(),
		c.ToolResult("c1", "not asked"), c.Control("voice", "M1"), c.Send(tone(time.Second))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"type hello", "interrupt", "update M1"} {
		if got := <-h.told; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	leg := <-legs
	leg.Status("thinking", 4)
	leg.Transcript("user", "hi")
	leg.Correction("user", "high", "hi")
	leg.Caption("agent", "he")
	leg.ToolCall(inference.ToolCall{ID: "c", Name: "n", Arguments: "{}"}, 4)
	leg.Visemes([]tts.Viseme{{C: "a"}}, 4)
	leg.Error(api.ErrVoice, "Z")
	leg.Write(media.Frame{Samples: []int16{-1, 300}, Rate: wsagent.RateOut})
	for _, want := range []string{
		"server_rates", "status prompt_set", "status thinking 4", "transcript user hi", "transcript_update user high hi", "transcript_partial agent he",
		"tool_call 4 n {}", "visemes 4", "error validation.invalid_voice Z", "audio [-1 300]",
	} {
		e := <-events
		if id := e.Call.ID; id != "" { // the server's choice
			e.Call.ID = ""
			if err := c.ToolResult(id, "done"); err != nil {
				t.Fatal(err)
			}
			if got := <-h.told; got != "tool c done" {
				t.Errorf("told %q", got)
			}
		}
		if got := describe(e); got != want || e.At.IsZero() || (e.Raw == nil) != (e.Kind == client.Audio) {
			t.Errorf("event %q at %v, %d bytes, want %q", got, e.At, len(e.Raw), want)
		}
	}
	hangUp()
	if end := <-closed; end.Code != 1000 {
		t.Errorf("closed with %+v", end)
	}
	if err := c.Send(tone(20 * time.Millisecond)); err == nil {
		t.Error("sent after the end")
	}
}

// describe writes an event down, without what is not set.
func describe(e client.Event) string {
	parts := []string{string(e.Kind)}
	if e.Generation > 0 {
		parts = append(parts, fmt.Sprint(e.Generation))
	}
	if e.Kind == client.Status {
		slices.Reverse(parts[1:])
		parts = slices.Insert(parts, 1, e.Text)
		e.Text = ""
	}
	for _, s := range []string{e.Role, e.Text, e.Replaces, e.Call.ID, e.Call.Name, e.Call.Arguments, e.Fault.Code, e.Fault.Detail} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if e.Samples != nil {
		parts = append(parts, fmt.Sprint(e.Samples))
	}
	return strings.Join(parts, " ")
}

// TestRefused: a connection that is not made says why.
func TestRefused(t *testing.T) {
	url, _ := open(t, &house{}, false)
	_, err := client.Dial(t.Context(), url, "sk_wrong", "", client.Options{})
	e, ok := errors.AsType[*client.Refused](err)
	if !ok || e.Status != 401 || e.Code != "auth.invalid_key" || e.Message == "" || strings.Contains(err.Error(), "sk_wrong") {
		t.Errorf("%v", err)
	}
	if _, err := client.Dial(t.Context(), "http://127.0.0.1:1", goodKey, "", client.Options{}); err == nil || strings.Contains(err.Error(), goodKey) {
		t.Errorf("nobody there: %v", err)
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(503)
	}))
	defer plain.Close()
	_, err = client.Dial(t.Context(), plain.URL, goodKey, "", client.Options{})
	if e, ok := errors.AsType[*client.Refused](err); !ok || e.Status != 503 || e.Code != "" {
		t.Errorf("%v", err)
	}
}
