package spoken

import (
	"strings"
	"unicode"
)

// currency is how a language calls a currency and its hundredth.
type currency struct {
	noun
	cent, cents string // none: it has none
}

// signs are the ways of writing currencies, the longer before those they begin with.
var signs = []struct{ sign, code string }{
	{"US$", "USD"}, {"R$", "BRL"}, {"€", "EUR"}, {"$", "USD"}, {"£", "GBP"}, {"¥", "JPY"},
	{"EUR", "EUR"}, {"USD", "USD"}, {"GBP", "GBP"}, {"JPY", "JPY"}, {"CHF", "CHF"}, {"BRL", "BRL"}, {"MXN", "MXN"},
}

// currency is the sign of a currency at k.
func (s *scan) currency(k int) (c currency, end int, ok bool) {
	for _, g := range signs {
		end, ok := s.exactly(k, g.sign)
		if !ok || unicode.IsLetter(rune(g.sign[0])) && unicode.IsLetter(s.at(end)) {
			continue
		}
		c, ok := s.l.currencies[g.code]
		return c, end, ok
	}
	return c, k, false
}

// money reads an amount of money: the sign in front or behind.
func (s *scan) money() bool {
	k, sign := s.sign()
	if c := s.t[s.i]; sign == "" && (c == '-' || c == '−') && !wordRune(s.at(s.i-1)) {
		if _, _, ok := s.currency(s.i + 1); ok {
			k, sign = s.i+1, s.l.minus
		}
	}
	c, end, before := s.currency(k)
	if before {
		k = s.spaces(end)
		if k > end+1 {
			return false
		}
	}
	n, ok := s.numeral(k)
	if !ok {
		return false
	}
	end = n.end
	scale := ""
	if before {
		end, scale = s.scaleAfter(end)
	} else {
		if c, end, ok = s.currency(s.spaces(n.end)); !ok {
			c, end, ok = s.named(n)
		}
		if !ok {
			return false
		}
	}
	if wordRune(s.at(end)) && isDigit(s.at(end-1)) {
		return false
	}
	words := s.l.sum(n, c)
	if before && scale == "" {
		words, end = s.upTo(n, c, words, end)
	}
	if scale != "" {
		words = s.l.spell(n, masculine) + " " + scale + s.l.linkScale(scale, c.many) + c.many
	}
	if sign != "" {
		words = sign + " " + words
	}
	s.say(s.withEnding(end, words))
	return true
}

// upTo adds to an amount with its sign in front the one that it goes up to: $5-$10, €5–10.
func (s *scan) upTo(n numeral, c currency, words string, end int) (string, int) {
	if s.at(end) != '-' && s.at(end) != '–' || s.l.to == "" {
		return words, end
	}
	k := end + 1
	other, after, signed := s.currency(k)
	if signed {
		k = after
	}
	m, ok := s.numeral(k)
	if !ok || signed && other != c || wordRune(s.at(m.end)) {
		return words, end
	}
	if n.frac == "" && m.frac == "" {
		words = s.l.spell(n, c.use())
	}
	return words + " " + s.l.to + " " + s.l.sum(m, c), m.end
}

// scaleAfter is the word for millions behind a number, if there is one.
func (s *scan) scaleAfter(end int) (int, string) {
	if w, to := s.wordAt(end); s.l.code == "en" && letters[w] != "" && !wordRune(s.at(to)) {
		return to, letters[w]
	}
	if w, to := s.wordAfter(end); w != "" && s.l.scale(w) && !wordRune(s.at(to)) {
		return to, string(s.t[s.spaces(end):to])
	}
	return end, ""
}

// letters stand for thousands and more in English.
var letters = map[string]string{"k": "thousand", "m": "million", "b": "billion", "bn": "billion"}

// named is an amount with hundredths before the name of its currency.
func (s *scan) named(n numeral) (c currency, end int, ok bool) {
	if len(n.frac) != 2 {
		return c, 0, false
	}
	w, end := s.wordAfter(n.end)
	for _, g := range signs {
		c := s.l.currencies[g.code]
		if w != "" && (strings.EqualFold(w, c.one) || strings.EqualFold(w, c.many)) {
			return c, end, true
		}
	}
	return c, 0, false
}

// sum is an amount of money in words.
func (l *language) sum(n numeral, c currency) string {
	v, ok := n.value()
	if n.frac == "00" {
		n.frac = ""
	}
	if !ok || len(n.frac) != 2 || c.cent == "" {
		return l.amount(n, c.noun)
	}
	cents := numeral{whole: strings.TrimPrefix(n.frac, "0")}
	cent := noun{c.cent, c.cents, false}
	if v == 0 {
		return l.amount(cents, cent)
	}
	n.frac = ""
	said := l.moneyAnd + " " + l.amount(cents, cent)
	if l.has(bareCents) {
		said = l.spell(cents, alone)
	}
	return l.amount(n, c.noun) + " " + said
}
