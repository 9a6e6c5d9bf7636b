package inference

import (
	"slices"
	"sync"
	"time"

	"parley/media"
)

// TapeLength is how much audio a Tape keeps at most. It bounds what one call can owe a
// recogniser: 480 kB a call at 16 kHz, and more than any utterance a caller expects an
// answer to.
const TapeLength = 15 * time.Second

// maxCuts bounds the utterances that may wait for a recogniser at once. At one
// second of speech each, 15 of them already fill the tape.
const maxCuts = 64

// Tape keeps caller audio of one rate that is not recognised for good yet, and where
// utterances end in it. A batch engine reads its requests from it; a stream that
// has lost its engine replays it to the next one. When it is full the oldest
// audio gives way. Positions count samples from the start of the stream.
//
// A Tape belongs to one stream, which guards it with its own lock. It is as large as the
// audio that it keeps: in blocks that all tapes share.
type Tape struct {
	most     int64    // samples that it keeps
	blocks   []*block // the first holds the oldest sample kept
	first    int64    // position of its first sample
	base     int64    // position of the oldest sample kept
	end      int64    // position after the newest
	cuts     []Cut    // finished utterances without a last result, oldest first
	current  int      // number of the utterance in progress, from 1
	finished bool     // the latest of Finish and Resume was Finish
}

// block is half a second of audio from a telephone.
type block [4096]int16

const blockSize = int64(len(block{}))

var blocks = sync.Pool{New: func() any { return new(block) }}

// Cut is the end of a finished utterance.
type Cut struct {
	Utterance int
	End       int64 // position after its last sample
}

// NewTape returns an empty tape of TapeLength at a rate.
func NewTape(rate media.Rate) *Tape {
	return &Tape{most: int64(media.FromDuration(TapeLength).Samples(rate)), current: 1}
}

// Write appends a copy of samples and says how many old samples had to go.
func (t *Tape) Write(samples []int16) (dropped int) {
	for len(samples) > 0 {
		at := t.end - t.first
		if at == int64(len(t.blocks))*blockSize {
			t.blocks = append(t.blocks, blocks.Get().(*block))
		}
		n := copy(t.blocks[at/blockSize][at%blockSize:], samples)
		samples, t.end = samples[n:], t.end+int64(n)
		if oldest := t.end - t.most; oldest > t.base {
			dropped += int(oldest - t.base)
			t.forget(oldest)
		}
	}
	return dropped
}

// forget lets go of what was before position to, which is no later than the end.
func (t *Tape) forget(to int64) {
	t.base = to
	n := 0
	for ; t.first+blockSize <= to; n++ {
		blocks.Put(t.blocks[n])
		t.first += blockSize
	}
	t.blocks = slices.Delete(t.blocks, 0, n)
}

// Finish ends the utterance in progress and returns its number; ok is false when
// too many utterances wait already, and then nothing has changed.
func (t *Tape) Finish() (utterance int, ok bool) {
	if len(t.cuts) == maxCuts {
		return t.current, false
	}
	t.cuts = append(t.cuts, Cut{t.current, t.end})
	t.current++
	t.finished = true
	return t.current - 1, true
}

// Resume takes back the latest Finish: its utterance is in progress again. It
// returns the number and whether the utterance was still waiting; when it was
// not, only what is written from now on remains to be recognised.
func (t *Tape) Resume() (utterance int, waiting bool) {
	if !t.finished {
		return t.current, false
	}
	t.finished = false
	t.current--
	if n := len(t.cuts); n > 0 && t.cuts[n-1].Utterance == t.current {
		t.cuts = t.cuts[:n-1]
		return t.current, true
	}
	return t.current, false
}

// Waiting lists the finished utterances that have no last result, oldest first.
// The slice is valid until the next call.
func (t *Tape) Waiting() []Cut { return t.cuts }

// Current is the number of the utterance in progress.
func (t *Tape) Current() int { return t.current }

// Span is the positions of the oldest sample kept and after the newest.
func (t *Tape) Span() (from, to int64) { return t.base, t.end }

// Settle forgets the audio before position to.
func (t *Tape) Settle(to int64) {
	if to = min(to, t.end); to > t.base {
		t.forget(to)
	}
}

// Done forgets an utterance that got its last result, and its audio with it.
func (t *Tape) Done(utterance int) {
	n := 0
	for n < len(t.cuts) && t.cuts[n].Utterance <= utterance {
		t.Settle(t.cuts[n].End)
		n++
	}
	t.cuts = append(t.cuts[:0], t.cuts[n:]...)
}

// Append copies what is kept between two positions to the end of dst.
func (t *Tape) Append(dst []int16, from, to int64) []int16 {
	from, to = max(from, t.base), min(to, t.end)
	for from < to {
		b := t.blocks[(from-t.first)/blockSize][(from-t.first)%blockSize:]
		n := min(int64(len(b)), to-from)
		dst = append(dst, b[:n]...)
		from += n
	}
	return dst
}
