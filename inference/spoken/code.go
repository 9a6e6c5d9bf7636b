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
	if n.frac != "" || n.grouped || len(n.whole) < leastCode || len(n.whole) > mostCode || !s.after(s.l.codes) || endsIn(s.noun(n.end), "s", "people") {
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
