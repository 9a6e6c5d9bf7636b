package spoken

import (
	"regexp"
	"slices"
	"strings"
)

// moment is a time of day as it is written.
type moment struct {
	h, m int
	// half is "am" or "pm" when it was said which half of the day it is.
	half   string
	suffix string // a case ending
}

var (
	timeForm = regexp.MustCompile(`^(\d{1,2})(?:([:.])(\d\d)|( ?[hH])(?: ?(\d\d))?)?`)
	seconds  = regexp.MustCompile(`^:(\d\d)`)
	halfDay  = regexp.MustCompile(`^\s{0,24}([aApP])(?:\. ?[mM]\.|[mM])`)
)

// clock reads a time of day.
func (s *scan) clock() bool {
	m, end := s.match(timeForm, s.i)
	if m == nil || wordRune(s.at(s.i-1)) || s.inside() || atoi(m[1]) > 24 || isDigit(s.at(end)) {
		return false
	}
	t := moment{h: int(atoi(m[1])), m: int(atoi(m[3] + m[5]))}
	behind, _ := s.wordAfter(end)
	said := slices.Contains(s.l.timeAfter, behind) || slices.Contains(s.l.timeBefore, s.wordBefore(s.i))
	switch {
	case m[2] == "." && (!s.l.has(dottedTime) || !said), m[4] != "" && (!s.l.has(hourLetter) || wordRune(s.at(end))), t.m > 59:
		return false
	case m[4] != "" && m[5] == "": // no half of the day
	case s.l.has(halfDays):
		t.half, end = s.half(end)
	}
	if t.half == "" && m[2]+m[4] == "" {
		return false
	}
	return s.sayTime(t, end)
}

// half finds am or pm in its spellings at k.
func (s *scan) half(k int) (string, int) {
	m, end := s.match(halfDay, k)
	if m == nil || wordRune(s.at(end)) {
		return "", k
	}
	if s.at(end-1) == '.' && s.spaces(end) == len(s.t) {
		end-- // the full stop ends the sentence too
	}
	return strings.ToLower(m[1]) + "m", end
}

// sayTime speaks a time and what is written with it.
func (s *scan) sayTime(t moment, end int) bool {
	rest := ""
	if m, to := s.match(seconds, end); m != nil && !wordRune(s.at(to)) {
		rest, end = ", "+s.l.cardinal(atoi(m[1]), alone), to
	}
	if s.l.has(caseEndings) {
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
	s.say(end, s.l.timeOf(t, before)+rest)
	return true
}
