package playout

import (
	"cmp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/spoken"
	"parley/media"
	"parley/pipeline/wordtime"
)

// Sentence is one piece of a reply on its way to the far end. Its maker sets the exported
// fields and appends audio while the Playout plays it.
type Sentence struct {
	Gen, Seg int          // the reply, and the place in it
	Text     string       // as it is shown
	Form     *spoken.Form // of the text; nil: it is spoken as it is shown
	Complete bool         // all of its audio was received
	Ended    bool         // no more of it is waited for

	rate    media.Rate // 0: no audio came yet
	track   track
	ends    media.Time // position on the leg at which it is played to its end; it was taken to that
	total   int        // samples received
	marks   []inference.Mark
	clock   wordtime.Clock // in anchors
	anchors [maxAnchors]wordtime.Stretch
}

const (
	// HeardMargin is taken off where playing was stopped: a word is heard when it ended this
	// long before.
	HeardMargin = 40 * media.Millisecond
	// leastPerChar is what a character takes at least in quick speech. It stands in for
	// the length of a sentence whose audio is still being made.
	leastPerChar = 60 * media.Millisecond
)

// Append takes a piece of audio, whose rate is that of the first, and its marks. Without audio it may have no rate. The
// samples belong to the sentence from now on.
func (s *Sentence) Append(c inference.Chunk) {
	s.rate = cmp.Or(c.Rate, s.rate)
	s.track.add(c.Samples)
	s.total += len(c.Samples)
	s.marks = append(s.marks, c.Words...)
}

// Length is how much audio was received.
func (s *Sentence) Length() media.Time {
	if s.rate == 0 {
		return 0
	}
	return s.rate.Duration(s.total)
}

// shorten ends the sentence after limit more of its audio, and returns how much follows.
func (s *Sentence) shorten(limit media.Time) media.Time {
	s.Ended = true
	n := min(s.track.left(), limit.Samples(s.rate))
	s.Complete = s.Complete && n == s.track.left()
	s.track.cut(n)
	return s.rate.Duration(n)
}

// Truncate ends the sentence with the audio that is there. Its text becomes what that says. Returned is what is to be said
// again so that no word is lost: from the first word that the audio does not have to its end, or all of the sentence where
// the engine marked no words.
func (s *Sentence) Truncate() (again string) {
	s.Ended = true
	said := s.Heard(s.Length())
	again = s.Text
	if len(s.marks) > 0 {
		again = strings.TrimSpace(strings.TrimPrefix(s.Text, said))
	}
	s.Text, s.Form, s.marks, s.Complete = said, nil, nil, true
	return again
}

// Heard is the part of a reply's sentences that is heard when playing has come to h. What
// has no audio was not heard.
func Heard(reply []*Sentence, h Position) string {
	var list []string
	for _, s := range reply {
		if part := s.part(h); part != "" {
			list = append(list, part)
		}
	}
	return strings.Join(list, " ")
}

// part is what is heard of the sentence when playing has come to h.
func (s *Sentence) part(h Position) string {
	switch {
	case h.Gen != s.Gen || s.Seg > h.Seg || s.total == 0:
		return ""
	case s.Seg == h.Seg:
		return s.Heard(h.Off)
	}
	return s.Text
}

// Heard is the beginning of the sentence of which off was played: whole words by
// the engine's marks, else in proportion to the audio.
func (s *Sentence) Heard(off media.Time) string {
	length := s.Length()
	all := off >= length
	switch {
	case length == 0:
		return ""
	case all && s.Complete:
		return s.Text
	case !all || !s.Ended:
		off -= HeardMargin
	}
	if off <= 0 {
		return ""
	}
	end := 0
	if len(s.marks) > 0 {
		end = s.marked(off.Duration())
	} else {
		end = s.inProportion(off)
	}
	return strings.TrimSpace(string([]rune(s.Text)[:end]))
}

// spoken is the sentence's form, how many code points are spoken, and how long they last
// as far as is known.
func (s *Sentence) spoken() (form *spoken.Form, chars int, length media.Time) {
	if form = s.Form; form == nil {
		form = spoken.As(s.Text)
	}
	chars, length = utf8.RuneCountInString(form.Spoken), s.Length()
	if !s.Complete {
		length = max(length, media.Time(chars)*leastPerChar)
	}
	return form, chars, length
}

// inProportion is how many code points of the text are heard by off of the audio: whole
// words of what is spoken.
func (s *Sentence) inProportion(off media.Time) int {
	form, chars, length := s.spoken()
	runes := []rune(form.Spoken)
	end := min(chars, int(int64(chars)*int64(off)/int64(length)))
	for end > 0 && end < chars && !unicode.IsSpace(runes[end]) {
		end--
	}
	return form.ShownAt(end)
}

// marked is the index, in code points, after the last word that ended by off.
func (s *Sentence) marked(off time.Duration) int {
	n := utf8.RuneCountInString(s.Text)
	end := 0
	for i, m := range s.marks {
		stop := s.markEnd(i)
		if stop == 0 || stop > off {
			break
		}
		switch {
		case i+1 < len(s.marks) && s.marks[i+1].Char >= 0:
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

// markEnd is where a marked word ends in the audio: where the next begins, unless the engine
// says; 0: that is not known.
func (s *Sentence) markEnd(i int) time.Duration {
	if end := s.marks[i].End; end != 0 || i+1 == len(s.marks) {
		return end
	}
	return s.marks[i+1].Start
}

// find is where the next occurrence of word from an index on ends, both in code
// points; from when it does not occur.
func (s *Sentence) find(word string, from int) int {
	rest := string([]rune(s.Text)[from:])
	before, _, found := strings.Cut(rest, word)
	if !found {
		return from
	}
	return from + utf8.RuneCountInString(before) + utf8.RuneCountInString(word)
}
