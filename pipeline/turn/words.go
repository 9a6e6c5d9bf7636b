package turn

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A language's word lists. Words are lower case without punctuation.
type lexicon struct {
	stop        []string // one of these ends the agent's turn
	backchannel []string // these say "go on"
	open        []string // a turn that ends on one of these is not over
	filler      []string // nor on one of these
	digits      []string // spoken digits
}

var lexicons = map[string]lexicon{
	"en": {
		stop:        words("stop wait no hold sorry excuse"),
		backchannel: words("uh-huh uhuh huh mm mmm mhm hmm ok okay yeah yes yep right sure aha ah oh i see"),
		open:        words("a an the and or but so because if of to for with at in on my your his her our their is are was from about than that which who"),
		filler:      words("uh um er erm well like"),
		digits:      words("zero oh one two three four five six seven eight nine double"),
	},
	"es": {
		stop:        words("para espera no alto perdón perdona disculpa"),
		backchannel: words("ajá aha mm mmm sí si vale ya claro bueno ok bien"),
		open:        words("un una el la los las y o pero porque si de a para con en mi su que es"),
		filler:      words("eh este pues bueno"),
		digits:      words("cero uno dos tres cuatro cinco seis siete ocho nueve"),
	},
	"pt": {
		stop:        words("pare para espera espere não desculpa desculpe"),
		backchannel: words("aham uhum mm mmm sim tá ok certo claro pois"),
		open:        words("um uma o a os as e ou mas porque se de para com em meu sua que é"),
		filler:      words("é hum então"),
		digits:      words("zero um dois três quatro cinco seis sete oito nove meia"),
	},
	"fr": {
		stop:        words("stop attends attendez non pardon arrête arrêtez"),
		backchannel: words("mm mmm hmm oui ouais ok d'accord voilà bien ah"),
		open:        words("un une le la les et ou mais parce que si de à pour avec en mon ma votre qui est du des"),
		filler:      words("euh ben alors bon"),
		digits:      words("zéro un deux trois quatre cinq six sept huit neuf"),
	},
	"it": {
		stop:        words("ferma aspetta aspetti no scusa scusi basta"),
		backchannel: words("mm mmm sì si ok certo già bene capito ah"),
		open:        words("un una il lo la i gli le e o ma perché se di a per con in mio sua che è"),
		filler:      words("ehm allora cioè"),
		digits:      words("zero uno due tre quattro cinque sei sette otto nove"),
	},
	"de": {
		stop:        words("stopp stop halt warte warten moment nein entschuldigung"),
		backchannel: words("mm mmm mhm hm ja ok okay genau klar gut aha ach so"),
		open:        words("ein eine einen der die das und oder aber weil wenn von zu für mit in am im mein ihre dass ist"),
		filler:      words("äh ähm also naja"),
		digits:      words("null eins zwei zwo drei vier fünf sechs sieben acht neun"),
	},
}

func words(s string) []string { return strings.Fields(s) }

// lexiconOf falls back to English, whose lists hold the sounds people share.
func lexiconOf(language string) lexicon {
	if l, ok := lexicons[language]; ok {
		return l
	}
	return lexicons["en"]
}

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
func (l lexicon) spells(text string) (before, last bool) {
	for w, rest := nextWord(text); w != ""; w, rest = nextWord(rest) {
		before, last = last, l.spelled(w)
	}
	return before, last
}

func (l lexicon) spelled(w string) bool {
	if contains(l.digits, w) || strings.ContainsFunc(w, unicode.IsDigit) {
		return true
	}
	return utf8.RuneCountInString(w) == 1 && !contains(l.open, w)
}

// Complete estimates from its last words the probability, 0 to 1, that a turn is
// over: low after a conjunction, an article or a preposition, middling after a
// filler or a comma, high after a question mark and otherwise.
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
	case contains(l.filler, w):
		return 0.35
	case strings.HasSuffix(trimmed, ","):
		return 0.4
	}
	return 0.9
}
