package enginetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/inference"
)

// FakeStreamingTTS is a FakeTTS that speaks a text while it is being written: a
// sentence when it is complete, flushed or the last. FirstAudio is waited once for
// an utterance. Each sentence is one of Calls.
type FakeStreamingTTS struct {
	*FakeTTS
	Unmarked   bool // it does not say where a Say ends (Chunk.Last)
	Normalises bool // it is given texts as they are shown
	// Idle is how long an utterance stays open that has nothing to speak; 0: for ever.
	Idle time.Duration

	opened []*fakeUtterance // under the mutex of FakeTTS
}

// Utterance is one that a FakeStreamingTTS was asked for.
type Utterance struct {
	Says      []string
	Ended     bool // by End
	Cancelled bool // by Cancel, or its context has ended before it was over
	Over      bool // its chunks are closed
}

// NewFakeStreamingTTS has the times of NewFakeTTS.
func NewFakeStreamingTTS() *FakeStreamingTTS {
	f := &FakeStreamingTTS{FakeTTS: NewFakeTTS()}
	f.Name = "fake-streaming-tts"
	return f
}

// Utterances lists those so far, oldest first.
func (f *FakeStreamingTTS) Utterances() []Utterance {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Utterance, len(f.opened))
	for i, u := range f.opened {
		u.mu.Lock()
		list[i] = Utterance{Says: slices.Clone(u.said), Ended: u.ended, Cancelled: u.cancelled, Over: u.over}
		u.mu.Unlock()
	}
	return list
}

// Info implements inference.TTS.
func (f *FakeStreamingTTS) Info() inference.Info {
	i := f.FakeTTS.Info()
	i.Caps = inference.Caps{TextStream: true, WordTimes: true}
	i.NormalisesText = f.Normalises
	return i
}

// Open implements inference.StreamingTTS.
func (f *FakeStreamingTTS) Open(ctx context.Context, v inference.VoiceConfig) (inference.Utterance, error) {
	if err := f.refuse(v); err != nil {
		return nil, err
	}
	u := &fakeUtterance{tts: f.FakeTTS, unmarked: f.Unmarked, idle: f.Idle, voice: v, chunks: make(chan inference.Chunk), more: make(chan struct{}, 1)}
	u.ctx, u.cancel = context.WithCancelCause(ctx)
	f.mu.Lock()
	f.opened = append(f.opened, u)
	f.mu.Unlock()
	go u.run()
	return u, nil
}

// fakeUtterance is an utterance of a FakeStreamingTTS.
type fakeUtterance struct {
	tts      *FakeTTS
	unmarked bool
	idle     time.Duration
	voice    inference.VoiceConfig
	ctx      context.Context
	cancel   context.CancelCauseFunc
	chunks   chan inference.Chunk
	more     chan struct{} // holds one: there is a sentence, or the end

	mu        sync.Mutex
	said      []string
	held      fakeSentence // not complete yet
	ready     []fakeSentence
	ended     bool
	cancelled bool
	over      bool
}

// fakeSentence is a piece of text and the number of the Say that began it.
type fakeSentence struct {
	text string
	say  int
}

var errUtteranceCancelled = errors.New("the utterance was cancelled")

// Say implements inference.Utterance.
func (u *fakeUtterance) Say(text string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended || u.ctx.Err() != nil {
		return inference.ErrUtteranceEnded
	}
	u.said = append(u.said, text)
	for text != "" {
		end := strings.IndexAny(text, ".?!") + 1
		piece := text
		if end > 0 {
			piece = text[:end]
		}
		text = text[len(piece):]
		if strings.TrimSpace(u.held.text) == "" {
			u.held = fakeSentence{say: len(u.said)}
		}
		u.held.text += piece
		if end > 0 {
			u.releaseLocked()
		}
	}
	return nil
}

// releaseLocked lets what is held back be spoken.
func (u *fakeUtterance) releaseLocked() {
	if strings.TrimSpace(u.held.text) != "" {
		u.ready = append(u.ready, u.held)
	}
	u.held = fakeSentence{}
	select {
	case u.more <- struct{}{}:
	default:
	}
}

// Flush implements inference.Utterance.
func (u *fakeUtterance) Flush() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.releaseLocked()
	return nil
}

// End implements inference.Utterance.
func (u *fakeUtterance) End() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
	u.releaseLocked()
	return nil
}

// Cancel implements inference.Utterance.
func (u *fakeUtterance) Cancel() { u.cancel(errUtteranceCancelled) }

// Chunks implements inference.Utterance.
func (u *fakeUtterance) Chunks() <-chan inference.Chunk { return u.chunks }

func (u *fakeUtterance) next() (s fakeSentence, ok, ended bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.ready) > 0 {
		s, u.ready = u.ready[0], u.ready[1:]
		return s, true, false
	}
	return s, false, u.ended
}

// completes says that with sentence s all that is known of its Say was spoken.
func (u *fakeUtterance) completes(s fakeSentence) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	more := len(u.ready) > 0 && u.ready[0].say == s.say
	return !u.unmarked && !more && (u.held.say != s.say || strings.TrimSpace(u.held.text) == "")
}

func (u *fakeUtterance) run() {
	defer close(u.chunks)
	defer func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.over, u.cancelled = true, u.ctx.Err() != nil
		u.cancel(errUtteranceCancelled)
	}()
	first, elapsed, characters := u.tts.FirstAudio, time.Duration(0), 0
	for {
		s, ok, ended := u.next()
		switch {
		case ended:
			return
		case !ok:
			var idle <-chan time.Time
			if u.idle > 0 {
				idle = time.After(u.idle)
			}
			select {
			case <-u.more:
			case <-idle:
				return
			case <-u.ctx.Done():
				return
			}
			continue
		}
		began := elapsed
		characters += len([]rune(s.text))
		give := func(c inference.Chunk, err error) bool {
			c.Say, c.Err = s.say, err
			c.Shift(began)
			c.Usage = &inference.Usage{Characters: characters, Source: inference.UsageProvider}
			elapsed += c.Length()
			if u.ctx.Err() != nil {
				return false
			}
			select {
			case u.chunks <- c:
				return err == nil
			case <-u.ctx.Done():
				return false
			}
		}
		speech := inference.Speech{Text: s.text, VoiceConfig: u.voice}
		if !u.tts.speak(u.ctx, speech, first, give) || u.completes(s) && !give(inference.Chunk{Last: true}, nil) {
			return
		}
		first = 0
	}
}
