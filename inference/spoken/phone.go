package spoken

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Bounds of a telephone number, in digits (ITU-T E.164 for the most).
const (
	leastPhone = 7
	mostPhone  = 19 // numbers of cards are read in the same way
)

// group is a run of digits of a telephone number, and where it begins.
type group struct {
	digits string
	from   int
}

// telephone reads a telephone number, group by group.
func (s *scan) telephone() bool {
	k, plus := s.i, false
	if s.t[k] == '+' {
		k, plus = k+1, true
	}
	if wordRune(s.at(s.i - 1)) {
		return false
	}
	groups, end, seps := s.phoneGroups(k)
	total := 0
	for _, g := range groups {
		total += len(g.digits)
	}
	if total < leastPhone || total > mostPhone || wordRune(s.at(end)) {
		return false
	}
	if !plus && !s.looksDialled(groups, seps) {
		return false
	}
	for i, g := range groups {
		words, to := s.l.dial(g.digits), end
		if plus && i == 0 {
			words = s.l.signs["+"] + " " + words
		}
		if i > 0 {
			words = ", " + words
		}
		if i+1 < len(groups) {
			to = groups[i+1].from
		}
		s.say(to, words)
	}
	return true
}

var phoneGroup = regexp.MustCompile(`^([ ./\x{a0}\x{202f}-]?)(\(?)(\p{Nd}+)(\)?)`)

// phoneGroups are the runs of digits from k on, with one separator or brackets
// between, and the separators that occur.
func (s *scan) phoneGroups(k int) (groups []group, end int, seps string) {
	open, closed := false, false
	for total := 0; total <= mostPhone; {
		m, to := s.match(phoneGroup, k)
		if m == nil || len(groups) == 0 && m[1] != "" || len(groups) > 0 && m[1]+m[2] == "" && !closed || open && m[2] != "" {
			break
		}
		if open = open || m[2] != ""; m[4] != "" && !open {
			to-- // a bracket that was not opened
		}
		closed = open && m[4] != ""
		open = open && !closed
		digits, after := s.digits(k + utf8.RuneCountInString(m[1]+m[2]))
		groups = append(groups, group{digits, after - len(digits)})
		k, end, seps = to, to, seps+m[1]+m[2]
		if total += len(digits); m[4] != "" && !closed {
			break
		}
	}
	return groups, end, seps
}

// looksDialled tells a telephone number from a number with separated thousands, a
// range of years and the like.
func (s *scan) looksDialled(groups []group, seps string) bool {
	if strings.HasPrefix(seps, "(") {
		return len(groups) > 1
	}
	first := groups[0].digits
	if len(groups) == 1 {
		return first[0] == '0' && len(first) >= 9
	}
	thousands := len(first) <= 3 && first[0] != '0'
	single := 0
	for _, g := range groups[1:] {
		thousands = thousands && len(g.digits) == 3
		if len(g.digits) == 1 {
			single++
		}
	}
	switch {
	case strings.Trim(seps, "-") == "": // "555-1234", but not "1999-2026"
		return len(groups) > 2 || first[0] == '0' || len(first) == 3 && len(groups[1].digits) == 4
	case strings.Contains(seps, "/"):
		return len(groups) == 2 && first[0] == '0'
	case single > 0, strings.Trim(seps, ".") == "" && (thousands || len(first) < 2):
		return false
	case thousands: // "612 345 678"
		return len(groups) == 3 && len(first) == 3
	}
	return len(groups) > 2 || first[0] == '0' || len(first) == 3 && len(groups[1].digits) >= 4
}

// dial reads a group of a telephone number.
func (l *language) dial(digits string) string {
	if !l.has(dialsPairs) || len(digits)%2 != 0 {
		return l.oneByOne(digits)
	}
	var list []string
	for ; digits != ""; digits = digits[2:] {
		list = append(list, l.spell(numeral{whole: digits[:2]}, alone))
	}
	return strings.Join(list, ", ")
}
