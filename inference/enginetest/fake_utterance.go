package enginetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"parley/inference"
)

// FakeStreamingTTS is a FakeTTS that speaks a text while it is being written: a
// sentence when it is complete, flushed or the last. FirstAudio is waited once for
// an utterance. Each sentence is one of Calls.
type FakeStreamingTTS struct{ *FakeTTS }

// NewFakeStreamingTTS has the times of NewFakeTTS.
func NewFakeStreamingTTS() FakeStreamingTTS {
	f := FakeStreamingTTS{NewFakeTTS()}
	f.Name = "fake-streaming-tts"
	return f
}

// Info implements inference.TTS.
func (f FakeStreamingTTS) Info() inference.Info {
	i := f.FakeTTS.Info()
	i.Caps = inference.Caps{TextStream: true, WordTimes: true}
	return i
}

// Open implements inference.StreamingTTS.
func (f FakeStreamingTTS) Open(ctx context.Context, v inference.VoiceConfig) (inference.Utterance, error) {
	if err := f.refuse(v); err != nil {
		return nil, err
	}
	u := &fakeUtterance{tts: f.FakeTTS, voice: v, chunks: make(chan inference.Chunk), more: make(chan struct{}, 1)}
	u.ctx, u.cancel = context.WithCancelCause(ctx)
	go u.run()
	return u, nil
}

// fakeUtterance is an utterance of a FakeStreamingTTS.
type fakeUtterance struct {
	tts    *FakeTTS
	voice  inference.VoiceConfig
	ctx    context.Context
	cancel context.CancelCauseFunc
	chunks chan inference.Chunk
	more   chan struct{} // holds one: there is a sentence, or the end

	mu    sync.Mutex
	says  int
	held  fakeSentence // not complete yet
	ready []fakeSentence
	ended bool
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
	u.says++
	for text != "" {
		end := strings.IndexAny(text, ".?!") + 1
		piece := text
		if end > 0 {
			piece = text[:end]
		}
		text = text[len(piece):]
		if strings.TrimSpace(u.held.text) == "" {
			u.held = fakeSentence{say: u.says}
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

func (u *fakeUtterance) run() {
	defer close(u.chunks)
	defer u.cancel(errUtteranceCancelled)
	first, elapsed, characters := u.tts.FirstAudio, time.Duration(0), 0
	for {
		s, ok, ended := u.next()
		switch {
		case ended:
			return
		case !ok:
			select {
			case <-u.more:
			case <-u.ctx.Done():
				return
			}
			continue
		}
		began := elapsed
		characters += len([]rune(s.text))
		speech := inference.Speech{Text: s.text, VoiceConfig: u.voice}
		if !u.tts.speak(u.ctx, speech, first, func(c inference.Chunk, err error) bool {
			c.Say, c.Err = s.say, err
			for i := range c.Words {
				c.Words[i].Start += began
				c.Words[i].End += began
			}
			c.Usage = &inference.Usage{Characters: characters, Source: inference.UsageProvider}
			elapsed += u.tts.Rate.Duration(len(c.Samples)).Duration()
			if u.ctx.Err() != nil {
				return false
			}
			select {
			case u.chunks <- c:
				return err == nil
			case <-u.ctx.Done():
				return false
			}
		}) {
			return
		}
		first = 0
	}
}
