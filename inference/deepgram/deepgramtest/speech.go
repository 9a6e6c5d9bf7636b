package deepgramtest

import (
	"strings"
	"time"
)

const (
	wordPace   = 250 * time.Millisecond // of utterances without a length
	resumeGap  = 100 * time.Millisecond // quiet in a pause after which sound is its end, and not a tail
	overAfter  = 200 * time.Millisecond // quiet after which the next sound is another utterance
	givenUpGap = 250 * time.Millisecond // quiet outside a pause that means the speaker stopped early
)

// word is one word as it was heard.
type word struct {
	utterance, index int
	text             string
	start, end       time.Duration // of the connection's audio
	of               *Utterance
}

// speech is one utterance while it is heard.
type speech struct {
	number int
	of     *Utterance
	words  []word // their times from the beginning of the utterance
	pauses []span // not yet over, likewise
	length time.Duration

	next  int           // the first word that has not been heard
	at    time.Duration // how much of it was heard
	quiet time.Duration // since it ended, or since the pause that it is in began
}

type span struct{ start, end time.Duration }

// begin lays out an utterance, from one of its words on.
func begin(number, from int, u *Utterance) *speech {
	s := &speech{number: number, of: u, next: from}
	texts := strings.Fields(u.Text)
	each, paused := wordPace, time.Duration(0)
	for _, p := range u.Pauses {
		paused += p.Length
	}
	if u.Length > 0 && len(texts) > 0 {
		each = max(0, u.Length-paused) / time.Duration(len(texts))
	}
	at := time.Duration(0)
	for i, text := range texts {
		s.words = append(s.words, word{number, i, text, at, at + each, u})
		at += each
		for _, p := range u.Pauses {
			if p.After == i+1 && i+1 < len(texts) {
				s.pauses = append(s.pauses, span{at, at + p.Length})
				at += p.Length
			}
		}
	}
	s.length = max(at, u.Length)
	if from > 0 && from < len(s.words) {
		s.at = s.words[from].start
	}
	for len(s.pauses) > 0 && s.pauses[0].end <= s.at {
		s.pauses = s.pauses[1:]
	}
	return s
}

func (s *speech) inPause() bool { return len(s.pauses) > 0 && s.at >= s.pauses[0].start }
func (s *speech) ended() bool   { return s.at >= s.length }

// advance hears so much more audio, which ends at now, and returns the words that ended in it.
func (s *speech) advance(step time.Duration, loud bool, now time.Duration) (heard []word) {
	switch {
	case s.inPause() && !loud:
		s.quiet += step
		s.at = min(s.at+step, s.pauses[0].end) // a longer pause than planned holds the words back
	case s.inPause():
		if s.quiet >= resumeGap {
			s.at = s.pauses[0].end // a shorter one does not
		}
		s.at, s.quiet = s.at+step, 0
		if s.at >= s.pauses[0].end {
			s.pauses = s.pauses[1:]
		}
	case s.ended() && !loud:
		s.quiet += step
	default:
		s.at, s.quiet = s.at+step, 0
	}
	for s.next < len(s.words) && s.words[s.next].end <= s.at {
		heard = append(heard, s.take(now))
	}
	return heard
}

// take is the next word, its times those of the connection.
func (s *speech) take(now time.Duration) word {
	w, begun := s.words[s.next], now-s.at
	w.start, w.end = begun+w.start, min(begun+w.end, now)
	s.next++
	return w
}

// cut is what more is heard when the client asks for the last words: a word of which half
// was said, and all words of a speaker who has been quiet outside of pauses.
func (s *speech) cut(now, silent time.Duration) (heard []word) {
	stopped := silent >= givenUpGap && !s.inPause()
	for s.next < len(s.words) {
		w := s.words[s.next]
		if !stopped && s.at < (w.start+w.end)/2 {
			break
		}
		heard = append(heard, s.take(now))
	}
	if stopped {
		s.at = max(s.at, s.length)
	}
	return heard
}
