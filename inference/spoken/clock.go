package spoken

import (
	"slices"
	"strings"
	"unicode"
)

// moment is a time of day as it is written.
type moment struct {
	h, m int
	// half is "am" or "pm" when it was said which half of the day it is.
	half   string
	suffix string // a case ending
}

// clock reads a time of day.
func (s *scan) clock() bool {
	if !isDigit(s.t[s.i]) || wordRune(s.at(s.i-1)) || s.inside() {
		return false
	}
	h, k := s.few(s.i, 2)
	if h == "" || atoi(h) > 24 {
		return false
	}
	t := moment{h: int(atoi(h)), m: -1}
	end := k
	switch c := s.at(k); {
	case c == ':':
		t.m, end = s.minutes(k + 1)
	case c == '.' && s.l.dottedTime:
		if t.m, end = s.minutes(k + 1); !s.isTime(end) {
			return false
		}
	case c == 'h' || c == 'H' || c == ' ' && (s.at(k+1) == 'h' || s.at(k+1) == 'H'):
		if !s.l.hourLetter {
			return false
		}
		t.m, end = s.hourLetter(k)
	default:
		if t.m, end = 0, k; s.l.halves == nil {
			return false
		}
		if t.half, end = s.half(k); t.half == "" {
			return false
		}
	}
	if t.m < 0 || t.m > 59 || isDigit(s.at(end)) {
		return false
	}
	if t.half == "" && s.l.halves != nil {
		if half, to := s.half(end); half != "" {
			t.half, end = half, to
		}
	}
	return s.sayTime(t, end)
}

// minutes are two digits at k; -1 when they are not there.
func (s *scan) minutes(k int) (int, int) {
	m, end := s.few(k, 2)
	if len(m) != 2 {
		return -1, k
	}
	return int(atoi(m)), end
}

// hourLetter reads what follows in 14h30 and 14 h.
func (s *scan) hourLetter(k int) (int, int) {
	k = s.spaces(k) + 1
	if m, end := s.minutes(s.spaces(k)); m >= 0 && s.spaces(k) <= k+1 {
		return m, end
	}
	if wordRune(s.at(k)) {
		return -1, k
	}
	return 0, k
}

// isTime says that digits with a point are a time: a word before or behind says so.
func (s *scan) isTime(end int) bool {
	w, _ := s.wordAfter(end)
	return slices.Contains(s.l.timeAfter, w) || slices.Contains(s.l.timeBefore, s.wordBefore(s.i))
}

// half finds am or pm in its spellings at k.
func (s *scan) half(k int) (string, int) {
	k = s.spaces(k)
	c := unicode.ToLower(s.at(k))
	if c != 'a' && c != 'p' {
		return "", k
	}
	for _, rest := range []string{".m.", ". m.", "m"} {
		end, ok := s.literal(k+1, rest)
		if !ok {
			continue
		}
		if rest != "m" && s.spaces(end) == len(s.t) {
			end-- // the full stop ends the sentence too
		}
		return string(c) + "m", end
	}
	return "", k
}

// sayTime speaks a time and what is written with it.
func (s *scan) sayTime(t moment, end int) bool {
	seconds := ""
	if s.at(end) == ':' {
		if sec, to := s.minutes(end + 1); sec >= 0 && !wordRune(s.at(to)) {
			seconds, end = ", "+s.l.cardinal(int64(sec), alone), to
		}
	}
	if s.l.code == "eu" {
		if suffix, to := s.wordAfterDash(end); suffix != "" {
			t.suffix, end = suffix, to
		}
	}
	if wordRune(s.at(end)) {
		return false
	}
	before := s.wordBefore(s.i)
	for _, w := range s.l.hourWords {
		if to, ok := s.literal(s.spaces(end), w); ok {
			if strings.HasSuffix(w, ".") && s.spaces(to) == len(s.t) {
				to--
			}
			end = to
			break
		}
	}
	s.say(end, s.l.timeOf(t, before)+seconds)
	return true
}
