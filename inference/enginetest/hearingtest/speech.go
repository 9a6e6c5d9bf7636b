package hearingtest

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	// OverAfter is the quiet after which the next sound is another utterance.
	OverAfter = 200 * time.Millisecond

	wordPace   = 250 * time.Millisecond // of utterances without a length
	resumeGap  = 100 * time.Millisecond // quiet in a pause after which sound is its end, and not a tail
	givenUpGap = 250 * time.Millisecond // quiet outside a pause that means the speaker stopped early
)

// Utterance is what one utterance is heard as.
type Utterance struct {
	Text   string
	Length time.Duration // from its first sound to its last, pauses included; 0: 250 ms a word and the pauses
	Pauses []Pause       // in the order of the words
	// Language is what words are marked with where the model may hear several; "": en.
	Language string
	// EmptyFinal makes finals empty, though the partials had words.
	EmptyFinal bool
}

// Pause is quiet inside an utterance, longer than between words. The audio may have it a bit
// earlier or later, and the words after it follow the audio.
type Pause struct {
	After  int // words
	Length time.Duration
}

// Word is one word as it was heard.
type Word struct {
	Text       string
	Start, End time.Duration // of the connection's audio
	Of         *Utterance

	utterance, index int
}

// Language is the word's, en when its utterance names none.
func (w Word) Language() string { return cmp.Or(w.Of.Language, "en") }

// Plain is a word without capitals and punctuation.
func Plain(text string) string {
	return cmp.Or(strings.ToLower(strings.TrimFunc(text, unicode.IsPunct)), text)
}

// Shown are the words that finals show. The caller owns the list.
func Shown(words []Word) []Word {
	return slices.DeleteFunc(slices.Clone(words), func(w Word) bool { return w.Of.EmptyFinal })
}

// Text is words as their utterances write them, or plain, between them a space.
func Text(words []Word, plain bool) string {
	texts := make([]string, 0, len(words))
	for _, w := range words {
		if plain {
			w.Text = Plain(w.Text)
		}
		texts = append(texts, w.Text)
	}
	return strings.Join(texts, " ")
}

// Languages are those of words, each once, and never nil.
func Languages(words []Word) []string {
	list := []string{}
	for _, w := range words {
		if !slices.Contains(list, w.Language()) {
			list = append(list, w.Language())
		}
	}
	return list
}

// speech is one utterance while it is heard.
type speech struct {
	words  []Word // their times from the beginning of the utterance
	pauses []span // not yet over, likewise
	length time.Duration

	next  int           // the first word that has not been heard
	at    time.Duration // how much of it was heard
	quiet time.Duration // since it ended, or since the pause that it is in began
}

type span struct{ start, end time.Duration }

// begin lays out an utterance, from one of its words on.
func begin(number, from int, u *Utterance) *speech {
	s := &speech{next: from}
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
		s.words = append(s.words, Word{Text: text, Start: at, End: at + each, Of: u, utterance: number, index: i})
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
		s.at = s.words[from].Start
	}
	for len(s.pauses) > 0 && s.pauses[0].end <= s.at {
		s.pauses = s.pauses[1:]
	}
	return s
}

func (s *speech) inPause() bool { return len(s.pauses) > 0 && s.at >= s.pauses[0].start }
func (s *speech) ended() bool   { return s.at >= s.length }

// advance hears so much more audio, which ends at now, and returns the words that ended in it.
func (s *speech) advance(step time.Duration, loud bool, now time.Duration) (heard []Word) {
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
	for s.next < len(s.words) && s.words[s.next].End <= s.at {
		heard = append(heard, s.take(now))
	}
	return heard
}

// take is the next word, its times those of the connection.
func (s *speech) take(now time.Duration) Word {
	w, begun := s.words[s.next], now-s.at
	w.Start, w.End = begun+w.Start, min(begun+w.End, now)
	s.next++
	return w
}

// cut is what more is heard when the client asks for the last words: a word of which half
// was said, and all words of a speaker who has been quiet outside of pauses.
func (s *speech) cut(now, silent time.Duration) (heard []Word) {
	stopped := silent >= givenUpGap && !s.inPause()
	for s.next < len(s.words) {
		w := s.words[s.next]
		if !stopped && s.at < (w.Start+w.End)/2 {
			break
		}
		heard = append(heard, s.take(now))
	}
	if stopped {
		s.at = max(s.at, s.length)
	}
	return heard
}
