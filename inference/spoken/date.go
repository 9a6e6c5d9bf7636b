package spoken

import (
	"slices"
	"strings"
	"unicode"
)

// date is a day of the calendar.
type date struct{ year, month, day int } // year 0: none is given

func (d date) valid() bool { return d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31 }

// calendar reads a date in digits, or the day beside the name of a month.
func (s *scan) calendar() bool {
	if !isDigit(s.t[s.i]) || wordRune(s.at(s.i-1)) || s.inside() {
		return false
	}
	return s.fullDate() || s.shortDate() || s.dayOfMonth()
}

// fullDate reads day, month and year, in the order of the language, or in that of
// ISO 8601 anywhere.
func (s *scan) fullDate() bool {
	a, k := s.few(s.i, 4)
	sep := s.at(k)
	if a == "" || sep != '/' && sep != '.' && sep != '-' {
		return false
	}
	b, k := s.few(k+1, 2)
	if b == "" || s.at(k) != sep {
		return false
	}
	c, k := s.few(k+1, 4)
	if c == "" || isDigit(s.at(k)) || s.at(k) == sep && isDigit(s.at(k+1)) {
		return false
	}
	var d date
	switch {
	case len(a) == 4 && len(c) <= 2:
		d = date{int(atoi(a)), int(atoi(b)), int(atoi(c))}
	case len(a) > 2 || len(c) != 4 && (len(c) != 2 || sep == '-'):
		return false
	case s.l.monthFirst && sep != '.' && atoi(a) <= 12:
		d = date{century(c), int(atoi(a)), int(atoi(b))}
	default:
		d = date{century(c), int(atoi(b)), int(atoi(a))}
	}
	if !d.valid() {
		return false
	}
	suffix, end := "", k
	if s.at(k) == 'T' && len(a) == 4 && isDigit(s.at(k+1)) {
		return s.moment(d, k+1)
	}
	if unicode.IsLetter(s.at(k)) || s.at(k) == '-' && unicode.IsLetter(s.at(k+1)) {
		if suffix, end = s.wordAfterDash(k); suffix == "" || s.l.code != "eu" {
			return false
		}
	}
	s.say(end, s.l.dateOf(d, s.twoBefore(s.i), suffix))
	return true
}

// moment reads a date with a time as programs write it (ISO 8601): the zone is not said.
func (s *scan) moment(d date, k int) bool {
	h, k := s.few(k, 2)
	if h == "" || s.at(k) != ':' || atoi(h) > 24 {
		return false
	}
	m, end := s.minutes(k + 1)
	if m < 0 || m > 59 {
		return false
	}
	if sec, to := s.minutes(end + 1); s.at(end) == ':' && sec >= 0 {
		end = to
		if s.at(end) == '.' && isDigit(s.at(end+1)) {
			_, end = s.digits(end + 1)
		}
	}
	if c := s.at(end); c == 'Z' {
		end++
	} else if c == '+' || c == '-' {
		if _, to := s.few(end+1, 2); to == end+3 && s.at(to) == ':' {
			if _, to := s.minutes(to + 1); to > end+4 {
				end = to
			}
		}
	}
	if wordRune(s.at(end)) {
		return false
	}
	s.say(end, s.l.dateOf(d, s.twoBefore(s.i), "")+", "+s.l.timeOf(moment{h: int(atoi(h)), m: m}, ""))
	return true
}

// century is a year that may have two digits only.
func century(digits string) int {
	y := int(atoi(digits))
	switch {
	case len(digits) > 2:
	case y < 70:
		y += 2000
	default:
		y += 1900
	}
	return y
}

// few is a run of digits at k, none when it is longer than most.
func (s *scan) few(k, most int) (string, int) {
	end := k
	for end <= k+most && isDigit(s.at(end)) {
		end++
	}
	if end > k+most {
		return "", k
	}
	return s.digits(k)
}

// shortDate reads day and month: 03/05 with a zero, or 3.5. in German.
func (s *scan) shortDate() bool {
	a, k := s.few(s.i, 2)
	sep := s.at(k)
	if a == "" || sep != '/' && sep != '.' {
		return false
	}
	b, end := s.few(k+1, 2)
	if b == "" || wordRune(s.at(end)) || s.at(end) == '/' {
		return false
	}
	if sep == '.' {
		if s.l.code != "de" || s.at(end) != '.' || isDigit(s.at(end+1)) {
			return false
		}
		end++
	} else if len(a)+len(b) != 4 || a[0] != '0' && b[0] != '0' {
		return false
	}
	d := date{0, int(atoi(b)), int(atoi(a))}
	if s.l.monthFirst && atoi(a) <= 12 {
		d.month, d.day = d.day, d.month
	}
	if !d.valid() {
		return false
	}
	if sep == '.' && s.spaces(end) == len(s.t) {
		end-- // it ends the sentence too
	}
	s.say(end, s.l.dateOf(d, s.twoBefore(s.i), ""))
	return true
}

// dayOfMonth reads the day beside the name of a month, where it is no plain number.
func (s *scan) dayOfMonth() bool {
	a, k := s.few(s.i, 2)
	if a == "" || atoi(a) < 1 || atoi(a) > 31 || a[0] == '0' {
		return false
	}
	end := k
	if s.at(k) == '.' && s.at(k+1) == ' ' {
		end++
	}
	before := s.wordBefore(s.i)
	if w, _ := s.wordAfter(end); s.l.month(w) {
		if words := s.l.dayOf(int(atoi(a)), s.beforeDays(), true); words != "" && (end > k || unicode.IsSpace(s.at(k))) {
			s.say(end, words)
			return true
		}
	}
	if s.l.month(before) && unicode.IsSpace(s.at(s.i-1)) && !wordRune(s.at(k)) && s.at(k) != ':' && s.at(k) != '/' {
		if c := s.at(k); (c == '.' || c == ',') && isDigit(s.at(k+1)) {
			return false
		}
		if words := s.l.dayOf(int(atoi(a)), before, false); words != "" {
			s.say(k, words)
			return true
		}
	}
	return false
}

// beforeDays are the words before a day, or before the day that it is listed with: "am 1.
// und 2. Mai".
func (s *scan) beforeDays() string {
	w, from := s.back(s.i)
	if k := from - 2; (w == "und" || w == "bis") && s.at(k) == '.' && isDigit(s.at(k-1)) {
		for k--; isDigit(s.at(k - 1)); k-- {
		}
		return s.twoBefore(k)
	}
	return s.twoBefore(s.i)
}

// month says that a word in lower case is the name of a month.
func (l *language) month(word string) bool {
	return word != "" && slices.ContainsFunc(l.months, func(m string) bool { return strings.ToLower(m) == word })
}

// inside says that i is within digits that are separated otherwise than by spaces.
func (s *scan) inside() bool {
	return strings.ContainsRune(".,:/", s.at(s.i-1)) && isDigit(s.at(s.i-2))
}
