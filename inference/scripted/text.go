package scripted

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// folds maps accented letters of our nine languages to plain ones. A recogniser
// and a person at a keyboard leave accents out in different places.
var folds = strings.NewReplacer(
	"á", "a", "à", "a", "â", "a", "ä", "a", "ã", "a", "å", "a",
	"é", "e", "è", "e", "ê", "e", "ë", "e", "í", "i", "ì", "i", "î", "i", "ï", "i",
	"ó", "o", "ò", "o", "ô", "o", "ö", "o", "õ", "o", "ú", "u", "ù", "u", "û", "u", "ü", "u",
	"ñ", "n", "ç", "c", "ß", "ss", "œ", "oe", "æ", "ae", "·", "", "\u0301", "", "\u0300", "", "\u0303", "", "\u0308", "",
)

// fold is text in lower case without accents.
func fold(text string) string { return folds.Replace(strings.ToLower(text)) }

// token is a folded word, a number with its decimal or clock mark (9:30, 9.30, 9h30), or the
// sign of a currency.
var token = regexp.MustCompile(`\p{Nd}+(?:[:.h]\p{Nd}+)*|\pL+|[€$£]`)

// tokens cuts text into its tokens; everything else separates.
func tokens(text string) []string { return token.FindAllString(fold(text), -1) }

// alike says how much two folded words may be the same one, 0 to 1. Beside equal
// words it takes inflections (a common beginning) and, for longer words, a
// letter or two that a recogniser or a typist got wrong.
func alike(a, b string) float64 {
	if a == b {
		return 1
	}
	short, long := min(len(a), len(b)), max(len(a), len(b))
	if short < 4 || unicode.IsDigit(rune(a[0])) {
		return 0
	}
	common := 0
	for common < short && a[common] == b[common] {
		common++
	}
	if common >= 4 && common >= short-1 && long-short <= 3 {
		return 0.9
	}
	allowed := 0
	switch {
	case short >= 8:
		allowed = 2
	case short >= 5:
		allowed = 1
	}
	if allowed > 0 && long-short <= allowed && distance(a, b) <= allowed {
		return 0.8
	}
	return 0
}

// distance is Levenshtein's edit distance in bytes (of folded words, which are
// almost always one byte a letter).
func distance(a, b string) int {
	var space [32]int // enough for most words, without an allocation
	row := append(space[:0], make([]int, len(b)+1)...)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// capital is text with its first letter in upper case.
func capital(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:n]) + text[n:]
}

// titled is a name or a place of the words that were heard.
func titled(list []string) string {
	var all []string
	for _, w := range list {
		all = append(all, capital(w))
	}
	return strings.Join(all, " ")
}

// words cuts an identifier like party_size, partySize or party-size.
func words(identifier string) []string {
	var b strings.Builder
	for i, r := range identifier {
		if r >= 'A' && r <= 'Z' && i > 0 && identifier[i-1] >= 'a' && identifier[i-1] <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return tokens(b.String())
}

// leads says that a phrase stands at the front.
func leads(in, phrase []string) bool {
	return len(phrase) <= len(in) && slices.Equal(in[:len(phrase)], phrase)
}

// overlap compares what was heard with a phrase that was expected: how much of
// the phrase was heard, and how much of what was heard is the phrase.
func (l *language) overlap(phrase, heard []string) (covered, used float64) {
	return l.share(phrase, heard), l.share(heard, phrase)
}

// share is how much of the words stands among others, 0 to 1. Words without content
// count little, and are no misheard others: "where" is not "there".
func (l *language) share(words, others []string) float64 {
	total, found := 0.0, 0.0
	for _, w := range words {
		most := 0.0
		for _, o := range others {
			if s := alike(w, o); s == 1 || !l.stop[w] && !l.stop[o] {
				most = max(most, s)
			}
		}
		total += l.weight(w)
		found += l.weight(w) * most
	}
	if total == 0 {
		return 0
	}
	return found / total
}

// weight of a word in a comparison.
func (l *language) weight(word string) float64 {
	if l.stop[word] || len(word) == 1 {
		return 0.15
	}
	return 1
}
