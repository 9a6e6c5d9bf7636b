package enginetest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/inference"
	"parley/media"
)

// FakeRealtime hears turns at planned times and answers each with the next
// of its replies. It does not stop by itself when the caller speaks: interrupting is
// the conductor's. Safe for use from several goroutines once its fields are set.
type FakeRealtime struct {
	Name      string
	Languages []string
	Rate      media.Rate // of its voice
	// Turns are heard by every session, their times counted from Open.
	Turns []HeardTurn
	// Replies are given one after the other; the last one repeats.
	Replies []RealtimeReply
	// FirstAudio is the wait from the end of a turn, or Reply, to the first audio.
	FirstAudio time.Duration
	Chunk      time.Duration // audio per event
	Every      time.Duration // wait between them
	Tone       float64       // in Hz
	Text       int           // tokens of text that each reply reads

	mu       sync.Mutex
	openErrs []error // of Opens to come
	sessions []*FakeSession
}

// HeardTurn is a turn of the caller.
type HeardTurn struct {
	From, To time.Duration
	Text     string
}

// RealtimeReply is a reply of a FakeRealtime: a text of some length, then a tool
// call, where there is one.
type RealtimeReply struct {
	Text   string
	Length time.Duration
	Tool   *inference.ToolCall
}

// NewFakeRealtime answers with a second of tone 300 ms after a turn, faster than real
// time as such engines do: 100 ms each 20 ms.
func NewFakeRealtime() *FakeRealtime {
	return &FakeRealtime{
		Name: "fake-realtime", Languages: []string{"en", "es"}, Rate: media.Rate24k,
		Replies:    []RealtimeReply{{Text: "Yes, I can help.", Length: time.Second}},
		FirstAudio: 300 * time.Millisecond, Chunk: 100 * time.Millisecond, Every: 20 * time.Millisecond, Tone: 440,
	}
}

// Info implements inference.Realtime.
func (f *FakeRealtime) Info() inference.Info {
	return inference.Info{Name: f.Name, Description: "fake speech-to-speech engine for tests", Languages: f.Languages,
		Feed: inference.FeedContinuous, Caps: inference.Caps{Turns: true, Truncate: true}}
}

// Voices implements inference.Realtime.
func (f *FakeRealtime) Voices() []inference.Voice {
	return []inference.Voice{{ID: "F1", Gender: "female", Description: "tone"}}
}

// Open implements inference.Realtime.
func (f *FakeRealtime) Open(ctx context.Context, c inference.RealtimeConfig) (inference.Session, error) {
	switch {
	case c.Voice != "F1":
		return nil, &inference.Error{Engine: f.Name, Fault: inference.ErrVoice}
	case c.Language != "" && !slices.Contains(f.Languages, c.Language):
		return nil, &inference.Error{Engine: f.Name, Fault: inference.ErrLanguage}
	}
	if err := f.refusal(); err != nil {
		return nil, err
	}
	s := &FakeSession{engine: f, config: c, opened: time.Now(), heard: map[string]time.Duration{}, results: map[string]string{},
		events: make(chan inference.RealtimeEvent), wake: make(chan struct{}, 1), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	for _, turn := range f.Turns {
		s.at(turn.From, inference.RealtimeEvent{Kind: inference.RealtimeSpeechStart})
		s.at(turn.To, inference.RealtimeEvent{Kind: inference.RealtimeSpeechEnd})
		s.at(turn.To, inference.RealtimeEvent{Kind: inference.RealtimeHeard, Text: turn.Text})
	}
	f.mu.Lock()
	f.sessions = append(f.sessions, s)
	f.mu.Unlock()
	go s.run()
	return s, nil
}

// Refuse has the Opens to come fail, one after the other.
func (f *FakeRealtime) Refuse(errs ...error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.openErrs = append(f.openErrs, errs...)
}

// refusal is the error of an Open, where it fails.
func (f *FakeRealtime) refusal() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.openErrs) > 0 {
		err, f.openErrs = f.openErrs[0], f.openErrs[1:]
	}
	return err
}

// Sessions lists the sessions so far, oldest first, closed ones included.
func (f *FakeRealtime) Sessions() []*FakeSession {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sessions)
}

// Busy is the number of open sessions.
func (f *FakeRealtime) Busy() int {
	n := 0
	for _, s := range f.Sessions() {
		if !s.ended.Load() {
			n++
		}
	}
	return n
}

// FakeSession is a session of a FakeRealtime.
type FakeSession struct {
	engine *FakeRealtime
	ctx    context.Context
	cancel context.CancelFunc
	opened time.Time
	events chan inference.RealtimeEvent
	wake   chan struct{} // holds one: something new is due
	done   chan struct{}
	ended  atomic.Bool

	mu      sync.Mutex
	config  inference.RealtimeConfig // as Update has left it
	due     []timedEvent
	replies int
	written int
	heard   map[string]time.Duration // by item, as Truncate says
	results map[string]string        // of tools, by call
}

type timedEvent struct {
	at    time.Time
	event inference.RealtimeEvent
}

