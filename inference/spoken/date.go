package spoken

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// date is a day of the calendar.
type date struct{ year, month, day int } // year 0: none is given

func (d date) valid() bool { return d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31 }

// calendar reads a date in digits, or the day beside the name of a month.
func (s *scan) calendar() bool {
	if wordRune(s.at(s.i-1)) || s.inside() {
		return false
	}
	if !isDigit(s.t[s.i]) {
		return s.shortMonth()
	}
	return s.fullDate() || s.shortDate() || s.dayOfMonth()
}

var (
	threeParts = regexp.MustCompile(`^(\d{1,4})([/.-])(\d{1,2})([/.-])(\d{1,4})`)
	twoParts   = regexp.MustCompile(`^(\d{1,2})([/.])(\d{1,2})`)
	// isoTime is a time as programs write it behind a date (ISO 8601).
	isoTime = regexp.MustCompile(`^T(\d{1,2}):([0-5]\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?`)
)

// fullDate reads day, month and year, in the order of the language, or in that of
// ISO 8601 anywhere, there with a time, whose zone is not said.
func (s *scan) fullDate() bool {
	m, end := s.match(threeParts, s.i)
	if m == nil || m[2] != m[4] || isDigit(s.at(end)) || string(s.at(end)) == m[2] && isDigit(s.at(end+1)) {
		return false
	}
	a, b, c := int(atoi(m[1])), int(atoi(m[3])), int(atoi(m[5]))
	d := date{century(m[5]), b, a}
	switch {
	case len(m[1]) == 4 && len(m[5]) <= 2:
		d = date{a, b, c}
	case len(m[1]) > 2 || len(m[5]) != 4 && (len(m[5]) != 2 || m[2] == "-"):
		return false
	case s.l.has(monthFirst) && m[2] != "." && a <= 12:
		d = date{century(m[5]), a, b}
	}
	if !d.valid() {
		return false
	}
	if t, to := s.match(isoTime, end); t != nil && len(m[1]) == 4 && atoi(t[1]) <= 24 && !wordRune(s.at(to)) {
		s.say(to, s.l.dateOf(d, s.twoBefore(s.i), "")+", "+s.l.timeOf(moment{h: int(atoi(t[1])), m: int(atoi(t[2]))}, ""))
		return true
	}
	suffix := ""
	if unicode.IsLetter(s.at(end)) || s.at(end) == '-' && unicode.IsLetter(s.at(end+1)) {
		if suffix, end = s.wordAfterDash(end); suffix == "" || !s.l.has(caseEndings) {
			return false
		}
	}
	s.say(end, s.l.dateOf(d, s.twoBefore(s.i), suffix))
	return true
}

// century is a year that may have two digits only.
func century(digits string) int {
	y := int(atoi(digits))
	if len(digits) <= 2 {
		y = 1970 + (y+30)%100
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
	m, end := s.match(twoParts, s.i)
	if m == nil || wordRune(s.at(end)) || s.at(end) == '/' {
		return false
	}
	a, b := int(atoi(m[1])), int(atoi(m[3]))
	d := date{0, b, a}
	switch {
	case m[2] == ".":
		if s.l.code != "de" || s.at(end) != '.' || isDigit(s.at(end+1)) {
			return false
		}
		if s.spaces(end+1) < len(s.t) {
			end++ // else it ends the sentence too
		}
	case len(m[0]) != 5 || m[1][0] != '0' && m[3][0] != '0':
		return false
	case s.l.has(monthFirst) && a <= 12:
		d = date{0, a, b}
	}
	if !d.valid() {
		return false
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

// shortMonth reads the first letters of a month before its day, in English: "Jan. 5".
func (s *scan) shortMonth() bool {
	w, end := s.wordAt(s.i)
	i := slices.IndexFunc(s.l.months, func(m string) bool { return len(m) > len(w) && strings.HasPrefix(strings.ToLower(m), w) })
	if !s.l.has(monthFirst) || len(w) < 3 || len(w) > 4 || i < 0 || !unicode.IsUpper(s.t[s.i]) {
		return false
	}
	if s.at(end) == '.' {
		end++
	}
	k := s.spaces(end)
	day, to := s.few(k, 2)
	switch n := atoi(day); {
	case k == end || n < 1 || n > 31:
		return false
	case wordRune(s.at(to)) || s.at(to) == ':': // "Dec 24th" is read as an ordinal anyway
		s.say(end, s.l.months[i])
	default:
		s.say(to, s.l.months[i]+" "+s.l.ordinal(n))
	}
	return true
}

// beforeDays are the words before a day, or before the day that it is listed with: "am 1. und 2. Mai".
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
