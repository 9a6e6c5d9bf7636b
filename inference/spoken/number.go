package spoken

import (
	"strings"
	"unicode"
)

// numeral is a number as it is written.
type numeral struct {
	whole   string // its digits without separators
	frac    string // digits behind the decimal separator
	grouped bool   // thousands were separated
	end     int
}

// longest is how many digits are read as one number; more are read one by one.
const longest = 15

// numeral reads the number that begins with the digit at k.
func (s *scan) numeral(k int) (n numeral, ok bool) {
	if s.at(k) == '.' && s.l.decimal == '.' && isDigit(s.at(k+1)) && s.at(k-1) != '.' && !wordRune(s.at(k-1)) {
		n.whole = "0"
		n.frac, n.end = s.digits(k + 1) // ".5"
		return n, true
	}
	if !isDigit(s.at(k)) {
		return n, false
	}
	n.whole, n.end = s.digits(k)
	if len(n.whole) <= 3 && n.whole[0] != '0' {
		s.groups(&n)
	}
	behind := n.end
	if s.at(behind) == ' ' {
		behind++
	}
	if part := parts[s.at(behind)]; part != "" {
		n.frac, n.end = part, behind+1
		return n, true
	}
	sep := s.at(n.end)
	if sep != '.' && sep != ',' || !isDigit(s.at(n.end+1)) || s.at(k-1) == sep && isDigit(s.at(k-2)) {
		return n, true
	}
	frac, end := s.digits(n.end + 1)
	if sep != s.l.decimal && (len(frac) == 3 || n.grouped) {
		return n, true
	}
	if c := s.at(end); (c == '.' || c == ',') && isDigit(s.at(end+1)) {
		return n, true // "1.2.3": a version, a list
	}
	n.frac, n.end = frac, end
	return n, true
}

// parts are the fractions behind a number as its decimals.
var parts = map[rune]string{'½': "5", '¼': "25", '¾': "75"}

// digits is the run of digits at k in ASCII, and its end.
func (s *scan) digits(k int) (string, int) {
	var b strings.Builder
	for ; isDigit(s.at(k)); k++ {
		b.WriteByte(byte('0' + digit(s.t[k])))
	}
	return b.String(), k
}

// groups adds groups of three digits, all behind the same separator.
func (s *scan) groups(n *numeral) {
	sep := s.at(n.end)
	switch sep {
	case s.l.group, '\u00a0', '\u202f', '\u2009', '\'', '’':
	case ' ':
		if s.l.group == ',' {
			return
		}
	default:
		return
	}
	for s.at(n.end) == sep && len(n.whole) < longest {
		for k := 1; k <= 3; k++ {
			if !isDigit(s.at(n.end + k)) {
				return
			}
		}
		if isDigit(s.at(n.end + 4)) {
			return
		}
		group, end := s.digits(n.end + 1)
		n.whole, n.end, n.grouped = n.whole+group, end, true
	}
}

// value is the number without its decimals; false when it is read digit by digit.
func (n *numeral) value() (int64, bool) {
	if len(n.whole) > longest || len(n.whole) > 1 && n.whole[0] == '0' {
		return 0, false
	}
	return atoi(n.whole), true
}

func atoi(digits string) (v int64) {
	for _, c := range digits {
		v = v*10 + int64(c-'0')
	}
	return v
}

// spell is a number in words.
func (l *language) spell(n numeral, u use) string {
	v, ok := n.value()
	if n.frac != "" {
		u = alone
	}
	words := l.oneByOne(n.whole)
	if ok {
		words = l.cardinal(v, u)
	}
	if n.frac != "" {
		words += " " + l.point + " " + l.decimals(n.frac)
	}
	return words
}

// decimals are the digits behind the point: as a number behind their zeros where
// the language says so and they are few.
func (l *language) decimals(frac string) string {
	rest := strings.TrimLeft(frac, "0")
	if l.has(plainDecimals) || len(frac) > 3 || rest == "" {
		return l.oneByOne(frac)
	}
	words := l.oneByOne(frac[:len(frac)-len(rest)])
	return strings.TrimSpace(words + " " + l.cardinal(atoi(rest), alone))
}

// oneByOne reads digits one at a time.
func (l *language) oneByOne(digits string) string {
	words := make([]string, len(digits))
	for i, c := range digits {
		words[i] = l.cardinal(int64(c-'0'), alone)
	}
	return strings.Join(words, " ")
}

// inThrees reads a long run of digits, with a pause between groups.
func (l *language) inThrees(digits string) string {
	var list []string
	for len(digits) > 4 {
		list = append(list, l.oneByOne(digits[:3]))
		digits = digits[3:]
	}
	return strings.Join(append(list, l.oneByOne(digits)), ", ")
}

// asNumber is how many digits without separators are read as a number.
const asNumber = 6

