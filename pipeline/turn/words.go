package turn

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// nextWord cuts the first word off text, lower-cased and without punctuation.
func nextWord(text string) (word, rest string) {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		i = len(text)
	}
	word = strings.TrimRightFunc(text[:i], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.ToLower(word), text[i:]
}

// overlap is what the words of an overlap amount to.
type overlap struct {
	words int  // words that are not backchannel
	any   int  // all words
	hello int  // salutations among words
	stop  bool // one of them is a stop word
}

func weigh(language, text string) overlap {
	var o overlap
	l := lexiconOf(language)
	for w, rest := nextWord(text); w != ""; w, rest = nextWord(rest) {
		o.any++
		if contains(l.stop, w) {
			o.stop = true
		}
		if !contains(l.backchannel, w) {
			o.words++
			if contains(l.salutation, w) {
				o.hello++
			}
		}
	}
	return o
}

// sameWords compares two texts without case and punctuation.
func sameWords(a, b string) bool {
	for {
		var v, w string
		v, a = nextWord(a)
		w, b = nextWord(b)
		if v != w {
			return false
		}
		if v == "" {
			return true
		}
	}
}

func lastWord(text string) string {
	text = strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	w, _ := nextWord(text[strings.LastIndexFunc(text, unicode.IsSpace)+1:])
	return w
}

// endsInDigits says whether the last two words are digits or single letters, as
// when a number or a name is being read out.
func endsInDigits(language, text string) bool {
	l := lexiconOf(language)
	before, last := l.spells(text)
	return last && before
}

// spells says of the last two words whether each is a digit or a letter, or ends
// a number written in figures.
func (l *lexicon) spells(text string) (before, last bool) {
	for w, rest := nextWord(text); w != ""; w, rest = nextWord(rest) {
		before, last = last, l.spelled(w)
	}
	return before, last
}

func (l *lexicon) spelled(w string) bool {
	if contains(l.digits, w) || strings.ContainsFunc(w, unicode.IsDigit) {
		return true
	}
	return utf8.RuneCountInString(w) == 1 && !contains(l.open, w)
}

// Complete estimates from its last words the probability, 0 to 1, that a turn is
// over: low after a conjunction, an article or a preposition, middling after a
// filler, a comma or an ellipsis, high after a question mark and otherwise.
func Complete(language, text string) float64 {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return 0.9
	}
	l := lexiconOf(language)
	switch w := lastWord(trimmed); {
	case strings.HasSuffix(trimmed, "?"):
		return 0.95
	case contains(l.open, w):
		return 0.15
	case contains(l.filler, w), contains(l.hesitation, w):
		return 0.35
	case strings.HasSuffix(trimmed, ","), strings.HasSuffix(trimmed, "…"), strings.HasSuffix(trimmed, "..."):
		return 0.4
	}
	return 0.9
}

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
	first, rest := nextWord(sentence)
	asks := strings.HasSuffix(strings.TrimSpace(sentence), "?")
	for w := first; w != ""; w, rest = nextWord(rest) {
		if contains(l.dictated, w) && !(asks && contains(l.confirming, first)) {
			return DictationQuestion
		}
	}
	if asks {
		return PlainQuestion
	}
	return NoQuestion
}

// atoms gives a text's words one by one as they count for its meaning: without
// hesitations, and numbers figure by figure, however they were spoken.
type atoms struct {
	*lexicon
	rest, figures string
}

func (a *atoms) next() string {
	for {
		if a.figures != "" {
			f := a.figures[:1]
			a.figures = a.figures[1:]
			return f
		}
		var w string
		w, a.rest = nextWord(a.rest)
		switch i := slices.Index(a.digits, w); {
		case w == "":
			return ""
		case contains(a.hesitation, w):
		case i >= 0 && a.values[i] != 0:
			return figures[a.values[i]-'0' : a.values[i]-'0'+1]
		case strings.Trim(w, figures) == "":
			a.figures = w
		default:
			return w
		}
	}
}

const figures = "0123456789"

// sameMeaning compares two texts without case, punctuation, hesitations and the ways
// to write digits.
func sameMeaning(language, x, y string) bool {
	a := atoms{lexicon: lexiconOf(language), rest: x}
	b := atoms{lexicon: a.lexicon, rest: y}
	for {
		v, w := a.next(), b.next()
		if v != w {
			return false
		}
		if v == "" {
			return true
		}
	}
}
