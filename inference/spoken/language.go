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

// trait is what a language does in one of two ways; several are joined.
type trait uint16

const (
	linksDates    trait = 1 << iota // "of" stands between the parts of a date
	monthFirst                      // in dates of digits
	hourLetter                      // 14h30
	dottedTime                      // 14.30, with one of timeBefore and timeAfter beside it
	halfDays                        // am and pm
	plainDecimals                   // decimals are read digit by digit
	dialsPairs                      // telephone numbers are read in pairs
	zeroIsOne                       // what is less than two is singular
	nounFirst                       // "two hours and a half"
	bareCents                       // hundredths are said without their name
	// caseEndings: they are written to numbers and signs; "one" follows what it counts, the
	// word for percent comes first, and "and" stands before whole thousands.
	caseEndings
)

func (l *language) has(t trait) bool { return l.traits&t != 0 }

// language is the table of a language. Functions may be nil where nothing is said.
type language struct {
	code           string
	decimal, group rune // separators as they are written
	traits         trait

	rules       []numberRule      // see numbers
	one         [3]string         // the number one by itself, where it is another word
	sounds      *strings.Replacer // what sounds otherwise where parts of a number meet
	and         string            // between the parts of a number
	nouns       gender
	ordinals    ordinals
	times       times
	firstDay    string // of a month
	of, ofVowel string // between millions and what they are of, with its spaces; empty: nothing

	// Functions for what the tables do not say; nil: they do.

	// elide changes "one" before what it counts.
	elide func(words, next string) string
	// withSuffix is a number with letters (lower case) written to it; empty: it is nothing.
	withSuffix func(l *language, n int64, suffix string) string
	// dotted is an ordinal written with a full stop; empty: it is none.
	dotted func(l *language, n int, before, after string, lower bool) string
	// year is a number of four digits as a year; empty: an ordinary number.
	year  func(l *language, n int, after string) string
	day   func(l *language, n int, before string, follows bool) string
	date  func(l *language, d date, before, suffix string) string
	clock func(l *language, t moment, before string) string

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
	timeBefore, timeAfter []string
	hourWords             []string // said by clock, so dropped
	nine                  string   // what telephone numbers of nine digits begin with

	signs       map[string]string // in addresses
	saidDomains []string          // of two letters that are said as words

	currencies map[string]currency
	moneyAnd   string
	scales     []string
	units      map[string]noun
	fractions  map[string]string // "1/2"
	halfOf     string            // half of what is feminine
	halfMore   [2]string         // "and a half", masculine and feminine
	symbols    map[string]string // besides those of the fields above
}

// languages are the nine.
var languages = map[string]*language{
	"en": &english, "es": &spanish, "ca": &catalan, "gl": &galician, "eu": &basque,
	"pt": &portuguese, "fr": &french, "it": &italian, "de": &german,
}

// link is what stands between a number in words and what it counts: a space, or more
// behind whole millions.
func (l *language) link(n int64, next string) string {
	if n == 0 || n%1_000_000 != 0 || l.of == "" || next == "" {
		return " "
	}
	return l.ofWord(next)
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

// rows cuts a table into rows at its commas, and those into words.
func rows(list string) (all [][]string) {
	for row := range strings.SplitSeq(list, ",") {
		all = append(all, table(row))
	}
	return all
}

// nouns reads rows of "symbol one many", with an f at the end for feminine ones. The many
// are regular where they are left out or a plus, and like the one where they are =.
func nouns(list string) map[string]noun {
	m := map[string]noun{}
	for _, f := range rows(list) {
		f = append(f, "+")
		switch f[2] {
		case "+":
			f[2] = f[1] + "s"
		case "=":
			f[2] = f[1]
		}
		m[f[0]] = noun{f[1], f[2], len(f) > 3 && f[3] == "f"}
	}
	return m
}

// money reads rows of "code one many cent cents", with a u behind where the whole is
// feminine; dashes where there is no cent.
func money(list string) map[string]currency {
	m := map[string]currency{}
	for _, f := range rows(list) {
		c := currency{noun: noun{f[1], f[2], len(f) > 5}, cent: f[3], cents: f[4]}
		if c.cent == "-" {
			c.cent, c.cents = "", ""
		}
		m[f[0]] = c
	}
	return m
}

// pairs reads rows of "key words".
func pairs(list string) map[string]string {
	m := map[string]string{}
	for row := range strings.SplitSeq(list, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(row), " ")
		m[k] = v
	}
	return m
}

// changes reads rows of what a word ends in and what takes its place; a dash is nothing.
func changes(list string) (all [][2]string) {
	for _, f := range rows(list) {
		all = append(all, [2]string{strings.Trim(f[0], "-"), strings.Trim(f[1], "-")})
	}
	return all
}

// symbol is the name of a sign.
func (l *language) symbol(c rune) string {
	if w := l.symbols[string(c)]; w != "" {
		return w
	}
	switch c {
	case '@':
		return l.signs["@"]
	case '%':
		return l.percent
	case '+':
		return l.plus
	case '€':
		return l.currencies["EUR"].many
	case '$':
		return l.currencies["USD"].many
	case '£':
		return l.currencies["GBP"].many
	case '°':
		return l.units["°"].many
	}
	return ""
}

// vowel says that a word begins with a vowel, or a mute h.
func vowel(word string) bool {
	c, _ := utf8.DecodeRuneInString(strings.ToLower(word))
	return strings.ContainsRune("aeiouhàáâäèéêëíîïòóôöùúûü", c) && word != ""
}
