package tts

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"parley/api"
	"parley/inference"
	"parley/media"
)

// Lengths of chunks, in samples. The first is short, for clients play it at once;
// each later one is half as long as all before it, so that a client whose engine
// is slower than that still has something to play while the next one is made.
const (
	firstChunk = int(Rate) / 5
	maxChunk   = int(Rate)
	// leastChunk is what the end of a piece must have to be sent by itself.
	leastChunk = int(Rate) / 10
)

// Speak gives the audio of a checked request, chunk by chunk, as fast as it is
// pulled: the engine is asked for the next piece of the text only when the audio of
// the last one has been taken. A chunk is one second at most. The sequence ends
// after the last chunk or after one error: ErrVoiceAway, ErrSynthesis, ErrLanguage,
// or the cause of ctx, whose end frees the engine at once; when that is the end of
// charged work, store.ErrInsufficientBalance or ErrDraining. A text with nothing to
// speak in it gives no chunk.
func (s *Service) Speak(ctx context.Context, r Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		j := &job{Request: r, engine: s.engine, text: []rune(r.Text), yield: yield}
		j.perUnit = media.Time(float64(leastPerUnit) / r.Speed)
		for p := range pieces(j.text) {
			if err := j.speak(ctx, p); err != nil {
				if err != errStopped {
					yield(Chunk{}, fault(ctx, err))
				}
				return
			}
		}
		j.audio.end()
		for len(j.audio.out) > maxChunk {
			if j.give(maxChunk) != nil {
				return
			}
		}
		if len(j.audio.out) > 0 {
			_ = j.give(len(j.audio.out)) // it was the last one
		}
	}
}

// fault is an engine's error in the words of the error table.
func fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return api.Stopped(context.Cause(ctx))
	}
	if e, ok := errors.AsType[*inference.Error](err); ok {
		switch e.Fault {
		case inference.ErrVoice, inference.ErrUnavailable:
			return fmt.Errorf("%w: %w", api.ErrVoiceAway, err)
		case inference.ErrLanguage:
			return api.Detail(fmt.Errorf("%w: %w", api.ErrLanguage, err), "language: no voice of this server speaks it")
		}
	}
	return fmt.Errorf("%w: %w", api.ErrSynthesis, err)
}

var (
	errStopped = errors.New("the receiver wants no more")
	errRate    = errors.New("the engine's sample rate is none that can be converted")
)

// job is one request being spoken.
type job struct {
	Request
	engine inference.TTS
	text   []rune
	yield  func(Chunk, error) bool
	audio  joined
	marks  []mark // of audio that was not given yet, in order
	chars  int    // of the text, that the audio given covers
	// perUnit is what a letter has taken in the piece before.
	perUnit media.Time
	last    media.Time // of the latest mark

	// The piece in progress.
	piece
	begin  media.Time // where its audio begins
	phones bool       // the engine gives its phonemes
	guess  estimate
}

// mark says that the text is spoken up to chars at a time, and with which mouth shape.
type mark struct {
	at    media.Time
	chars int
	shape int // -1: none
}

// speak speaks one piece. It returns errStopped when the receiver has had enough.
func (j *job) speak(ctx context.Context, p piece) error {
	j.piece, j.begin, j.phones = p, j.audio.taken, false
	j.guess = newEstimate(j.text[p.from:p.to])
	speech := inference.Speech{Text: string(j.text[p.from:p.to]), VoiceConfig: inference.VoiceConfig{Voice: j.Voice, Language: j.Language, Speed: j.Speed, Steps: j.Steps}}
	for c, err := range j.engine.Speak(ctx, speech) {
		if err == nil && !c.Rate.Valid() {
			err = errRate
		}
		if err != nil {
			return err
		}
		j.audio.write(c.Samples, c.Rate)
		j.mark(c.Phones)
		for n := j.next(); len(j.audio.out) > n; n = j.next() {
			if err := j.give(n); err != nil {
				return err
			}
		}
	}
	j.endPiece()
	if n := len(j.audio.out); n > leastChunk && p.end < len(j.text) {
		return j.give(n)
	}
	return nil
}

// next is how long the next chunk should be.
func (j *job) next() int {
	return min(maxChunk, max(firstChunk, (j.audio.made-len(j.audio.out))/2))
}

// mark notes the engine's phonemes.
func (j *job) mark(phones []inference.Mark) {
	for _, p := range phones {
		j.phones = true
		i := min(max(p.Char, 0), j.to-j.from-1)
		j.add(j.begin+media.FromDuration(p.Start), j.from+i, Shape(p.Text))
	}
}

// add notes that the character at an index is spoken at a time, which is never
// before the last one noted.
func (j *job) add(at media.Time, index, shape int) {
	j.last = max(j.last, at)
	j.marks = append(j.marks, mark{at: j.last, chars: index + 1, shape: shape})
}

// imagine notes guesses for the audio of the piece up to a time.
func (j *job) imagine(until media.Time) {
	perUnit := j.perUnit
	if j.guess.all > 0 {
		perUnit = max(perUnit, (j.audio.taken-j.begin)/media.Time(j.guess.all))
	}
	for i, at, ok := j.guess.next(perUnit); ok && j.begin+at < until; i, at, ok = j.guess.next(perUnit) {
		j.add(j.begin+at, j.from+i, shapeOf(j.text[j.from+i]))
		j.guess.pass()
	}
}

// endPiece squeezes what was not yet guessed into the rest of the piece's audio, and
// notes the end of the piece.
func (j *job) endPiece() {
	end := j.audio.taken
	length := end - j.begin
	if !j.phones && j.guess.all > 0 && length > 0 {
		from := max(j.last, j.audio.given(), j.begin)
		left, before := media.Time(j.guess.units), j.guess.spent
		for i, _, ok := j.guess.next(0); ok && left > 0; i, _, ok = j.guess.next(0) {
			at := from + max(0, end-from)*media.Time(j.guess.spent-before)/left
			j.add(at, j.from+i, shapeOf(j.text[j.from+i]))
			j.guess.pass()
		}
		j.perUnit = length / media.Time(j.guess.all)
	}
	j.marks = append(j.marks, mark{at: max(j.last, end-1), chars: j.end, shape: -1})
}

// give passes on the next n samples with what is said in them.
func (j *job) give(n int) error {
	last := n == len(j.audio.out) && j.audio.conv == nil
	c := Chunk{Samples: j.audio.take(n)}
	until := j.audio.given()
	if !j.phones {
		j.imagine(until)
	}
	k := 0
	for ; k < len(j.marks) && (last || j.marks[k].at < until); k++ {
		m := j.marks[k]
		j.chars = max(j.chars, m.chars)
		if j.Visemes && m.shape >= 0 {
			t := math.Round(float64(m.at)/float64(media.Second)*1000) / 1000
			c.Visemes = append(c.Visemes, Viseme{V: m.chars - 1, C: Alphabet[m.shape], T: t, ID: m.shape})
		}
	}
	j.marks = j.marks[:copy(j.marks, j.marks[k:])]
	c.Chars = j.chars
	if !j.yield(c, nil) {
		return errStopped
	}
	return nil
}
