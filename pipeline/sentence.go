package pipeline

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/spoken"
	"parley/media"
)

// sentence is one piece of a reply on its way to the far end.
type sentence struct {
	gen, seg int
	text     string       // as it is shown
	form     *spoken.Form // of the text; nil: it is spoken as it is shown
	rate     media.Rate   // 0: no audio came yet
	pcm      []int16
	taken    int // samples taken of pcm
	total    int // samples received
	marks    []inference.Mark
	complete bool                    // all of it was received
	last     bool                    // no more of it is wanted
	broken   bool                    // its voice is through, what it still gives does not count
	stop     context.CancelCauseFunc // stops its voice
	anchors  [maxAnchors]anchor      // when its audio is heard, the earliest first
	anchored int
}

func (s *sentence) append(c inference.Chunk) {
	s.rate = c.Rate
	s.pcm = append(s.pcm, c.Samples...)
	s.total += len(c.Samples)
	s.marks = append(s.marks, c.Words...)
}

// left is the audio that is not yet taken.
func (s *sentence) left() []int16 { return s.pcm[s.taken:] }

// over says that there is nothing left to play of it.
func (s *sentence) over() bool { return len(s.left()) == 0 && (s.complete || s.last) }

// length is how much audio was received.
func (s *sentence) length() media.Time {
	if s.rate == 0 {
		return 0
	}
	return s.rate.Duration(s.total)
}

// heardMargin is taken off the cut: a word is heard when it ended this long before.
const heardMargin = 40 * media.Millisecond

// leastPerChar is what a character takes at least in quick speech. It stands in for
// the length of a sentence whose audio is still being made.
const leastPerChar = 60 * media.Millisecond

// heard is the beginning of the sentence of which off was played: whole words by
// the engine's marks, else in proportion to the audio.
func (s *sentence) heard(off media.Time) string {
	length := s.length()
	all := off >= length
	switch {
	case length == 0:
		return ""
	case all && s.complete:
		return s.text
	case !all || !s.last:
		off -= heardMargin
	}
	if off <= 0 {
		return ""
	}
	end := 0
	if len(s.marks) > 0 {
		end = s.marked(off.Duration())
	} else {
		end = s.inProportion(off, length)
	}
	return strings.TrimSpace(string([]rune(s.text)[:end]))
}

// inProportion is how many code points of the text are heard by off of the audio, of
// which there are length so far: whole words of what is spoken.
func (s *sentence) inProportion(off, length media.Time) int {
	form := s.form
	if form == nil {
		form = spoken.As(s.text)
	}
	runes := []rune(form.Spoken)
	if !s.complete {
		length = max(length, media.Time(len(runes))*leastPerChar)
	}
	end := min(len(runes), int(int64(len(runes))*int64(off)/int64(length)))
	for end > 0 && end < len(runes) && !unicode.IsSpace(runes[end]) {
		end--
	}
	return form.ShownAt(end)
}

// marked is the index, in code points, after the last word that ended by off.
func (s *sentence) marked(off time.Duration) int {
	n := utf8.RuneCountInString(s.text)
	end := 0
	for i, m := range s.marks {
		stop, follows := m.End, i+1 < len(s.marks)
		if stop == 0 && follows {
			stop = s.marks[i+1].Start
		}
		if stop == 0 || stop > off {
			break
		}
		switch {
		case follows && s.marks[i+1].Char >= 0:
			end = s.marks[i+1].Char // a word may be spelled otherwise in its mark
		case m.Char >= 0:
			end = m.Char + utf8.RuneCountInString(m.Text)
		default:
			end = s.find(m.Text, end)
		}
		end = min(end, n)
	}
	return end
}

// find is where the next occurrence of word from an index on ends, both in code
// points; from when it does not occur.
func (s *sentence) find(word string, from int) int {
	rest := string([]rune(s.text)[from:])
	before, _, found := strings.Cut(rest, word)
	if !found {
		return from
	}
	return from + utf8.RuneCountInString(before) + utf8.RuneCountInString(word)
}
