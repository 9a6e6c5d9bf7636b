package spoken

import (
	"strings"
	"unicode/utf8"
)

// use is the form that a number takes from what it counts.
type use uint8

const (
	alone     use = iota // it counts nothing: a name, a digit
	masculine            // and neuter
	feminine
)

// language is the table of a language. Functions may be nil where nothing is said.
type language struct {
	code           string
	decimal, group rune // separators as they are written

	// cardinal is a number in words, up to 999,999,999,999,999.
	cardinal func(n int64, u use) string
	// gender is that of a noun (lower case) which a number counts; alone: it is
	// none. nil: it makes no difference.
	gender func(word string) use
	// elide changes "one" before what it counts; nil: it does not change.
	elide func(words, next string) string
	// suffixed is a number with letters written to it; empty: it is nothing.
	suffixed func(n int64, suffix string) string
	// dotted is an ordinal written with a full stop; empty: it is none.
	dotted func(n int, before, after string, lower bool) string
	// year is a number of four digits as a year; empty: an ordinary number.
	year func(n int, after string) string
	// day is the day beside the name of a month; follows: the month comes behind.
	day   func(n int, before string, follows bool) string
	date  func(d date, before, suffix string) string
	clock func(t moment, before string) string
	// of stands between millions and what they are of, with its spaces.
	of func(next string) string

	months []string

	point, minus, plus string
	to, ratio          string // between two numbers: 3-5, and 3:1 where it is another word
	numberWord         string // "number"
	percent            string
	per                string   // "a month"
	dialled            []string // words after which a short number is a telephone's
	codes              []string // and after which digits are read one by one
	// short are abbreviations that are read in full: of months before a day or, where
	// shortOne has what stands behind one, of millions behind a number.
	short, shortOne       map[string]string
	fixed                 [][2]string       // what is said otherwise than its parts are
	perOf                 map[string]string // "a month", where per is not said
	percentFirst          bool
	oneBehind             bool // "one" follows what it counts
	zeroIsOne             bool // what is less than two is singular
	plainDecimals         bool // decimals are read digit by digit
	monthFirst            bool // in dates of digits
	hourLetter            bool // 14h30
	dottedTime            bool // 14.30, with one of these beside it
	timeBefore, timeAfter []string
	hourWords             []string // said by clock, so dropped
	halves                []string // am and pm; nil: they are not used
	pairs                 bool     // telephone numbers are read in pairs
	nine                  string   // what telephone numbers of nine digits begin with

	atSign, dot, dash, underscore, slash, colon string
	saidDomains                                 []string // of two letters that are said as words

	currencies map[string]currency
	moneyAnd   string
	bareCents  bool // hundredths are said without their name
	scales     []string
	units      map[string]noun
	fractions  map[string]string // "1/2"
	halfOf     string            // half of what is feminine
	halfMore   [2]string         // "and a half", masculine and feminine
	nounFirst  bool              // "two hours and a half"
	symbols    map[rune]string
}

// languages are the nine.
var languages = map[string]*language{
	"en": &english, "es": &spanish, "ca": &catalan, "gl": &galician, "eu": &basque,
	"pt": &portuguese, "fr": &french, "it": &italian, "de": &german,
}

// link is what stands between a number in words and what it counts: a space, or more
// behind whole millions.
func (l *language) link(n int64, next string) string {
	if n == 0 || n%1_000_000 != 0 || l.of == nil || next == "" {
		return " "
	}
	return l.of(next)
}

// linkScale is what stands between a word for millions and what they are of.
func (l *language) linkScale(scale, next string) string {
	if strings.HasPrefix(scale, "mil") && len([]rune(scale)) <= 4 {
		return " " // a thousand
	}
	return l.link(1_000_000, next)
}

// table is a list of words separated by spaces; an underscore is a space in a word.
func table(words string) []string {
	list := strings.Fields(words)
	for i, w := range list {
		list[i] = strings.ReplaceAll(w, "_", " ")
	}
	return list
}

// set is a list of words to look up.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// nouns reads lines of "symbol one many", with an f at the end for feminine ones.
func nouns(lines string) map[string]noun {
	m := map[string]noun{}
	for line := range strings.Lines(lines) {
		f := table(line)
		if len(f) < 3 {
			continue
		}
		m[f[0]] = noun{f[1], f[2], len(f) > 3}
	}
	return m
}

// money reads lines of "code one many cent cents", with an f behind a feminine pair;
// a dash is for what there is none of.
func money(lines string) map[string]currency {
	m := map[string]currency{}
	for line := range strings.Lines(lines) {
		f := table(line)
		if len(f) < 5 {
			continue
		}
		c := currency{noun: noun{f[1], f[2], len(f) > 5 && strings.Contains(f[5], "u")}, cent: f[3], cents: f[4], centFem: len(f) > 5 && strings.Contains(f[5], "c")}
		if c.cent == "-" {
			c.cent, c.cents = "", ""
		}
		m[f[0]] = c
	}
	return m
}

// pairs reads lines of "key words".
func pairs(lines string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(lines) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			m[k] = v
		}
	}
	return m
}

// signWords reads lines of "sign words".
func signWords(lines string) map[rune]string {
	m := map[rune]string{}
	for k, v := range pairs(lines) {
		c, _ := utf8.DecodeRuneInString(k)
		m[c] = v
	}
	return m
}

// parts splits a number into its millions, thousands and the rest, and so on: 10^12,
// 10^6, 10^3 and units, each below a thousand but the first.
func parts(n int64) (billions, millions, thousands, rest int64) {
	return n / 1_000_000_000_000, n / 1_000_000 % 1_000_000, n / 1000 % 1000, n % 1000
}

// join puts the parts that are not empty behind each other.
func join(sep string, list ...string) string {
	out := list[:0:0]
	for _, w := range list {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, sep)
}

// before says that a word begins with a vowel, or a mute h.
func vowel(word string) bool {
	c, _ := utf8.DecodeRuneInString(strings.ToLower(word))
	return strings.ContainsRune("aeiouhàáâäèéêëíîïòóôöùúûü", c) && word != ""
}
