package spoken

import (
	"slices"
	"strings"
)

// codeDigits bound what is read digit by digit behind a word such as "code".
const (
	leastCode = 3
	mostCode  = 8
)

// linking stand between such a word and its digits.
var linking = set("is es és é è ist est da lautet")

// code reads digits that are a name and no number: "your PIN is 1234".
func (s *scan) code(n numeral) bool {
	if n.frac != "" || n.grouped || len(n.whole) < leastCode || len(n.whole) > mostCode || !s.after(s.l.codes) {
		return false
	}
	s.say(n.end, s.l.oneByOne(n.whole))
	return true
}

// after says that one of words stands before i, maybe with a colon or a verb between.
func (s *scan) after(words []string) bool {
	k := s.i
	for k > 0 && s.at(k-1) == ' ' {
		k--
	}
	if s.at(k-1) == ':' {
		k--
	}
	w, from := s.back(k)
	if linking[w] {
		w = s.wordBefore(from)
	}
	return w != "" && slices.Contains(words, w)
}

// round says that a long number without separators is a sum and no name: 1500000.
func (n *numeral) round() bool {
	first := strings.TrimRight(n.whole, "0")
	return n.whole[0] != '0' && len(n.whole)-len(first) >= 5 && len(first) <= 3
}

// inFull reads what languages write short beside numbers: months, millions, "24h/24".
func (s *scan) inFull() bool {
	for _, f := range s.l.fixed {
		if end, ok := s.literal(s.i, f[0]); ok && !wordRune(s.at(s.i-1)) && s.at(end) != '/' {
			s.say(end, f[1])
			return true
		}
	}
	word, end := s.wordAt(s.i)
	full := s.l.short[word]
	if full == "" || wordRune(s.at(s.i-1)) || wordRune(s.at(end)) {
		return false
	}
	point := end
	if s.at(point) == '.' {
		point++
	}
	if s.l.shortOne != nil { // behind a number
		if s.at(s.i-1) != ' ' || !isDigit(s.at(s.i-2)) {
			return false
		}
		if s.at(s.i-2) == '1' && !isDigit(s.at(s.i-3)) && s.at(s.i-3) != s.l.decimal {
			full = s.l.shortOne[word]
		}
		if s.spaces(point) == len(s.t) && point > end {
			point-- // the full stop ends the sentence too
		}
		s.say(point, full)
		return true
	}
	day, after := s.few(s.spaces(point), 2)
	switch {
	case s.at(point) != ' ' || day == "" || atoi(day) < 1 || atoi(day) > 31 || strings.ContainsRune(":/", s.at(after)):
		return false
	case wordRune(s.at(after)):
		suffix, end := s.wordAt(after)
		if !slices.Contains([]string{"st", "nd", "rd", "th"}, suffix) {
			return false
		}
		after = end
	}
	s.say(after, full+" "+s.l.dayOf(int(atoi(day)), word, false))
	return true
}
