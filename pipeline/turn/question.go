package turn

import (
	"slices"
	"strings"
)

// Question is what a sentence of the agent asks for.
type Question uint8

// What sentences ask for.
const (
	NoQuestion        Question = iota
	PlainQuestion              // a short word may answer it
	DictationQuestion          // a number, a date, an address, a spelling: the answer has pauses
)

// Asks says what a sentence asks for in a language.
func Asks(language, sentence string) Question {
	l := lexiconOf(language)
	first, _ := nextWord(sentence)
	asks := strings.HasSuffix(strings.TrimSpace(sentence), "?")
	if !(asks && slices.Contains(l.confirming, first)) {
		for w := range words(sentence) {
			if slices.Contains(l.dictated, w) {
				return DictationQuestion
			}
		}
	}
	if asks {
		return PlainQuestion
	}
	return NoQuestion
}