// at has an event come at a time from Open.
func (s *FakeSession) at(after time.Duration, e inference.RealtimeEvent) {
	s.due = append(s.due, timedEvent{s.opened.Add(after), e})
}

// Config is what the session works with.
func (s *FakeSession) Config() inference.RealtimeConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// Written is the number of samples so far.
func (s *FakeSession) Written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written
}

// Heard is how much of each truncated reply the caller has heard, by its item.
func (s *FakeSession) Heard() map[string]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.heard)
}

// Results are those of functions that it was given, by call.
func (s *FakeSession) Results() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.results)
}

// Fail ends the session with err now.
func (s *FakeSession) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(time.Now(), inference.RealtimeEvent{Err: err})
}

// Expire says now that the session ends soon.
func (s *FakeSession) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(time.Now(), inference.RealtimeEvent{Kind: inference.RealtimeExpires})
}

// Write implements inference.Session.
func (s *FakeSession) Write(samples []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written += len(samples)
}

// Commit implements inference.Session: what was written is a turn, and is answered.
func (s *FakeSession) Commit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(time.Now(), inference.RealtimeEvent{Kind: inference.RealtimeHeard})
}

// Reply implements inference.Session.
func (s *FakeSession) Reply(string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replyLocked()
}

// Interrupt implements inference.Session.
func (s *FakeSession) Interrupt(item string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := len(s.due)
	s.due = slices.DeleteFunc(s.due, func(d timedEvent) bool { return item != "" && d.event.Item == item })
	if len(s.due) < left {
		s.addLocked(time.Now(), inference.RealtimeEvent{Kind: inference.RealtimeDone, Item: item, Finish: inference.FinishStop,
			Usage: &inference.Usage{In: s.engine.Text, AudioIn: s.written / 1600, Source: inference.UsageProvider}})
	}
}

// Truncate implements inference.Session.
func (s *FakeSession) Truncate(item string, heard time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard[item] = heard
}

// ToolResult implements inference.Session.
func (s *FakeSession) ToolResult(id, output string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[id] = output
}

// Update implements inference.Session.
func (s *FakeSession) Update(prompt string, tools []inference.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config.Prompt, s.config.Tools = prompt, tools
}

// Events implements inference.Session.
func (s *FakeSession) Events() <-chan inference.RealtimeEvent { return s.events }

// Close implements inference.Session.
func (s *FakeSession) Close() {
	s.cancel()
	<-s.done
}

func (s *FakeSession) addLocked(at time.Time, e inference.RealtimeEvent) {
	s.due = append(s.due, timedEvent{at, e})
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// replyLocked puts a whole reply in line.
func (s *FakeSession) replyLocked() {
	f := s.engine
	if len(f.Replies) == 0 {
		return
	}
	r := f.Replies[min(s.replies, len(f.Replies)-1)]
	s.replies++
	item := "item_" + strings.Repeat("i", s.replies)
	at := time.Now().Add(f.FirstAudio)
	event := func(e inference.RealtimeEvent) {
		e.Item = item
		s.addLocked(at, e)
	}
	event(inference.RealtimeEvent{Kind: inference.RealtimeReply})
	if r.Text != "" {
		event(inference.RealtimeEvent{Kind: inference.RealtimeText, Text: r.Text})
	}
	tts := FakeTTS{Rate: f.Rate, Tone: f.Tone}
	size := max(1, media.FromDuration(f.Chunk).Samples(f.Rate))
	total := media.FromDuration(r.Length).Samples(f.Rate)
	for from := 0; from < total; from += size {
		event(inference.RealtimeEvent{Kind: inference.RealtimeAudio, Chunk: inference.Chunk{Rate: f.Rate, Samples: tts.tone(from, min(from+size, total))}})
		at = at.Add(f.Every)
	}
	finish := inference.FinishStop
	if r.Tool != nil {
		finish = inference.FinishTools
		event(inference.RealtimeEvent{Kind: inference.RealtimeTool, ToolCall: r.Tool})
	}
	event(inference.RealtimeEvent{Kind: inference.RealtimeDone, Finish: finish,
		Usage: &inference.Usage{In: f.Text, AudioIn: s.written / 1600, AudioOut: total / 1600, Source: inference.UsageProvider}})
}

// next takes the event that is due, or says how long until one is (0: none). The
// end of a turn is answered.
func (s *FakeSession) next() (e inference.RealtimeEvent, wait time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := earliest(s.due, func(d timedEvent) time.Time { return d.at })
	if first < 0 {
		return e, 0, false
	}
	if wait = time.Until(s.due[first].at); wait > 0 {
		return e, wait, false
	}
	e = s.due[first].event
	s.due = slices.Delete(s.due, first, first+1)
	if e.Kind == inference.RealtimeHeard {
		s.replyLocked()
	}
	return e, 0, true
}

func (s *FakeSession) run() {
	defer close(s.done)
	defer close(s.events)
	defer s.ended.Store(true)
	deliver(s.ctx, s.wake, s.events, s.next, func(e inference.RealtimeEvent) bool { return e.Err != nil })
}
