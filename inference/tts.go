package inference

import (
	"context"
	"iter"
	"time"

	"parley/media"
)

// TTS speaks.
type TTS interface {
	Info() Info
	// Voices lists what VoiceConfig.Voice may name.
	Voices() []Voice
	// Speak streams the audio of one text. The sequence ends after the last
	// chunk or after yielding one non-nil error. Errors: *Error with ErrVoice or
	// ErrLanguage before the first chunk.
	Speak(ctx context.Context, s Speech) iter.Seq2[Chunk, error]
}

// Speech is one text to speak.
type Speech struct {
	Text string
	VoiceConfig
}

// VoiceConfig is how to speak.
type VoiceConfig struct {
	Voice    string  // F1 to F5, M1 to M5, or an engine's own
	Language string  // two letters
	Speed    float64 // 0.5 to 2.0, 1 is the voice's own pace; 0 means 1
	Steps    int     // quality steps where the engine has them; 0: its default
	// Rate is what the far end plays; an engine that has a choice gives it. 0: its own.
	Rate media.Rate
	// Instructions say in words how to speak, where the engine listens to any.
	Instructions string
	Options      Options
}

// StreamingTTS speaks a text that is still being written, in one breath.
type StreamingTTS interface {
	TTS
	// Open begins an utterance. It ends with ctx, with
	// Cancel, or when all that was said before End has been delivered. Errors are
	// those of Speak; an engine that cannot be reached may also fail in the first chunk.
	Open(ctx context.Context, v VoiceConfig) (Utterance, error)
}

// Utterance is one reply on its way to be spoken. Its methods belong to one
// goroutine and do not wait for the engine; Chunks may be read by another.
type Utterance interface {
	// Say appends text, from a word to some sentences, with its spaces; what was said before
	// may not be spoken yet. Calls are numbered from 1; Chunk.Say tells which of them a chunk
	// belongs to. It fails when the utterance has ended.
	Say(text string) error
	// Flush has the engine speak what it holds back to find a better prosody, and mark the
	// end of each Say by Chunk.Last.
	Flush() error
	// End says that nothing follows: Chunks is closed when all has been delivered.
	End() error
	// Cancel drops what has not been delivered and returns at once. One chunk that
	// was on its way may still come before Chunks is closed. The engine's slot is free within one frame (20 ms).
	Cancel()
	// Chunks delivers the audio in order. It is closed at the end; when that is a
	// fault, and not Cancel or ctx, the last chunk carries Err.
	Chunks() <-chan Chunk
}

// Chunk is a piece of speech. The receiver owns its slices.
type Chunk struct {
	Samples []int16
	Rate    media.Rate // the same for all chunks of one Speak or Say
	Words   []Mark     // words that begin in this chunk; nil when the engine does not say
	Phones  []Mark     // phonemes (IPA) that begin in this chunk; nil likewise
	Usage   *Usage     // cumulative for the Speak or Utterance; nil: no news
	Engine  string     // like Delta's

	// Of an Utterance:
	Say       int       // the number of the Say whose text it speaks
	Last      bool      // nothing of that Say follows; the chunk may be empty
	Sent, Got time.Time // when the engine was asked for the Say, and gave this (Wait); zero: that was not noted
	Err       error     // it failed
}

// Length is how long the audio lasts.
func (c *Chunk) Length() time.Duration {
	if c.Rate == 0 {
		return 0
	}
	return c.Rate.Duration(len(c.Samples)).Duration()
}

// Shift adds a time to those of the marks.
func (c *Chunk) Shift(by time.Duration) {
	for _, marks := range [...][]Mark{c.Words, c.Phones} {
		for i := range marks {
			marks[i].Start += by
			if marks[i].End > 0 {
				marks[i].End += by
			}
		}
	}
}

// Mark is where a word or phoneme lies in the audio.
type Mark struct {
	Text       string
	Start, End time.Duration // from the first sample of the Speak or Utterance; End 0 when unknown
	Char       int           // index in the text of the Speak or Say of its first character, in code points; -1 when unknown
	Confidence float64       `json:",omitempty"` // ASR: 0 to 1; 0 when the engine does not say
}

// Voice is one voice of a TTS.
type Voice struct {
	ID          string
	Gender      string // "female" or "male"
	Description string
}
