// Package wordtime says when the words of a line were said, in media time of a call. Words have the times that an engine
// gave; where it gave none they have shares of the audio, by their length. Nothing is decided by them: they are for people
// who read a transcript.
//
// A Clock says when audio was heard. Its user knows where in the audio a word lies: package playout by the voice's marks, the
// conductor by the caller's speech between the detector's verdicts.
package wordtime

import (
	"strings"
	"unicode/utf8"

	"parley/media"
)

// Word is a word of a line and when it was said, in media time of the call.
type Word struct {
	Text     string
	From, To media.Time
}

// Said is how a line was said. It does not change.
type Said struct {
	Words []Word // of the line's text, in order
	// Estimated says that an engine gave no times for some of them: they have shares of
	// the speech or of the audio, by their length.
	Estimated bool
	// Of a line of the agent's that was interrupted: when, and what had been made of the rest,
	// which nobody heard and the model does not learn.
	Interrupted bool
	Cut         media.Time
	Unheard     string
}

// Until has no word last beyond at, when the line was over: what is heard is known to a frame only.
func (s *Said) Until(at media.Time) {
	for i := range s.Words {
		w := &s.Words[i]
		w.From, w.To = min(w.From, at), min(w.To, at)
	}
}

// Clock says when audio was heard: its stretches in order, each without a gap.
type Clock []Stretch

// Stretch is audio from Off on, which was heard from At on.
type Stretch struct{ Off, At media.Time }

// When is the media time at which a place in the audio was heard: the beginning of what follows it or, with end, the end
// of what is before it. The clock must not be empty.
func (c Clock) When(off media.Time, end bool) media.Time {
	k := len(c) - 1
	for k > 0 && (c[k].Off > off || end && c[k].Off == off) {
		k--
	}
	at := c[k].At + off - c[k].Off
	if k+1 < len(c) {
		at = min(at, c[k+1].At)
	}
	return at
}

// Words are the first n words of a text; none by an empty clock. place says where in the audio a place in the text lies,
// in code points, with end as in When.
func (c Clock) Words(text string, n int, place func(char int, end bool) media.Time) []Word {
	if n == 0 || len(c) == 0 {
		return nil
	}
	fields := strings.Fields(text)
	words, char := make([]Word, 0, n), 0
	for _, word := range fields[:min(n, len(fields))] {
		at := strings.Index(text, word)
		from := char + utf8.RuneCountInString(text[:at])
		char = from + utf8.RuneCountInString(word)
		text = text[at+len(word):]
		words = append(words, Word{word, c.When(place(from, false), false), c.When(place(char, true), true)})
	}
	return words
}

// Share gives words shares of audio of some length, by their length and the spaces between them.
func (c Clock) Share(words []string, length media.Time) []Word {
	text := strings.Join(words, " ")
	each := length / media.Time(max(1, utf8.RuneCountInString(text)))
	return c.Words(text, len(words), func(char int, _ bool) media.Time { return each * media.Time(char) })
}
