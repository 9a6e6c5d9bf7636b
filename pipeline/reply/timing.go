package reply

import (
	"math"
	"time"

	"parley/media"
)

// Timing is where one turn's time went, on the wall clock.
type Timing struct {
	// Endpoint is from the end of the caller's speech to the moment the turn was
	// taken to be over.
	Endpoint time.Duration
	// Model is how long the model was waited for after that, from its request to the first
	// text; Voice is the wait for the rest of the first sentence and for its first audio.
	Model, Voice time.Duration
	// Total is from the end of the caller's speech to the first audio written.
	Total time.Duration
	// Overhead is Total less Endpoint and these waits: our own part, in which requests are
	// made, wait for a processor, a slot or the mailbox, and audio waits for its packet.
	Overhead time.Duration

	// The six points of the turn: the end of the caller's speech, in media time of the call
	// (of a typed turn, when it was typed), and how long after it the others were; Never
	// where one was not. A reply that goes on after functions counts from the same end of
	// speech, though it is a reply of its own in the times above.
	SpeechEnd     media.Time
	FinalText     time.Duration // the last of the turn's text became final; Never: it was answered before
	FirstToken    time.Duration // the model's first words
	FirstSentence time.Duration // its first sentence was complete, for the voice
	FirstAudio    time.Duration // the voice's first audio
	FirstPacket   time.Duration // and its first frame written
}

// Never is the time of something that did not happen.
const Never = time.Duration(math.MinInt64)

// Clock notes when the parts of a reply came.
type Clock struct {
	Endpoint time.Duration // from the end of the caller's speech to the end of turn
	End      EndOfTurn
	Asked    time.Time

	waits   engineWaits
	modelAt time.Time // its first words
	wholeAt time.Time // its first sentence
	voiceAt time.Time // its first audio
}

// EndOfTurn is the end of the caller's turn that a reply answers.
type EndOfTurn struct {
	At      media.Time // the last speech in it, or when it was typed
	Wall    time.Time  // the same on the wall clock
	Settled time.Time  // when the last of its text became final; zero: it did not
}

// sentence notes that a sentence begins to be spoken; audible says that the reply is heard
// already.
func (c *Clock) sentence(p Part, audible bool) {
	if p.Seg == 0 {
		c.modelAt, c.wholeAt = p.At, p.Whole
		c.waits.model = span{p.Sent, p.At}
	}
	if !audible {
		c.waits.sentence = span{c.modelAt, p.Whole}
	}
}

// audio notes the first audio.
func (c *Clock) audio(p Part) {
	c.voiceAt = p.At
	c.waits.voice = span{p.Sent, p.At}
}

// Report is the timing of a reply whose first frame is written now.
func (c *Clock) Report(now time.Time) Timing {
	end := &c.End
	t := Timing{Endpoint: c.Endpoint, Total: c.Endpoint + now.Sub(c.Asked), SpeechEnd: end.At,
		FinalText: end.since(end.Settled), FirstToken: end.since(c.modelAt), FirstSentence: end.since(c.wholeAt),
		FirstAudio: end.since(c.voiceAt), FirstPacket: end.since(now)}
	t.Model, t.Voice = c.waits.since(c.Asked)
	t.Overhead = now.Sub(c.Asked) - t.Model - t.Voice
	return t
}

// since is how long after the turn's end something happened; Never when it did not.
func (e *EndOfTurn) since(t time.Time) time.Duration {
	if t.IsZero() || e.Wall.IsZero() {
		return Never
	}
	return t.Sub(e.Wall)
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