// number reads a number that is nothing in particular, with its sign, and the unit
// or the ordinal's ending that belongs to it.
func (s *scan) number() bool {
	k, sign := s.sign()
	n, ok := s.numeral(k)
	if !ok {
		return false
	}
	if sign != "" {
		s.say(k, sign)
	}
	switch {
	case s.fraction(n), s.suffixed(n), s.dotted(n), s.code(n), s.year(n):
		return true
	case wordRune(s.at(n.end)):
		if !isDigit(s.t[s.i]) {
			return false // ".5x": the point stays
		}
		s.loose()
		return true
	}
	words := ""
	if v, ok := n.value(); !n.grouped && n.frac == "" && len(n.whole) > asNumber && !n.round() {
		words = s.l.inThrees(n.whole)
	} else {
		u := s.useBefore(n.end)
		words = s.l.spell(n, u)
		if ok && u != alone && n.frac == "" {
			next := s.noun(n.end)
			if s.l.elide != nil {
				words = s.l.elide(words, next)
			}
			words += strings.TrimSuffix(s.l.link(v, next), " ")
		}
	}
	if strings.HasSuffix(words, "'") {
		n.end++ // and no space
	}
	s.say(n.end, words)
	return true
}

// sign is the word for a sign in front of a digit, and where the digit is.
func (s *scan) sign() (int, string) {
	before := s.at(s.i - 1)
	if c := s.at(s.i + 1); wordRune(before) || strings.ContainsRune("€$£¥%", before) || !isDigit(c) && !strings.ContainsRune("€$£", c) {
		return s.i, ""
	}
	switch s.t[s.i] {
	case '-', '−', '–':
		return s.i + 1, s.l.minus
	case '+':
		return s.i + 1, s.l.signs["+"]
	}
	return s.i, ""
}

// fraction reads 1/2 and its like.
func (s *scan) fraction(n numeral) bool {
	if s.at(n.end) != '/' || n.frac != "" || len(n.whole) > 2 || !isDigit(s.at(n.end+1)) || wordRune(s.at(n.end+2)) || s.at(n.end+2) == '/' {
		return false
	}
	return s.part(n.whole+string(s.t[n.end:n.end+2]), n.end+2)
}

// part speaks a fraction up to end.
func (s *scan) part(fraction string, end int) bool {
	words := s.l.fractions[fraction]
	switch {
	case words == "":
		return false
	case fraction == "1/2" && s.l.halfOf != "" && s.useBefore(end) == feminine:
		words = s.l.halfOf
	}
	s.say(end, words)
	return true
}

// suffixed reads a number with an ending of letters, such as 3rd.
func (s *scan) suffixed(n numeral) bool {
	v, ok := n.value()
	if !ok || n.frac != "" {
		return false
	}
	k := n.end
	if c := s.at(k); (c == '.' || c == '-') && (s.at(k+1) == 'º' || s.at(k+1) == 'ª' || s.l.has(caseEndings) && unicode.IsLetter(s.at(k+1))) {
		k++
	}
	end := k
	for end < k+8 && (unicode.IsLetter(s.at(end)) || s.at(end) == '°') {
		end++
	}
	if end == k || wordRune(s.at(end)) {
		return false
	}
	suffix := string(s.t[k:end])
	if (suffix == "º" || suffix == "°") && s.l.ordinals.short[v] != "" && s.useBefore(end) == masculine {
		suffix = "er"
	}
	words := s.l.suffixed(v, suffix)
	if words == "" {
		return false
	}
	s.say(end, words)
	return true
}

// dotted reads an ordinal that is written with a full stop.
func (s *scan) dotted(n numeral) bool {
	v, ok := n.value()
	if s.l.dotted == nil || !ok || n.frac != "" || v > 999 || s.at(n.end) != '.' {
		return false
	}
	last := s.spaces(n.end+1) == len(s.t) // the full stop ends the sentence too
	word, _ := s.wordAt(n.end + 2)
	if !last && (word == "" || s.at(n.end+1) != ' ') {
		return false
	}
	words := s.l.dotted(s.l, int(v), s.twoBefore(s.i), word, unicode.IsLower(s.at(n.end+2)))
	if words == "" {
		return false
	}
	if last {
		n.end--
	}
	s.say(n.end+1, words)
	return true
}

// year reads four digits as a year where years are read in their own way.
func (s *scan) year(n numeral) bool {
	if s.l.year == nil || n.grouped || n.frac != "" || len(n.whole) != 4 || wordRune(s.at(n.end)) {
		return false
	}
	words := s.l.year(s.l, int(atoi(n.whole)), s.noun(n.end))
	if words == "" {
		return false
	}
	s.say(n.end, words)
	return true
}

// noun is the word behind a number, which it may count.
func (s *scan) noun(end int) string {
	if !unicode.IsSpace(s.at(end)) {
		return ""
	}
	w, _ := s.wordAt(end + 1)
	return w
}

// useBefore is the form that a number takes before what follows it.
func (s *scan) useBefore(end int) use {
	w := s.noun(end)
	if w == "" {
		return alone
	}
	return s.l.gender(w)
}

// loose reads digits beside letters: a number when they are two, else one by one.
func (s *scan) loose() {
	n, end := s.digits(s.i)
	words := s.l.inThrees(n)
	if len(n) <= 2 {
		words = s.l.spell(numeral{whole: n}, alone)
	}
	s.say(end, words)
}
