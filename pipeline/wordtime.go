package pipeline

import (
	"strings"
	"time"
	"unicode/utf8"

	"parley/inference"
	"parley/media"
)

// Word is a word of a line and when it was said, in media time of the call.
type Word struct {
	Text     string
	From, To media.Time
}

// Said is how a line was said. It does not change.
type Said struct {
	Words []Word // of the line's text, in order
	// Estimated says that an engine gave no times for some of them: they have shares of
	// the speech or of the audio, by their length.
	Estimated bool
	// Of a line of the agent's that was cut off: when, and what had been made of the rest,
	// which nobody heard and the model is not told of.
	Interrupted bool
	Cut         media.Time
	Unheard     string
}

// maxUttered bounds the utterances of a turn whose times are kept, and the stretches of
// speech in one; of more the oldest are forgotten.
const maxUttered = 64

// uttered is when the latest utterances of the caller's turn were spoken and what was
// recognised in them. It belongs to the conductor.
type uttered struct {
	list    []utterance // oldest first
	partial recognisedText
	of      int       // the partial's utterance
	finalAt time.Time // when the last final text came; zero: none did
}

// utterance is what was said between the detector's verdicts.
type utterance struct {
	number int
	origin media.Time // of the first sample that the recogniser got
	runs   []stretch
	open   bool // the last run goes on
	finals []recognisedText
}

// stretch is some of the caller's speech.
type stretch struct{ from, to media.Time }

// recognisedText is what a recogniser made of an utterance, or of a piece of it.
type recognisedText struct {
	text  string
	words []inference.Mark // nil: the engine does not say; times from the utterance's first sample
}

// begin forgets the turn before, but not the utterance that goes on.
func (u *uttered) begin(goesOn bool) {
	kept := u.list[:0]
	if n := len(u.list); goesOn && n > 0 {
		kept = append(kept, u.list[n-1])
	}
	clear(u.list[len(kept):])
	u.list, u.partial, u.of, u.finalAt = kept, recognisedText{}, 0, time.Time{}
}

// opened notes an utterance that the recogniser hears from origin on, and whose speech
// begins at from.
func (u *uttered) opened(number int, origin, from media.Time) {
	if len(u.list) == maxUttered {
		u.list = append(u.list[:0], u.list[1:]...)
	}
	u.list = append(u.list, utterance{number: number, origin: origin, runs: []stretch{{from, from}}, open: true})
}

// resumed notes that the latest utterance goes on.
func (u *uttered) resumed(from media.Time) {
	if n := len(u.list); n > 0 {
		x := &u.list[n-1]
		if len(x.runs) == maxUttered {
			x.runs = append(x.runs[:0], x.runs[1:]...)
		}
		x.runs, x.open = append(x.runs, stretch{from, from}), true
	}
}

// closed notes the end of the latest utterance's speech.
func (u *uttered) closed(to media.Time) {
	if n := len(u.list); n > 0 && u.list[n-1].open {
		x := &u.list[n-1]
		last := &x.runs[len(x.runs)-1]
		last.to, x.open = max(last.from, to), false
	}
}

// recognised takes a result for an utterance. Texts of other turns' are none of ours.
func (u *uttered) recognised(number int, r recognisedText, final bool, now time.Time) {
	for i := range u.list {
		if u.list[i].number != number {
			continue
		}
		if !final {
			u.partial, u.of = r, number
			return
		}
		u.partial, u.of = recognisedText{}, 0
		if r.text != "" {
			u.finalAt = now
			u.list[i].finals = append(u.list[i].finals, r)
		}
	}
}

// settledAt is when the last of the turn's text became final; zero: it may still change,
// or nothing came.
func (u *uttered) settledAt() time.Time {
	if u.partial.text != "" {
		return time.Time{}
	}
	return u.finalAt
}

// said is how a turn with this text was spoken; now ends speech that goes on. It is nil
// when nothing is known of it.
func (u *uttered) said(text string, now media.Time) *Said {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(u.list) == 0 {
		return nil
	}
	out := &Said{}
	var runs []stretch
	for i := range u.list {
		x := &u.list[i]
		mine := x.stretches(now)
		runs = append(runs, mine...)
		texts := x.finals
		if u.of == x.number && u.partial.text != "" {
			texts = append(texts[:len(texts):len(texts)], u.partial)
		}
		words, timed := x.timed(texts)
		if !timed {
			out.Estimated = out.Estimated || len(words) > 0
			words = spread(words, mine)
		}
		out.Words = append(out.Words, words...)
	}
	// Of earlier utterances the turn may have given up the words.
	if n := len(out.Words) - len(fields); n >= 0 && spells(out.Words[n:], fields) {
		out.Words = out.Words[n:]
		return out
	}
	words := make([]Word, len(fields))
	for i, f := range fields {
		words[i].Text = f
	}
	return &Said{Words: spread(words, runs), Estimated: true}
}

// stretches are the utterance's speech.
func (x *utterance) stretches(now media.Time) []stretch {
	runs := append([]stretch(nil), x.runs...)
	if last := &runs[len(runs)-1]; x.open {
		last.to = max(last.from, now)
	}
	return runs
}

// timed is the words of texts, with the recogniser's times if it gave them for all.
func (x *utterance) timed(texts []recognisedText) (words []Word, timed bool) {
	timed = true
	for _, t := range texts {
		fields := strings.Fields(t.text)
		given := len(t.words) == len(fields)
		timed = timed && given
		for i, f := range fields {
			w := Word{Text: f}
			if given {
				w.From, w.To = x.origin+media.FromDuration(t.words[i].Start), x.origin+media.FromDuration(t.words[i].End)
			}
			words = append(words, w)
		}
	}
	return words, timed
}

func spells(words []Word, fields []string) bool {
	for i, w := range words {
		if w.Text != fields[i] {
			return false
		}
	}
	return true
}

// spread gives words shares of some speech, by their length and the spaces between them.
func spread(words []Word, runs []stretch) []Word {
	letters, speech := int64(-1), media.Time(0)
	for _, w := range words {
		letters += int64(utf8.RuneCountInString(w.Text)) + 1
	}
	for _, r := range runs {
		speech += r.to - r.from
	}
	share := func(n int64) media.Time { return media.Time(int64(speech) / max(1, letters) * n) }
	at := int64(0)
	for i := range words {
		n := int64(utf8.RuneCountInString(words[i].Text))
		words[i].From, words[i].To = within(runs, share(at), false), within(runs, share(at+n), true)
		at += n + 1
	}
	return words
}

// within is when d of the speech in runs is over: of two moments, before a pause and after
// it, the first where it is the end of something.
func within(runs []stretch, d media.Time, end bool) media.Time {
	for i, r := range runs {
		if n := r.to - r.from; d < n || end && d == n || i == len(runs)-1 {
			return r.from + min(d, n)
		}
		d -= r.to - r.from
	}
	return 0
}
