package inference

import (
	"context"
	"errors"
	"sync"
	"time"

	"parley/media/isolate"
)

// maxUnspoken bounds the text of an utterance that waits to be spoken, in bytes:
// half an hour of speech. Say fails when it is reached.
const maxUnspoken = 32 << 10

// Faults of Utterance.Say.
var (
	ErrUtteranceEnded = errors.New("the utterance has ended")
	ErrUtteranceFull  = errors.New("too much text waits to be spoken")
)

// Streaming returns t as a StreamingTTS. A voice that takes whole texts only
// speaks each Say by itself, one after the other, so its prosody begins anew with
// each: give it whole sentences.
func Streaming(t TTS) StreamingTTS {
	if s, ok := t.(StreamingTTS); ok {
		return s
	}
	return wholeTexts{t}
}

type wholeTexts struct{ TTS }

// Open implements StreamingTTS. An unknown voice or language shows in the first
// chunk.
func (t wholeTexts) Open(ctx context.Context, v VoiceConfig) (Utterance, error) {
	u := &queue{tts: t.TTS, voice: v, chunks: make(chan Chunk), more: make(chan struct{}, 1)}
	u.ctx, u.cancel = context.WithCancelCause(ctx)
	isolate.Go("inference/utterance", u.cancel, u.run, func() { u.cancel(ErrUtteranceEnded) }, func() { close(u.chunks) })
	return u, nil
}

// queue is an utterance whose texts are spoken one by one.
type queue struct {
	tts    TTS
	voice  VoiceConfig
	ctx    context.Context
	cancel context.CancelCauseFunc
	chunks chan Chunk
	more   chan struct{} // holds one: there is text, or the end

	// Only run touches these.
	number  int // of the Say that is spoken
	elapsed time.Duration
	usage   Usage

	mu      sync.Mutex
	texts   []string // not begun
	waiting int      // bytes in them
	ended   bool
}

// Say implements Utterance.
func (u *queue) Say(text string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.ended || u.ctx.Err() != nil:
		return ErrUtteranceEnded
	case u.waiting+len(text) > maxUnspoken:
		return ErrUtteranceFull
	}
	u.texts, u.waiting = append(u.texts, text), u.waiting+len(text)
	u.signal()
	return nil
}

// Flush implements Utterance. Nothing is held back.
func (u *queue) Flush() error { return nil }

// End implements Utterance.
func (u *queue) End() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
	u.signal()
	return nil
}

// Cancel implements Utterance.
func (u *queue) Cancel() { u.cancel(ErrUtteranceEnded) }

// Chunks implements Utterance.
func (u *queue) Chunks() <-chan Chunk { return u.chunks }

func (u *queue) signal() {
	select {
	case u.more <- struct{}{}:
	default:
	}
}

// run speaks until the end, the cancellation or a fault.
func (u *queue) run() {
	for {
		text, ended := u.next()
		switch {
		case text != "":
			if !u.speak(text) {
				return
			}
		case ended:
			return
		default:
			select {
			case <-u.more:
			case <-u.ctx.Done():
				return
			}
		}
	}
}

// next takes the oldest text that is not empty; without one, ended says whether
// another will come.
func (u *queue) next() (text string, ended bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(u.texts) > 0 && text == "" {
		text, u.texts = u.texts[0], u.texts[1:]
		u.number++
	}
	u.waiting -= len(text)
	return text, u.ended
}

// speak delivers the audio of one text, its times counted from the utterance's
// beginning; false means that nothing may follow.
func (u *queue) speak(text string) bool {
	began, before := u.elapsed, u.usage
	for c, err := range u.tts.Speak(u.ctx, Speech{Text: text, VoiceConfig: u.voice}) {
		switch {
		case u.ctx.Err() != nil:
			return false
		case err != nil:
			c = Chunk{Err: err}
		}
		c.Say = u.number
		shift(c.Words, began)
		shift(c.Phones, began)
		if c.Rate > 0 {
			u.elapsed += c.Rate.Duration(len(c.Samples)).Duration()
		}
		if c.Usage != nil {
			u.usage = before.plus(*c.Usage)
			sum := u.usage
			c.Usage = &sum
		}
		select {
		case u.chunks <- c:
		case <-u.ctx.Done():
			return false
		}
		if err != nil {
			return false
		}
	}
	return true
}

func shift(marks []Mark, by time.Duration) {
	for i := range marks {
		marks[i].Start += by
		if marks[i].End > 0 {
			marks[i].End += by
		}
	}
}
