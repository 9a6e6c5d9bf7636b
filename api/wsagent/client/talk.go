package client

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"parley/api/wire"
	"parley/media"
)

// Bounds of a talk.
const (
	promptWait = 5 * time.Second // for the agent to get ready
	maxLines   = 5000            // kept; a talk of an hour has some hundreds
	// defaultQuiet and defaultMax stand for a zero Quiet and Max.
	defaultQuiet = 2 * time.Second
	defaultMax   = time.Minute
)

// TalkConfig is one caller with a clip.
type TalkConfig struct {
	URL, Key, AgentID string
	// What the agent is to be, for a call without an AgentID; empty: not said.
	Voice, Language, Prompt string
	// Clip is what the caller says, at RateIn; silence follows it.
	Clip []int16
	// AwaitGreeting holds the clip back, in silence, until the agent listens.
	AwaitGreeting bool
	// Quiet is how long the agent must have been silent after its answer for the
	// caller to hang up; 0: 2 s. Max ends the talk in any case; 0: a minute.
	Quiet, Max time.Duration
	// OnEvent and Dialer are as in Options.
	OnEvent func(Event)
	Dialer  *websocket.Dialer
}

// Line is a finished line of the conversation.
type Line struct {
	At   time.Duration // after the connection was made
	Role string        // "user" or "agent"
	Text string
}

// Turn is one answer of the agent: how long the caller waited for it.
type Turn struct {
	SpeechEnd  time.Duration // after the connection was made
	FirstAudio time.Duration
	Latency    time.Duration
}

// Result is the result of a talk.
type Result struct {
	Lines  []Line
	Turns  []Turn
	Errors []wire.Fault
	Heard  []int16 // what a listener heard, at RateOut, from the connection on
	Closed Closed
}

// Talk calls the agent, says the clip in real time, then listens until the agent
// has answered and is silent, and hangs up. Its result is returned also when
// ctx ends early, with its cause.
func Talk(ctx context.Context, cfg TalkConfig) (Result, error) {
	if cfg.Quiet == 0 {
		cfg.Quiet = defaultQuiet
	}
	if cfg.Max == 0 {
		cfg.Max = defaultMax
	}
	t := &talk{cfg: cfg, prompted: make(chan struct{}), ends: speechEnds(cfg.Clip)}
	c, err := Dial(ctx, cfg.URL, cfg.Key, cfg.AgentID, Options{OnEvent: t.take, Record: cfg.Max + promptWait, Dialer: cfg.Dialer})
	if err != nil {
		return Result{}, err
	}
	t.start = c.Start()
	life, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	closed := make(chan Closed, 1)
	go func() { closed <- c.Run(life) }()

	over := t.converse(ctx, c, closed)
	hangUp()
	end := time.Now()
	if over == nil {
		e := <-closed
		over = &e
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.Heard, t.result.Closed = c.Heard(end), *over
	return t.result, context.Cause(ctx)
}

// talk is the caller's side of a talk in progress.
type talk struct {
	cfg      TalkConfig
	start    time.Time
	ends     []time.Duration // of speech in the clip
	prompted chan struct{}

	mu        sync.Mutex
	result    Result
	ready     bool
	listens   bool      // it has listened at least once
	began     time.Time // when the clip began; zero before
	speaking  bool      // the next audio is the first of a reply
	answered  int       // ends of speech that were answered
	lastFirst time.Time // first audio of the latest reply
}

// converse speaks until the talk is over. It returns how the connection ended if
// it did by itself.
func (t *talk) converse(ctx context.Context, c *Client, closed <-chan Closed) *Closed {
	t.configure(c)
	timer := time.NewTimer(promptWait)
	defer timer.Stop()
	select {
	case <-t.prompted:
	case <-timer.C:
	case <-ctx.Done():
		return nil
	case e := <-closed:
		return &e
	}
	// A microphone has a frame to send when it ends: absolute deadlines keep a
	// late one from delaying all that follow.
	frame := make([]int16, RateIn.FrameSamples())
	next := time.Now()
	said := 0
	for {
		next = next.Add(media.FrameDuration)
		timer.Reset(time.Until(next))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		case e := <-closed:
			return &e
		}
		clear(frame)
		if t.speaks(next.Add(-media.FrameDuration)) {
			said += copy(frame, t.cfg.Clip[said:])
		}
		_ = c.Send(frame) // a broken connection ends Run
		if t.over(time.Now(), c.QuietAt(), said) {
			return nil
		}
	}
}

func (t *talk) configure(c *Client) {
	for _, f := range [][2]string{{"voice", t.cfg.Voice}, {"language", t.cfg.Language}, {"prompt", t.cfg.Prompt}} {
		if f[1] != "" {
			_ = c.Control(f[0], f[1]) // a broken connection ends Run
		}
	}
}

// speaks says whether the frame that begins at now is of the clip.
func (t *talk) speaks(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began.IsZero() && (!t.cfg.AwaitGreeting || t.listens) {
		t.began = now
	}
	return !t.began.IsZero()
}

// over says whether there is nothing more to wait for.
func (t *talk) over(now, quiet time.Time, said int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.start) >= t.cfg.Max {
		return true
	}
	if said < len(t.cfg.Clip) || t.began.IsZero() {
		return false
	}
	last := t.began
	if n := len(t.ends); n > 0 {
		last = last.Add(t.ends[n-1])
	}
	return t.lastFirst.After(last) && now.Sub(quiet) >= t.cfg.Quiet
}

// take follows the agent. It runs on the connection's reader.
func (t *talk) take(e Event) {
	t.mu.Lock()
	switch e.Kind {
	case Status:
		t.status(e.Text)
	case Transcript:
		if len(t.result.Lines) < maxLines {
			t.result.Lines = append(t.result.Lines, Line{At: e.At.Sub(t.start), Role: e.Role, Text: e.Text})
		}
	case Correction:
		t.correct(e)
	case Error:
		if len(t.result.Errors) < maxLines {
			t.result.Errors = append(t.result.Errors, e.Fault)
		}
	case Audio:
		t.audio(e.At)
	}
	t.mu.Unlock()
	if t.cfg.OnEvent != nil {
		t.cfg.OnEvent(e)
	}
}

func (t *talk) status(s string) {
	switch s {
	case "prompt_set":
		if !t.ready {
			t.ready = true
			close(t.prompted)
		}
	case "listening":
		t.listens = true
	case "speaking":
		t.speaking = true
	}
}

func (t *talk) correct(e Event) {
	for i, l := range slices.Backward(t.result.Lines) {
		if l.Role == e.Role && l.Text == e.Replaces {
			t.result.Lines[i].Text = e.Text
			return
		}
	}
}

// audio notes the first audio of a reply: it answers the latest stretch of speech
// that has ended, if that was not answered yet.
func (t *talk) audio(now time.Time) {
	if !t.speaking {
		return
	}
	t.speaking = false
	t.lastFirst = now
	if t.began.IsZero() {
		return // a greeting
	}
	n := 0
	for n < len(t.ends) && !t.began.Add(t.ends[n]).After(now) {
		n++
	}
	if n <= t.answered {
		return
	}
	t.answered = n
	end := t.began.Add(t.ends[n-1])
	t.result.Turns = append(t.result.Turns, Turn{SpeechEnd: end.Sub(t.start), FirstAudio: now.Sub(t.start), Latency: now.Sub(end)})
}
