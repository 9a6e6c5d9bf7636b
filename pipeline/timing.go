package pipeline

import (
	"time"

	"parley/media"
	"parley/pipeline/turn"
)

// timed reports where the time of a turn went.
func (c *Call) timed(r *reply, now time.Time) {
	if r.line == turn.NoLine {
		c.emit(Event{Kind: Timed, Turn: r.turn, Generation: r.number, Timing: r.timing.report(now)})
	}
}

// replyTiming is when the parts of a reply came.
type replyTiming struct {
	endpoint time.Duration // from the end of the caller's speech to the end of turn
	over     turnOver      // the end of the turn it answers
	asked    time.Time
	waits    engineWaits
	modelAt  time.Time // its first words
	wholeAt  time.Time // its first sentence
	voiceAt  time.Time // its first audio
}

// report is the timing of a reply whose first frame is written now.
func (t *replyTiming) report(now time.Time) Timing {
	out := Timing{Endpoint: t.endpoint, Total: t.endpoint + now.Sub(t.asked), SpeechEnd: t.over.at,
		FinalText: t.over.since(t.over.settled), FirstToken: t.over.since(t.modelAt), FirstSentence: t.over.since(t.wholeAt),
		FirstAudio: t.over.since(t.voiceAt), FirstPacket: t.over.since(now)}
	out.Model, out.Voice = t.waits.since(t.asked)
	out.Overhead = now.Sub(t.asked) - out.Model - out.Voice
	return out
}

// engineWaits are the times in which a reply waited for its engines: for the model's first
// text, for the rest of the sentence that was heard first, for that one's first audio.
type engineWaits struct{ model, sentence, voice span }

type span struct{ from, to time.Time }

// since is how long the model and the voice were waited for after a reply was asked for;
// it may have been speculative.
func (w *engineWaits) since(asked time.Time) (model, voice time.Duration) {
	if w.voice.from.IsZero() { // an older journal does not say when engines were asked
		w.model.from, w.voice.from = asked, w.sentence.to
	}
	return w.model.after(asked), w.sentence.after(asked) + w.voice.after(asked)
}

func (s span) after(t time.Time) time.Duration {
	if s.from.Before(t) {
		s.from = t
	}
	return max(0, s.to.Sub(s.from))
}

// turnOver is the end of the caller's turn.
type turnOver struct {
	at      media.Time // the last speech in it, or when it was typed
	wall    time.Time  // the same on the wall clock
	settled time.Time  // when the last of its text became final; zero: it did not
}

// since is how long after the turn's end something was; Never when it was not.
func (o *turnOver) since(t time.Time) time.Duration {
	if t.IsZero() || o.wall.IsZero() {
		return Never
	}
	return t.Sub(o.wall)
}
