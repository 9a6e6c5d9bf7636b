package spoken

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// unit is what is written beside a number: a measure, a currency, percent.
type unit struct {
	one, many   string
	cent, cents string // the hundredth of a currency
}

// unitForm is a unit as it is written.
var unitForm = regexp.MustCompile(`^(?:M(?:io|rd)\.|\pL+(?:/h|[²³]|\$)?|[€$£¥¢%]|°[CF])`)

// sameUnit maps other ways of writing currencies.
var sameUnit = map[string]string{"EUR": "€", "USD": "$", "US$": "$", "GBP": "£", "R$": "BRL", "JPY": "¥"}

// unit is the unit that is written at k.
func (s *scan) unit(k int) (u unit, end int, ok bool) {
	m, end := s.match(unitForm, k)
	if m == nil || wordRune(s.at(end-1)) && wordRune(s.at(end)) {
		return u, k, false
	}
	u, ok = s.l.units[cmp.Or(sameUnit[m[0]], m[0])]
	return u, end, ok
}

// unitAfter is the unit behind a number, or the name of a currency behind hundredths.
func (s *scan) unitAfter(n numeral) (u unit, end int, ok bool) {
	k := n.end
	if c := s.at(k); c != '\n' && unicode.IsSpace(c) {
		k++
	}
	if u, end, ok = s.unit(k); ok {
		return u, end, s.at(n.end) != 'm' || end > n.end+1 // "2h 30m" are no meters
	}
	w, end := s.wordAt(k)
	for _, u := range s.l.units {
		if len(n.frac) == 2 && u.cent != "" && (w == strings.ToLower(u.one) || w == strings.ToLower(u.many)) && !wordRune(s.at(end)) {
			return u, end, true
		}
	}
	return u, k, false
}

// amount reads a number with its unit: money and percent with the sign in front or behind.
func (s *scan) amount() bool {
	k, sign := s.sign()
	u, end, front := s.unit(k)
	if front = front && (u.cent != "" || s.t[k] == '%' || s.t[k] == '¥'); front {
		if k = s.spaces(end); k > end+1 {
			return false
		}
	}
	n, ok := s.numeral(k)
	if !ok {
		return false
	}
	scale := ""
	if front {
		end, scale = s.scaleAfter(n.end)
		ok = !wordRune(s.at(end)) || s.l.has(caseEndings)
	} else {
		u, end, ok = s.unitAfter(n)
	}
	if !ok {
		return false
	}
	words := s.l.amount(n, u)
	if scale != "" {
		words = s.l.spell(n, masculine) + " " + scale + " " + u.many
	}
	s.say(s.withEnding(end, strings.TrimSpace(sign+" "+words)))
	return true
}

// scaleAfter is the word for thousands or millions behind a number, if there is one.
func (s *scan) scaleAfter(end int) (int, string) {
	switch w, to := s.wordAfter(end); {
	case slices.Contains(s.l.scales, w):
		return to, w
	case w == "k" && s.l.has(monthFirst):
		return to, "thousand"
	}
	return end, ""
}

// amount is a number of something, in the right number and gender; of a currency with its
// hundredths.
func (l *language) amount(n numeral, u unit) string {
	v, ok := n.value()
	if ok && len(n.frac) == 2 && u.cent != "" {
		cents := ""
		if n.frac != "00" {
			cents = l.amount(numeral{whole: strings.TrimPrefix(n.frac, "0")}, unit{one: u.cent, many: u.cents})
		}
		if n.frac = ""; v == 0 && cents != "" {
			return cents
		}
		return strings.TrimSuffix(l.amount(n, u)+" "+l.moneyAnd+" "+cents, " "+l.moneyAnd+" ")
	}
	name, link := u.many, " "
	if n.frac == "" && ok {
		link = l.link(v, name)
	}
	first, _, _ := strings.Cut(strings.ToLower(u.one), " ")
	words := l.spell(n, l.gender(first))
	if n.frac == "" && n.whole == "1" {
		name = u.one
	}
	if l.has(caseEndings) && (n.frac == "" && n.whole == "1" || u == l.units["%"]) {
		return name + " " + words
	}
	return words + link + name
}

// withEnding adds to the words for a sign the case ending that is written to it, in Basque.
func (s *scan) withEnding(end int, words string) (int, string) {
	if s.l.has(caseEndings) {
		if suffix, to := s.wordAfterDash(end); suffix != "" {
			return to, attach(words, suffix)
		}
	}
	return end, words
}

// wordAfterDash is a case ending that is written to a sign, with a dash or without.
func (s *scan) wordAfterDash(k int) (string, int) {
	if s.at(k) == '-' {
		k++
	}
	w, end := s.wordAt(k)
	if len(w) > 6 {
		return "", k
	}
	return w, end
}
