package inference

import (
	"context"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// live is the utterance of an engine that streams, in one of a FailoverTTS. It is ahead of the queue: it
// has been given all that was said.
type live struct {
	Utterance
	engine int
	says   []int // the queue's numbers of its Says
	ended  bool  // it has the end
	held   Chunk // the first of a Say after the one that the queue speaks; Say 0: none
}

// speech is the audio of the text that is spoken now.
func (u *queue) speech(ctx context.Context, text string) iter.Seq2[Chunk, error] {
	return u.tts.speech(ctx, u.order, func(ctx context.Context, i int) iter.Seq2[Chunk, error] {
		if u.live != nil && u.live.engine != i {
			u.drop()
		}
		if engine, ok := u.tts.engines[i].(StreamingTTS); ok {
			return func(yield func(Chunk, error) bool) { u.stream(ctx, engine, i, text, yield) }
		}
		u.rebase()
		return u.tts.engines[i].Speak(ctx, Speech{Text: strings.TrimRightFunc(text, unicode.IsSpace), VoiceConfig: u.voice})
	})
}

// order is the engine that has the text already, then the others.
func (u *queue) order() []int {
	order := u.tts.health.order()
	if u.live != nil {
		order = slices.Insert(slices.DeleteFunc(order, func(i int) bool { return i == u.live.engine }), 0, u.live.engine)
	}
	return order
}

// rebase has times and usage of the engine count from here.
func (u *queue) rebase() { u.base.length, u.base.usage = u.length, u.usage }

// drop leaves the engine that streams, when it has stopped.
func (u *queue) drop() {
	u.live.Cancel()
	u.leave()
	u.live = nil
}

// stream yields the audio of the text that is spoken now, from an engine that streams.
func (u *queue) stream(ctx context.Context, engine StreamingTTS, i int, text string, yield func(Chunk, error) bool) {
	if u.live != nil && !slices.Contains(u.live.says, u.number) && u.feed(text) != nil {
		u.drop() // it has ended while there was nothing to speak
	}
	if u.live == nil {
		opened, err := engine.Open(u.ctx, u.voice)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		u.live = &live{Utterance: opened, engine: i}
		u.rebase()
	}
	var err error
	for l := u.live; err == nil; {
		u.feed(text)
		c, ok := l.held, true
		if l.held = (Chunk{}); c.Say == 0 {
			select {
			case c, ok = <-l.Chunks():
			case <-u.more:
			case <-ctx.Done():
			}
		}
		switch n := l.number(c.Say); {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case !ok && l.ended:
			return
		case !ok:
			err = &Error{Engine: engine.Info().Name, Fault: ErrFailed, Err: ErrUtteranceEnded}
		case c.Err != nil:
			err = c.Err
		case n > u.number:
			l.held = c
			return
		case n == u.number && (!yield(c, nil) || c.Last):
			return
		}
	}
	u.drop()
	yield(Chunk{}, err)
}

// number is the queue's number of a Say; 0: there is none.
func (l *live) number(say int) int {
	if say < 1 || say > len(l.says) {
		return 0
	}
	return l.says[say-1]
}

// feed gives the engine that streams all that was said and that it has not, and the end.
func (u *queue) feed(text string) (err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	l, before := u.live, len(u.live.says)
	for i, t := range slices.Concat([]string{text}, u.texts) {
		if n := u.number + i; len(l.says) == 0 || n > l.says[len(l.says)-1] {
			l.says, err = append(l.says, n), l.Say(t)
		}
	}
	switch {
	case u.ended && !l.ended:
		l.ended = true
		l.End()
	case len(l.says) > before:
		l.Flush()
	}
	return err
}

// leave waits until the engine that streams has closed its utterance.
func (u *queue) leave() {
	if u.live != nil {
		for range u.live.Chunks() {
		}
	}
}
