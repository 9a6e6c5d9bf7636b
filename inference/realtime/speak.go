package realtime

import (
	"context"
	"fmt"
	"iter"
	"time"

	"parley/inference"
	"parley/media/isolate"
)

// TTS is the engine as a voice. It speaks replies of its own, and asks itself to say what somebody else has written: an
// agent's own line. Nothing is spoken ahead of its time, for what a session says is part of its conversation: Speak fails.
func (c *Call) TTS() inference.StreamingTTS { return voice{c} }

type voice struct{ *Call }

// Info implements inference.TTS.
func (c voice) Info() inference.Info { return c.info() }

// Voices implements inference.TTS.
func (c voice) Voices() []inference.Voice { return c.engine.Voices() }

// Speak implements inference.TTS: it fails.
func (c voice) Speak(context.Context, inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		yield(inference.Chunk{}, &inference.Error{Engine: c.engine.Info().Name, Fault: inference.ErrUnavailable})
	}
}

// Open implements inference.StreamingTTS. The voice is that of the session.
func (c voice) Open(ctx context.Context, _ inference.VoiceConfig) (inference.Utterance, error) {
	u := &utterance{call: c.Call, chunks: make(chan inference.Chunk)}
	u.ctx, u.cancel = context.WithCancelCause(ctx)
	isolate.Go("inference/realtime/voice", u.cancel, u.run, u.close, func() { close(u.chunks) })
	return u, nil
}

// utterance is what the conductor says at a time: a reply of the engine's, sentence by sentence, or lines.
type utterance struct {
	call   *Call
	ctx    context.Context
	cancel context.CancelCauseFunc
	chunks chan inference.Chunk

	// Held under the call's lock.
	texts  [][]rune // letters of each Say
	lines  []string // and the texts
	ended  bool
	spoken []*reply      // whose audio was delivered, the last one maybe in part
	from   *reply        // whose audio is delivered; nil: the next Say has none yet
	own    bool          // from is a reply of the engine's, not a line
	number int           // the Say whose audio it is
	end    int           // letters of the reply up to the end of that Say
	played time.Duration // of from
}

// Say implements inference.Utterance.
func (u *utterance) Say(text string) error {
	u.call.mu.Lock()
	defer u.call.mu.Unlock()
	if u.ended || u.ctx.Err() != nil {
		return inference.ErrUtteranceEnded
	}
	u.texts, u.lines = append(u.texts, lettersOf(text)), append(u.lines, text)
	u.call.signalLocked()
	return nil
}

// Flush implements inference.Utterance. Nothing is held back.
func (u *utterance) Flush() error { return nil }

// End implements inference.Utterance.
func (u *utterance) End() error {
	u.call.mu.Lock()
	defer u.call.mu.Unlock()
	u.ended = true
	u.call.signalLocked()
	return nil
}

// Cancel implements inference.Utterance.
func (u *utterance) Cancel() { u.cancel(inference.ErrUtteranceEnded) }

// Chunks implements inference.Utterance.
func (u *utterance) Chunks() <-chan inference.Chunk { return u.chunks }

// run delivers audio until the end, the cancellation or a fault.
func (u *utterance) run() {
	for {
		var next inference.Chunk
		over := false
		if u.call.await(u.ctx, func() bool {
			next, over = u.nextLocked()
			return over || next.Say > 0
		}) != nil || over {
			return
		}
		select {
		case u.chunks <- next:
		case <-u.ctx.Done():
			return
		}
		if next.Err != nil {
			return
		}
	}
}

// close stops the reply whose audio is not wanted any more.
func (u *utterance) close() {
	u.call.mu.Lock()
	defer u.call.mu.Unlock()
	if p := u.from; p != nil {
		if u.played == 0 {
			u.call.interruptLocked(p, 0)
		} else {
			u.call.stopLocked(p)
		}
		p.audio = nil // nobody else speaks it
	}
	u.call.signalLocked()
}

// nextLocked is the next piece of audio; one without a Say: it has not come. over says that none will.
func (u *utterance) nextLocked() (next inference.Chunk, over bool) {
	if u.from == nil {
		if u.number == len(u.texts) {
			return next, u.ended
		}
		if !u.beginLocked() {
			return next, false
		}
	}
	p := u.from
	for u.own && u.number < len(u.texts) && (u.letter() >= u.end || u.tail()) {
		u.end += len(u.texts[u.number])
		u.number++
	}
	switch later := u.own && !u.ended && u.end < len(p.letters) && (u.letter() >= u.end || u.tail()); {
	case len(p.audio) > 0 && later:
		return next, false // it belongs to a sentence that is not said yet
	case len(p.audio) > 0:
		next, p.audio = p.audio[0], p.audio[1:]
		next.Say = u.number
		u.played += next.Length()
		u.call.speaking = u
		if now := time.Now(); u.call.quiet.Before(now) {
			u.call.quiet = now
		}
		u.call.quiet = u.call.quiet.Add(next.Length())
		return next, false
	case p.err != nil:
		return inference.Chunk{Say: u.number, Err: p.err}, false
	case !p.over:
		return next, false
	}
	if u.own {
		u.number = len(u.texts) // nothing is left of what the engine says for the others
		return next, u.ended
	}
	u.from = nil
	return u.nextLocked()
}

// letter is how many letters of the reply are said by now: exactly when it is complete, else by the engine's pace.
func (u *utterance) letter() int {
	if p := u.from; p.over && p.length > 0 {
		return int(float64(len(p.letters)) * u.played.Seconds() / p.length.Seconds())
	}
	return u.call.pace.letter(u.played)
}

// tail says that the last piece of the reply's audio is due: it belongs to the last sentence.
func (u *utterance) tail() bool { return u.from.over && len(u.from.audio) == 1 }

// beginLocked finds the audio of the next Say: that of a reply which says it, or of a line that is asked for. It
// returns false while no session is open.
func (u *utterance) beginLocked() bool {
	c := u.call
	if c.session == nil {
		return false
	}
	text := u.texts[u.number]
	u.played, u.own = 0, false
	for _, p := range c.replies {
		if p.use != untaken && !p.spoken && p.says(text, 0) {
			u.from, u.own = p, true
		}
	}
	if !u.own {
		u.from = c.askLocked(fmt.Sprintf("Say exactly this, word for word, and nothing else: %q", u.lines[u.number]), line)
	}
	u.from.spoken, u.end = true, len(text)
	u.spoken = append(u.spoken, u.from)
	u.number++
	return true
}
