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
	monthFirst                      // in dates, whose days are ordinals
	hourLetter                      // 14h30
	dottedTime                      // 14.30, with one of timeBefore and timeAfter beside it
	halfDays                        // am and pm
	plainDecimals                   // decimals are read digit by digit
	dialsPairs                      // telephone numbers are read in pairs
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
	year func(l *language, n int, after string) string
	// dayEnding is that of an ordinal after the words before it; empty: they say nothing.
	dayEnding func(before string) string
	date      func(l *language, d date, before, suffix string) string
	clock     func(l *language, t moment, before string) string

	months []string

	point, minus          string
	to                    string   // between two numbers: 3-5
	ratio                 string   // between the goals of two sides; empty: as to
	numberWord            string   // "number"
	per                   string   // "a month"
	codes                 []string // and after which digits are read one by one
	timeBefore, timeAfter []string
	hourWords             []string // said by clock, so dropped

	signs       map[string]string
	saidDomains []string // of two letters that are said as words

	moneyAnd  string
	scales    []string
	units     map[string]unit   // by their symbols, currencies among them
	fractions map[string]string // "1/2"
	halfOf    string            // half of what is feminine
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

// units reads rows of "symbol one many cent cents". The many are regular where they are left
// out, and like the one where they are =.
func units(list string) map[string]unit {
	m := map[string]unit{}
	for _, f := range rows(list) {
		u := unit{one: f[1], many: f[1] + "s"}
		if len(f) > 2 && f[2] == "=" {
			u.many = u.one
		} else if len(f) > 2 {
			u.many = f[2]
		}
		if len(f) > 3 {
			u.cent, u.cents = f[3], f[4]
		}
		m[f[0]] = u
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

// symbol is the name of a sign outside of addresses; empty: it is not said.
func (l *language) symbol(c rune) string {
	if strings.ContainsRune("@&+=<>×÷~§°", c) {
		return l.signs[string(c)]
	}
	return l.units[string(c)].many
}

// vowel says that a word begins with a vowel, or a mute h.
func vowel(word string) bool {
	c, _ := utf8.DecodeRuneInString(strings.ToLower(word))
	return strings.ContainsRune("aeiouhàáâäèéêëíîïòóôöùúûü", c) && word != ""
}
