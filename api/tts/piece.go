package tts

import (
	"iter"
	"strings"
	"unicode"

	"parley/media"
	"parley/media/resample"
)

// A text is given to the engine in pieces, so that speech begins early, a job that
// is given up stops soon, and memory stays bounded. All are in code points.
const (
	// The first piece is a sentence, or the part before a comma from clauseFrom on.
	clauseFrom = 24
	firstMax   = 120
	// Those after it are whole sentences, several where they are short.
	pieceFrom = 40
	pieceMax  = 280
)

// piece is what is spoken at once: text[from:to], of which the part up to end is
// covered, the spaces behind it included.
type piece struct{ from, to, end int }

const (
	sentenceMarks = ".!?…"
	clauseMarks   = ",;:"
	closers       = "\"'”’»)]}"
)

// pieces cuts a text. Together they cover all of it.
func pieces(text []rune) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		least, most := 1, firstMax
		for at := skipSpaces(text, 0); at < len(text); {
			p := piece{from: at, to: cut(text, at, least, most)}
			p.end = skipSpaces(text, p.to)
			if !yield(p) {
				return
			}
			at, least, most = p.end, pieceFrom, pieceMax
		}
	}
}

// cut is where the piece that begins at from ends. It has least code points, if
// there are so many, and not more than most. Only the first may have less than
// pieceFrom, and may end with a clause.
func cut(text []rune, from, least, most int) int {
	first := least < pieceFrom
	clause, space := 0, 0
	for i := from; i < len(text); i++ {
		n := i - from + 1
		switch r := text[i]; {
		case r == '\n' && n > least:
			return i
		case strings.ContainsRune(sentenceMarks, r):
			if end := endOfSentence(text, i); end > 0 && end-from >= least && end-from <= most {
				return end
			}
		case strings.ContainsRune(clauseMarks, r) && spaceAt(text, i+1):
			if clause = i + 1; first && n >= clauseFrom {
				return clause
			}
		case unicode.IsSpace(r):
			space = i
		}
		if n < most {
			continue
		}
		switch {
		case i+1 == len(text):
		case clause > from+most/2:
			return clause
		case space > from:
			return space
		default:
			return i + 1
		}
	}
	to := len(text)
	for to > from && unicode.IsSpace(text[to-1]) {
		to--
	}
	return to
}

// endOfSentence is where the sentence ends whose mark is at i, or 0 when it goes
// on. A full stop behind a short word may belong to the word ("Dr.", "p.m.", "3.");
// not to cut there costs nothing.
func endOfSentence(text []rune, i int) int {
	end := i + 1
	for end < len(text) && strings.ContainsRune(sentenceMarks+closers, text[end]) {
		end++
	}
	if end < len(text) && !unicode.IsSpace(text[end]) {
		return 0
	}
	next := skipSpaces(text, end)
	if next < len(text) && unicode.IsLower(text[next]) {
		return 0
	}
	if text[i] != '.' || end > i+1 || next == len(text) {
		return end
	}
	word := 0
	for j := i - 1; j >= 0 && unicode.IsLetter(text[j]); j-- {
		word++
	}
	if word <= 3 {
		return 0
	}
	return end
}

func spaceAt(text []rune, i int) bool { return i < len(text) && unicode.IsSpace(text[i]) }

func skipSpaces(text []rune, i int) int {
	for i < len(text) && unicode.IsSpace(text[i]) {
		i++
	}
	return i
}

// joined makes one 44.1 kHz stream of what the engine gives piece by piece: the
// resampler's history joins pieces without a seam, and its delay is taken out, so
// that marks stay where they are. When the engine's rate changes, which happens
// when another one takes over, a new resampler follows.
type joined struct {
	rate  media.Rate
	conv  *resample.Resampler
	in    []int16    // less than a frame, not yet converted
	skip  int        // samples of the filter's delay to drop
	taken media.Time // audio that came in
	made  int        // samples that came out, the waiting ones included
	out   []int16    // samples that wait
}

// write takes samples of the engine in; they are not kept.
func (j *joined) write(samples []int16, rate media.Rate) {
	if rate != j.rate {
		j.end()
		j.rate, j.conv = rate, resample.New(rate, Rate)
		j.skip = int((j.conv.Delay() + Rate.Tick()/2) / Rate.Tick())
	}
	j.taken += rate.Duration(len(samples))
	frame := rate.FrameSamples()
	if len(j.in) > 0 {
		n := min(len(samples), frame-len(j.in))
		j.in = append(j.in, samples[:n]...)
		samples = samples[n:]
		if len(j.in) < frame {
			return
		}
		j.convert(j.in)
		j.in = j.in[:0]
	}
	for ; len(samples) >= frame; samples = samples[frame:] {
		j.convert(samples[:frame])
	}
	j.in = append(j.in, samples...)
}

func (j *joined) convert(frame []int16) {
	out := j.conv.Process(media.Frame{Samples: frame, Rate: j.rate}).Samples
	n := min(j.skip, len(out))
	j.skip -= n
	j.made += len(out) - n
	j.out = append(j.out, out[n:]...)
}

// end brings out what the resampler holds: as much audio has come out then as went
// in.
func (j *joined) end() {
	if j.conv == nil {
		return
	}
	all := j.taken.Samples(Rate)
	for j.made < all || len(j.in) > 0 {
		j.convert(j.in) // the resampler takes what is missing for silence
		j.in = j.in[:0]
	}
	j.out = j.out[:len(j.out)-(j.made-all)]
	j.made, j.conv, j.rate = all, nil, 0
}

// take gives the first n samples that wait away.
func (j *joined) take(n int) []int16 {
	samples := append(make([]int16, 0, n), j.out[:n]...)
	j.out = j.out[:copy(j.out, j.out[n:])]
	return samples
}

// given is the time up to which samples were taken away.
func (j *joined) given() media.Time { return Rate.Duration(j.made - len(j.out)) }
