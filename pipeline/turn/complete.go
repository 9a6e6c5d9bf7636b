package turn

import (
	"slices"
	"strings"
)

// What the words of a turn say of its end. Words of closed classes tell: an article, a preposition or a conjunction has
// something after it, and so has a modal verb with its subject, or a clause that begins with "when". A question, a request, a
// time or a place often is the end; other sentences may be. Which word is which is in the lexicons.

// The probability that a turn has ended, by its words.
const (
	sureEnd     = 0.9  // little is added to such words
	likelyEnd   = 0.75 // a sentence may be all
	commaEnd    = 0.4
	unlikelyEnd = 0.35
	noEnd       = 0.15
)

const (
	// adjunctWords are the last words among which a preposition begins a place, a time or the like.
	adjunctWords = 4
	// clauseWords are the most words of a clause that begins a sentence; what is longer has its main clause in it.
	clauseWords = 6
	// askingWords are the fewest of a question that says what it asks for.
	askingWords = 4
)

// Complete estimates from its words the probability, 0 to 1, that a turn with this text has ended.
func Complete(language, text string) float64 {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, "?") {
		return sureEnd
	}
	l := lexiconOf(language)
	s := l.sentence(lastSentence(text))
	switch {
	case match(l.leaning, s.before, s.last), slices.Contains(l.filler, s.last), slices.Contains(l.hesitation, s.last):
		return unlikelyEnd
	case slices.Contains(l.open, s.last), slices.Contains(l.preposition, s.last):
		return noEnd
	case strings.HasSuffix(text, ","), strings.HasSuffix(text, "…"), strings.HasSuffix(text, "..."):
		return commaEnd
	case s.words == 0, match(l.closing, s.before, s.last):
		return sureEnd
	case l.inverted(s.before, s.last), s.fronted && s.words <= clauseWords && !s.asks:
		return unlikelyEnd
	case s.asks && s.words >= askingWords, s.preposition > 0 && s.words-s.preposition <= adjunctWords:
		return sureEnd
	}
	return likelyEnd
}

// lastSentence is what follows the last full stop in a text, if the recogniser writes any.
func lastSentence(text string) string {
	from := 0
	for _, stop := range []string{". ", "? ", "! "} {
		from = max(from, strings.LastIndex(text, stop)+1)
	}
	return text[from:]
}

// sentence is what its words say.
type sentence struct {
	before, last string // the last two words
	words        int    // after those that only lead to a sentence, such as "hello" and "yes", and may be all
	preposition  int    // the latest of them that is one, but for the first; 0: none
	asks         bool   // it is a question or a request
	fronted      bool   // it begins with a clause that another one follows
}

func (l *lexicon) sentence(text string) sentence {
	var s sentence
	for w := range words(text) {
		before := s.last
		s.before, s.last = s.last, w
		if l.leads(before) {
			before = ""
		}
		s.asks = s.asks || match(l.asking, before, w) || l.inverted(before, w)
		if s.words == 0 && l.leads(w) {
			continue
		}
		if s.words < 2 && match(l.fronting, before, w) {
			s.fronted = true
		}
		if slices.Contains(l.preposition, w) {
			s.preposition = s.words
		}
		s.words++
	}
	return s
}

// leads says that a word only leads to a sentence.
func (l *lexicon) leads(w string) bool {
	for _, list := range [][]string{l.hesitation, l.filler, l.backchannel, l.salutation, l.stop} {
		if slices.Contains(list, w) {
			return true
		}
	}
	return false
}

// inverted says that two words are a verb and its subject, as in questions.
func (l *lexicon) inverted(verb, subject string) bool {
	return slices.Contains(l.auxiliary, verb) && slices.Contains(l.subject, subject)
}

// match finds a word in a list, or it and the word before it: "tell_me"; "_is" is one that begins a sentence.
func match(list []string, before, w string) bool {
	for _, x := range list {
		if x == w {
			return true
		}
		if b, found := strings.CutSuffix(x, w); found && len(b) == len(before)+1 && b[len(before)] == '_' && strings.HasPrefix(b, before) {
			return true
		}
	}
	return false
}
