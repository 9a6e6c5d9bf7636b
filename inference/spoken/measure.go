package spoken

import (
	"slices"
	"strings"
)

// noun is what is counted.
type noun struct {
	one, many string
	fem       bool
}

func (n noun) use() use {
	if n.fem {
		return feminine
	}
	return masculine
}

// units are the symbols of measures, the longer before the shorter that begin like
// them. Their names are in each language's table.
var units = []string{"km/h", "km²", "km2", "m²", "m2", "m³", "m3", "°C", "ºC", "° C", "°F", "km", "kg", "kWh", "kW", "cm", "mm", "ml", "mins", "min", "mg", "GB", "MB/s", "MB", "mph", "hrs", "hr", "sec", "ft", "lbs", "lb", "oz", "¢", "m", "g", "l", "L", "h", "s", "°", "º"}

// sameUnit maps other ways of writing a unit.
var sameUnit = map[string]string{"km2": "km²", "m2": "m²", "m3": "m³", "ºC": "°C", "° C": "°C", "L": "l", "º": "°"}

// measure reads a number with its unit.
func (s *scan) measure(n numeral) bool {
	k := n.end
	if c := s.at(k); c == ' ' || c == '\u00a0' || c == '\u202f' {
		k++
	}
	for _, u := range units {
		end, ok := s.exactly(k, u)
		if !ok || wordRune(s.at(end)) {
			continue
		}
		if other := sameUnit[u]; other != "" {
			u = other
		}
		if u == "m" && s.at(s.i-1) == ' ' && s.at(s.i-2) == 'h' && isDigit(s.at(s.i-3)) {
			u = "min" // "2h 30m"
		}
		name, ok := s.l.units[u]
		if !ok {
			continue
		}
		s.say(s.withEnding(end, s.l.amount(n, name)))
		return true
	}
	return false
}

// amount is a number of something, in the right number and gender.
func (l *language) amount(n numeral, of noun) string {
	v, ok := n.value()
	if ok && v == 1 && n.frac == "" {
		one := l.before(l.cardinal(1, of.use()), of.one)
		switch {
		case l.has(caseEndings):
			return of.one + " " + one
		case strings.HasSuffix(one, "'"):
			return one + of.one
		}
		return one + " " + of.one
	}
	name, link := of.many, " "
	if l.has(zeroIsOne) && ok && v < 2 {
		name = of.one
	}
	if ok && n.frac == "" {
		link = l.link(v, name)
	}
	return l.spell(n, of.use()) + link + name
}

// percent reads a share of a hundred, also with the sign in front.
func (s *scan) percent() bool {
	start, sign := s.sign()
	front := s.t[s.i] == '%'
	if front {
		if start++; s.at(start) == ' ' {
			start++
		}
	}
	n, ok := s.numeral(start)
	end := n.end
	if ok && !front {
		end = s.spaces(n.end)
		ok = s.at(end) == '%' && end <= n.end+1
		end++
	}
	if !ok {
		return false
	}
	words := s.l.spell(n, alone)
	if s.l.has(caseEndings) {
		words = s.l.percent + " " + words
	} else {
		words += " " + s.l.percent
	}
	s.say(s.withEnding(end, strings.TrimSpace(sign+" "+words)))
	return true
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

// scales are the words for thousands and more that stand between a number and
// what it counts.
func (l *language) scale(word string) bool { return slices.Contains(l.scales, word) }

// before is a number in the shape that it has in front of a word.
func (l *language) before(words, next string) string {
	if l.elide != nil && next != "" {
		words = l.elide(words, next)
	}
	return words
}
