package turn

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words are the words of a text, lower-cased and without the punctuation around them.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w, rest := nextWord(text); w != "" && yield(w); {
			w, rest = nextWord(rest)
		}
	}
}

// nextWord cuts the first word off text, lower-cased and without punctuation.
func nextWord(text string) (word, rest string) {
	text = strings.TrimLeftFunc(text, isMark)
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		i = len(text)
	}
	return strings.ToLower(strings.TrimRightFunc(text[:i], isMark)), text[i:]
}

func isMark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// wordCounts is what the words of an overlap amount to.
type wordCounts struct {
	All         int
	Content     int // those that are no backchannel
	Salutations int // those of Content that salute
	Stops       int // stop words
}

func countWords(language, text string) wordCounts {
	var n wordCounts
	l := lexiconOf(language)
	for w := range words(text) {
		n.All++
		if slices.Contains(l.stop, w) {
			n.Stops++
		}
		if slices.Contains(l.backchannel, w) {
			continue
		}
		n.Content++
		if slices.Contains(l.salutation, w) {
			n.Salutations++
		}
	}
	return n
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

// endsInDigits says whether the last two words are digits or single letters, or end a
// number written in figures, as when a number or a name is being read out.
func endsInDigits(language, text string) bool {
	l := lexiconOf(language)
	before, last := false, false
	for w := range words(text) {
		before, last = last, l.spelled(w)
	}
	return last && before
}

func (l *lexicon) spelled(w string) bool {
	if slices.Contains(l.digits, w) || strings.ContainsFunc(w, unicode.IsDigit) {
		return true
	}
	return utf8.RuneCountInString(w) == 1 && !slices.Contains(l.open, w) && !slices.Contains(l.preposition, w)
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
		case slices.Contains(a.hesitation, w):
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
