package spoken

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// symbol speaks one character that is no letter and no digit.
func (s *scan) symbol(c rune) {
	next := s.i + 1
	if unicode.IsSpace(c) && s.w.apart && (s.w.n == 0 || unicode.IsSpace(s.w.last)) {
		s.skip(next) // what stood between two spaces is not spoken
		return
	}
	if s.l == nil {
		if picture(c) {
			s.skip(next)
			return
		}
		s.copy(next)
		return
	}
	if w := s.between(c); w != "" {
		s.say(next, w)
		return
	}
	switch {
	case c == '/' && s.w.apart && s.l.per != "" && unicode.IsLetter(s.at(next)) && s.w.n > 0:
		s.say(next, s.l.per) // what was said is an amount
	case unicode.IsSpace(c):
		s.copy(next)
	case silent(c), picture(c):
		if f := drawn[c]; f != "" && s.part(f, next) {
			return
		}
		if v, ok := raised[c]; ok {
			s.say(next, s.l.cardinal(v, alone))
			return
		}
		if w := s.l.symbol(c); w != "" && (c != '~' && c != '<' && c != '>' || isDigit(s.at(s.spaces(next)))) {
			s.say(next, w)
			return
		}
		s.skip(next)
	case s.l.symbol(c) != "":
		s.say(next, s.l.symbol(c))
	default:
		s.copy(next)
	}
}

// between is the word for a character between two digits, or before one.
func (s *scan) between(c rune) string {
	k, dash := s.spaces(s.i+1), c == '-' || c == '–' || c == '−'
	if dash && strings.ContainsRune("€$£¥", s.at(k)) {
		k++
	}
	if !isDigit(s.at(k)) {
		return ""
	}
	before := s.at(s.i - 1)
	if before == ' ' {
		switch before = s.at(s.i - 2); {
		case (c == '*' || c == '×') && isDigit(before):
			return s.l.symbol('×')
		case dash && (isDigit(before) && s.at(s.i-4) == ':' || slices.Contains([]string{"am", "pm"}, s.wordBefore(s.i))): // "9:00 - 17:00", "9 am - 5 pm"
			return s.l.to
		}
		return ""
	}
	if unicode.IsSpace(s.at(s.i+1)) || !isDigit(before) && !(s.w.apart && (unicode.IsLetter(before) || strings.ContainsRune("€$£¥%", before))) {
		return ""
	}
	switch c {
	case ':':
		return cmp.Or(s.l.ratio, s.l.to)
	case '/':
		return ","
	case '-', '–', '−':
		if s.at(s.i+1) == '0' && isDigit(s.at(s.i+2)) {
			return "," // no number that anything goes up to: a part of a name
		}
		return s.l.to
	case '.':
		return s.l.signs["."]
	case '*', '×':
		return s.l.symbol('×')
	}
	return ""
}

var numberSigns = regexp.MustCompile(`(?i)^(?:#|n\.?[º°]|n[uú]m\.|nr\.|no\.|n\.)`)

// numberSign reads the ways of writing "number" in front of a number.
func (s *scan) numberSign() bool {
	m, end := s.match(numberSigns, s.i)
	if m == nil || wordRune(s.at(s.i-1)) || !isDigit(s.at(s.spaces(end))) {
		return false
	}
	word := strings.ToLower(m[0])
	if of := map[string]string{"no.": "en", "nr.": "de", "n.": "it"}[word]; of != "" && of != s.l.code || word == "no." && s.at(end) != ' ' {
		return false
	}
	s.say(end, s.l.numberWord)
	return true
}

// silent says that c is left over from markup.
func silent(c rune) bool { return strings.ContainsRune("*_`#|~<>\\^[]{}", c) }

// invisible says that c only changes the characters around it: joiners, variation
// selectors, tags, the frame of a key.
func invisible(c rune) bool {
	return unicode.In(c, unicode.Cf, unicode.Me, unicode.Co, unicode.Cs) || c >= 0xfe00 && c <= 0xfe0f || c >= 0xe0000 && c <= 0xe0fff
}

// picture says that c is an emoji, a part of one, or another drawing.
func picture(c rune) bool {
	switch {
	case c < 0xa0:
		return c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f
	case c == '°', c == '©', c == '®', c == '™':
		return false
	}
	return invisible(c) || unicode.In(c, unicode.So, unicode.No, unicode.Sk) || c == '‼' || c == '⁉' || c == '〰' || c == '〽' || c >= 0x2190 && c <= 0x21ff ||
		c >= 0x2600 && c <= 0x27bf || c >= 0x2b00 && c <= 0x2bff || c >= 0x1f000 && c <= 0x1faff || c >= 0x25a0 && c <= 0x25ff
}

// raised are small digits.
var raised = map[rune]int64{'⁰': 0, '¹': 1, '²': 2, '³': 3, '⁴': 4, '⁵': 5, '⁶': 6, '⁷': 7, '⁸': 8, '⁹': 9,
	'₀': 0, '₁': 1, '₂': 2, '₃': 3, '₄': 4, '₅': 5, '₆': 6, '₇': 7, '₈': 8, '₉': 9}

// drawn are the fractions that are one character.
var drawn = map[rune]string{'½': "1/2", '¼': "1/4", '¾': "3/4", '⅓': "1/3", '⅔': "2/3"}
