package pipeline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences are spoken one by one while the model still writes. The first may end
// at a comma, so that the voice begins early; none is longer than maxSentence, so
// that the audio held for one stays bounded.
const (
	firstClause = 24  // bytes before a comma ends the first piece
	maxSentence = 280 // bytes
)

// segmenter cuts a growing text into pieces to speak.
type segmenter struct {
	text  string
	first bool // the first piece is out
}

// add appends text. Whole pieces are then taken with next.
func (s *segmenter) add(text string) { s.text += text }

// next takes the next whole piece, or "" when there is none yet.
func (s *segmenter) next() string {
	cut := s.boundary()
	if cut == 0 {
		return ""
	}
	piece := strings.TrimSpace(s.text[:cut])
	s.text = s.text[cut:]
	if !speakable(piece) {
		return s.next()
	}
	s.first = true
	return piece
}

// rest takes what is left when the text is complete.
func (s *segmenter) rest() string {
	piece := strings.TrimSpace(s.text)
	s.text = ""
	if !speakable(piece) {
		return ""
	}
	return piece
}

func speakable(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// boundary is where the first whole piece ends; 0 when it is not there yet.
func (s *segmenter) boundary() int {
	space := 0
	for i, r := range s.text {
		end := i + utf8.RuneLen(r)
		switch {
		case r == '\n':
			return end
		case strings.ContainsRune(".!?…", r) && s.endsSentence(i, end):
			return end
		case strings.ContainsRune(",;:", r) && !s.first && i >= firstClause && startsWithSpace(s.text[end:]):
			return end
		case unicode.IsSpace(r):
			space = end
		}
		if end >= maxSentence && space > 0 {
			return space
		}
	}
	return 0
}

// endsSentence says whether the mark at i ends a sentence. At the very end of
// what is known so far a full stop after a digit or an abbreviation waits.
func (s *segmenter) endsSentence(i, end int) bool {
	rest := s.text[end:]
	if rest != "" && !startsWithSpace(rest) {
		return false // "3.5", "e.g.", "?!"
	}
	if s.text[i] != '.' {
		return true
	}
	word := s.text[:i]
	word = word[strings.LastIndexFunc(word, unicode.IsSpace)+1:]
	if abbreviations[strings.ToLower(word)] {
		return false
	}
	if rest == "" {
		last, _ := utf8.DecodeLastRuneInString(word)
		return unicode.IsLetter(last) && utf8.RuneCountInString(word) > 1
	}
	return true
}

func startsWithSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsSpace(r)
}

// abbreviations end in a full stop that ends no sentence.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "st": true, "e.g": true, "i.e": true, "a.m": true, "p.m": true,
	"sr": true, "sra": true, "dra": true, "av": true, "núm": true, "mme": true, "z.b": true, "hr": true, "fr": true, "nr": true, "sig": true,
}
