package tts

import (
	"strings"
	"unicode"

	"parley/media"
)

// leastPerUnit is what a letter takes at least at the voices' own pace.
const leastPerUnit = 50 * media.Millisecond

// Pauses as long as so many letters.
const (
	clausePause   = 3
	sentencePause = 5
	digitLength   = 4 // a digit is a word
)

// estimate guesses when the characters of a piece are spoken, where the engine does
// not say: each letter takes as long as any other, and a pace is assumed until the
// audio shows that the voice is slower.
type estimate struct {
	text  []rune // the piece
	units int    // what is left to speak, in letters
	all   int
	at    int // index of the next character
	spent int // letters before it
}

func newEstimate(text []rune) estimate {
	e := estimate{text: text}
	for _, r := range text {
		e.all += length(r)
	}
	e.units = e.all
	return e
}

// length is how long a character takes, in letters.
func length(r rune) int {
	switch {
	case unicode.IsDigit(r):
		return digitLength
	case unicode.IsLetter(r):
		return 1
	case strings.ContainsRune(clauseMarks, r):
		return clausePause
	case strings.ContainsRune(sentenceMarks, r):
		return sentencePause
	}
	return 0
}

// next is the next character that takes time: its index in the piece and when it
// begins, where one letter takes perUnit. ok is false at the end of the piece.
func (e *estimate) next(perUnit media.Time) (i int, begin media.Time, ok bool) {
	for e.at < len(e.text) && length(e.text[e.at]) == 0 {
		e.at++
	}
	return e.at, media.Time(e.spent) * perUnit, e.at < len(e.text)
}

// pass goes on to the character after the next one.
func (e *estimate) pass() {
	n := length(e.text[e.at])
	e.at, e.spent, e.units = e.at+1, e.spent+n, e.units-n
}

// letters are those of the nine languages that the table of phonemes does not show
// as they are spoken.
var letters = map[rune]string{
	'á': "a", 'à': "a", 'â': "a", 'ã': "a", 'ä': "e", 'é': "e", 'è': "e", 'ê': "e", 'ë': "e",
	'í': "i", 'ì': "i", 'î': "i", 'ï': "i", 'y': "i", 'ó': "o", 'ò': "o", 'ô': "o", 'õ': "o", 'ö': "o",
	'ú': "u", 'ù': "u", 'û': "u", 'ü': "u", 'ñ': "n", 'ç': "s", 'ß': "s", 'q': "k", 'j': "z", 'x': "s",
}

// shapeOf is the mouth shape of a written character.
func shapeOf(r rune) int {
	r = unicode.ToLower(r)
	if c, ok := letters[r]; ok {
		return indexOf[c]
	}
	if c, ok := nearest[r]; ok {
		return indexOf[c]
	}
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return indexOf["e"]
	}
	return Silent
}
