package spoken

import (
	"cmp"
	"slices"
	"strings"
)

// gender finds the gender of a noun: by lists, then by its ending.
type gender struct {
	masculine, feminine, none         map[string]bool // none: words that a number does not count
	masculineEndings, feminineEndings []string
}

// gender is that of a noun (lower case) which a number counts; alone: it is none.
func (l *language) gender(w string) use {
	g := &l.nouns
	switch {
	case g.feminineEndings == nil, g.none[w]:
		return alone
	case g.masculine[w], endsIn(w, g.masculineEndings...):
		return masculine
	case g.feminine[w], endsIn(w, g.feminineEndings...):
		return feminine
	}
	return masculine
}

func endsIn(w string, endings ...string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(w, e) })
}

// ordinals are the words of a language for first, second and so on.
type ordinals struct {
	first []string // from the first on
	tens  []string // from 20 on; the rest of the number follows
	// endings turn the cardinal of the others into an ordinal: what it ends in, and what
	// takes its place. The first that fits counts.
	endings  [][2]string
	use      use
	most     int64             // 0: any number
	suffixes map[string]string // written to digits: m, f, or the word itself
	short    map[int64]string  // what "er" stands for
}

// ordinal is an ordinal, masculine; empty: it has none.
func (l *language) ordinal(n int64) string {
	o := &l.ordinals
	switch {
	case n < 1 || o.most > 0 && n > o.most:
		return ""
	case n <= int64(len(o.first)):
		return o.first[n-1]
	case o.tens != nil:
		words := o.tens[n/10-2]
		if n%10 > 0 {
			words += " " + o.first[n%10-1]
		}
		return words
	}
	words := l.cardinal(n, o.use)
	for _, e := range o.endings {
		if stem, ok := strings.CutSuffix(words, e[0]); ok {
			return stem + e[1]
		}
	}
	return words
}

// feminineOf is an ordinal for what is feminine.
func feminineOf(ordinal string) string {
	words := strings.Fields(ordinal)
	for i, w := range words {
		words[i] = strings.TrimSuffix(w, "o") + "a"
		if stem, ok := strings.CutSuffix(w, "è"); ok {
			words[i] = stem + "ena"
		}
	}
	return strings.Join(words, " ")
}

// suffixed is a number with letters written to it, such as 3rd; empty: it is nothing.
func (l *language) suffixed(n int64, suffix string) string {
	suffix = strings.ToLower(suffix)
	if l.withSuffix != nil {
		return l.withSuffix(l, n, suffix)
	}
	word, words := l.ordinals.suffixes[suffix], l.ordinal(n)
	if words == "" || word == "" {
		return ""
	}
	if short := l.ordinals.short[n]; suffix == "er" && short != "" {
		return short
	}
	switch word {
	case "m":
		return words
	case "f":
		return feminineOf(words)
	}
	return word
}

// dayOf is the day beside the name of a month, where it is no plain number; follows: the
// month comes behind.
func (l *language) dayOf(n int, before string, follows bool) string {
	switch {
	case l.dayEnding != nil && follows:
		return l.ordinal(int64(n)) + cmp.Or(l.dayEnding(before), "er")
	case l.has(monthFirst) && follows && endsIn(before, "the"):
		return l.ordinal(int64(n)) + " of"
	case l.has(monthFirst) && follows:
		return "the " + l.ordinal(int64(n)) + " of"
	case l.has(monthFirst):
		return l.ordinal(int64(n))
	case n == 1 && follows:
		return l.firstDay
	}
	return ""
}

// dateOf is a date in words.
func (l *language) dateOf(d date, before, suffix string) string {
	if l.date != nil {
		return l.date(l, d, before, suffix)
	}
	day, month, first, second := l.dayOf(d.day, before, !l.has(monthFirst)), l.months[d.month-1], " ", " "
	if day == "" {
		day = l.cardinal(int64(d.day), alone)
	}
	switch {
	case l.has(monthFirst):
		day, month, second = month, day, ", "
	case l.has(linksDates):
		first, second = l.ofWord(month), l.of
	}
	words := day + first + month
	if d.year > 0 {
		words += second + l.yearWords(d.year)
	}
	return words
}

// yearWords is a year in words.
func (l *language) yearWords(n int) string {
	if l.year != nil {
		if words := l.year(l, n, ""); words != "" {
			return words
		}
	}
	return l.cardinal(int64(n), alone)
}

// times are the words of a time of day.
type times struct {
	use, minutes  use       // of hours and minutes
	hours         [2]string // behind the hour: of one, of several
	full          string    // behind a full hour of 24, when no half of the day is said
	quarter, half string    // past an hour of 12
	halfTo        int       // the last hour that has halves
	and, late     string    // between hours and minutes: of 12, and of 24
	zero          bool      // minutes below ten of 24 hours have their zero
	parts         [3]string // morning, afternoon, night
}

// timeOf is a time of day in words.
func (l *language) timeOf(t moment, before string) string {
	if l.clock != nil {
		return l.clock(l, t, before)
	}
	c := &l.times
	words, link := l.cardinal(int64(t.h), c.use)+c.hours[min(1, t.h/2)], c.and
	if t.h > 12 {
		t.half, link = "", c.late
	}
	switch {
	case t.m == 0 && t.half == "" && (t.h > 12 || t.h == 0):
		words += c.full
	case t.m == 0:
	case t.h <= 12 && t.m == 15 && c.quarter != "":
		words += c.quarter
	case t.h <= c.halfTo && t.m == 30 && c.half != "":
		words += c.half
	case t.h > 12 && t.m < 10 && c.zero:
		words += link + l.oneByOne("0") + " " + l.cardinal(int64(t.m), c.minutes)
	default:
		words += link + l.cardinal(int64(t.m), c.minutes)
	}
	switch {
	case t.half == "am":
		words += c.parts[0]
	case t.half == "pm" && t.h%12 < 8:
		words += c.parts[1]
	case t.half == "pm":
		words += c.parts[2]
	}
	return words
}

// ofWord is "of" before a word, with its spaces.
func (l *language) ofWord(next string) string {
	if l.ofVowel != "" && vowel(next) {
		return l.ofVowel
	}
	return l.of
}
