package inference

import (
	"context"
	"errors"
	"strings"
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

// Streaming returns t as a StreamingTTS that marks the end of each Say (Chunk.Last), holds no text
// back, and whose Open neither waits nor fails: faults show in the chunks. A voice that
// takes whole texts only speaks each Say by itself, one after the other, so its prosody begins
// anew with each. Give it whole sentences.
func Streaming(t TTS) StreamingTTS {
	if f, ok := t.(*FailoverTTS); ok {
		return f
	}
	return NewFailoverTTS(FailoverConfig{}, t)
}

// Open implements StreamingTTS. Each Say is spoken as by Speak: the next engine has a Say of
// which nothing came. One that breaks off ends the utterance: who plays it knows what was heard, and
// says the rest in another. An engine that streams has each Say when it is said, and keeps the
// utterance until it fails.
func (f *FailoverTTS) Open(ctx context.Context, v VoiceConfig) (Utterance, error) {
	u := &queue{tts: f, voice: v, chunks: make(chan Chunk), more: make(chan struct{}, 1)}
	u.ctx, u.cancel = context.WithCancelCause(ctx)
	isolate.Go("inference/utterance", u.cancel, u.run, func() { u.cancel(ErrUtteranceEnded) }, u.leave, func() { u.close(ctx) })
	return u, nil
}

// close ends the chunks, after the fault where a panic has ended the utterance. Its reader is
// there until life ends.
func (u *queue) close(life context.Context) {
	defer close(u.chunks)
	if err := context.Cause(u.ctx); errors.Is(err, isolate.Internal) {
		select {
		case u.chunks <- Chunk{Err: err}:
		case <-life.Done():
		}
	}
}

// queue is an utterance of a FailoverTTS: texts that are spoken in turn. What run does to speak one of
// them is in failover_utterance.go.
type queue struct {
	tts    *FailoverTTS
	voice  VoiceConfig
	ctx    context.Context
	cancel context.CancelCauseFunc
	chunks chan Chunk
	more   chan struct{} // holds one: there is text, or the end

	// Only run touches these.
	number int           // of the Say that is spoken
	length time.Duration // of the audio so far
	usage  Usage
	base   struct { // where times and usage of the engine count from
		length time.Duration
		usage  Usage
	}
	live *live // nil: no engine streams

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
			if u.live != nil && !u.live.ended {
				u.live.End()
			}
			u.leave()
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

// next takes the oldest text in which there is something to speak; without one, ended
// says whether another will come.
func (u *queue) next() (text string, ended bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(u.texts) > 0 {
		text, u.texts = u.texts[0], u.texts[1:]
		u.number, u.waiting = u.number+1, u.waiting-len(text)
		if strings.TrimSpace(text) != "" {
			return text, false
		}
	}
	return "", u.ended
}

// speak delivers the audio of one text, its times counted from the utterance's
// beginning; false means that nothing may follow.
func (u *queue) speak(text string) bool {
	var wait Wait
	marked := false
	for c, err := range u.speech(wait.With(u.ctx), text) {
		switch {
		case u.ctx.Err() != nil:
			return false
		case err != nil:
			c = Chunk{Err: err}
		}
		c.Say, marked = u.number, c.Last
		c.Shift(u.base.length)
		u.length += c.Length()
		if c.Usage != nil {
			u.usage = u.base.usage.Plus(*c.Usage)
			sum := u.usage
			c.Usage = &sum
		}
		if c.Sent.IsZero() {
			c.Sent, c.Got = wait.Times(c.Sent, c.Got)
		}
		if !u.deliver(c) || err != nil {
			return false
		}
	}
	return u.ctx.Err() == nil && (marked || u.deliver(Chunk{Say: u.number, Last: true}))
}

// deliver says false when the utterance has ended first.
func (u *queue) deliver(c Chunk) bool {
	select {
	case u.chunks <- c:
		return true
	case <-u.ctx.Done():
		return false
	}
}
