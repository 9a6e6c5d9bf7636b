package listen

import (
	"slices"
	"strings"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/wordtime"
)

// maxUtterances bounds the utterances of a turn whose times are kept, and the stretches of
// speech in one; of more the oldest are forgotten.
const maxUtterances = 64

// utterances is when the latest utterances of the caller's turn were spoken and what was
// recognised in them.
type utterances struct {
	list    []utterance      // oldest first
	partial inference.Result // of the one of its number; no text: there is none
	finalAt time.Time        // when the last final text came; zero: none did
}

// utterance is what was said between the detector's verdicts.
type utterance struct {
	number int
	origin media.Time // of the first sample that the recogniser got
	runs   []stretch
	open   bool // the last run goes on
	finals []inference.Result
}

// stretch is some of the caller's speech.
type stretch struct{ from, to media.Time }

// begin forgets the turn before, but not the utterance that goes on.
func (u *utterances) begin(goesOn bool) {
	list := u.list
	*u = utterances{}
	if n := len(list); goesOn && n > 0 {
		u.list = slices.Clone(list[n-1:])
	}
}

// opened notes an utterance that the recogniser hears from origin on, and whose speech
// begins at from.
func (u *utterances) opened(number int, origin, from media.Time) {
	u.list = bounded(u.list, utterance{number: number, origin: origin})
	u.resumed(from)
}

// restarted notes that another stream hears the latest utterance, from origin on.
func (u *utterances) restarted(origin media.Time) {
	if n := len(u.list); n > 0 {
		u.list[n-1].origin = origin
	}
}

// resumed notes that the latest utterance goes on.
func (u *utterances) resumed(from media.Time) {
	if n := len(u.list); n > 0 {
		x := &u.list[n-1]
		x.runs, x.open = bounded(x.runs, stretch{from, from}), true
	}
}

// bounded appends to a list, of which it forgets the oldest when there are too many.
func bounded[T any](list []T, x T) []T {
	if len(list) == maxUtterances {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, x)
}

// closed notes the end of the latest utterance's speech.
func (u *utterances) closed(to media.Time) {
	if n := len(u.list); n > 0 && u.list[n-1].open {
		x := &u.list[n-1]
		last := &x.runs[len(x.runs)-1]
		last.to, x.open = max(last.from, to), false
	}
}

// recognised takes a result, which has the utterance's number in the call. Texts of other turns' are none of ours.
func (u *utterances) recognised(r inference.Result, now time.Time) {
	i := slices.IndexFunc(u.list, func(x utterance) bool { return x.number == r.Utterance })
	switch {
	case i < 0:
	case !r.Final:
		u.partial = r
	default:
		u.partial = inference.Result{}
		if r.Text != "" {
			u.finalAt = now
			u.list[i].finals = append(u.list[i].finals, r)
		}
	}
}

// SettledAt is when the last of the turn's text became final; zero: it may still change,
// or nothing came.
func (c *Caller) SettledAt() time.Time {
	if c.words.partial.Text != "" {
		return time.Time{}
	}
	return c.words.finalAt
}

// Said is how a turn with this text was spoken; now ends speech that goes on. It is nil
// when nothing is known of it.
func (c *Caller) Said(text string, now media.Time) *wordtime.Said {
	u := &c.words
	fields := strings.Fields(text)
	if len(fields) == 0 || len(u.list) == 0 {
		return nil
	}
	out := &wordtime.Said{}
	var all wordtime.Clock
	var speech media.Time
	for i := range u.list {
		x := &u.list[i]
		all, speech = x.clock(all, speech, now)
		texts := x.finals
		if u.partial.Utterance == x.number && u.partial.Text != "" {
			texts = append(slices.Clip(texts), u.partial)
		}
		words, timed := x.words(texts, now)
		out.Words, out.Estimated = append(out.Words, words...), out.Estimated || !timed
	}
	// Of earlier utterances the turn may have given up the words.
	if n := len(out.Words) - len(fields); n >= 0 && slices.EqualFunc(out.Words[n:], fields, func(w wordtime.Word, f string) bool { return w.Text == f }) {
		out.Words = out.Words[n:]
		return out
	}
	return &wordtime.Said{Words: all.Share(fields, speech), Estimated: true}
}

// clock adds the utterance's runs to a clock that has so much speech.
func (x *utterance) clock(c wordtime.Clock, speech, now media.Time) (wordtime.Clock, media.Time) {
	for i, r := range x.runs {
		if x.open && i == len(x.runs)-1 {
			r.to = max(r.to, now)
		}
		c = append(c, wordtime.Stretch{Off: speech, At: r.from})
		speech += r.to - r.from
	}
	return c, speech
}

// words are those of texts, with the recogniser's times if it gave them for all, else with
// shares of the utterance's speech.
func (x *utterance) words(texts []inference.Result, now media.Time) (words []wordtime.Word, timed bool) {
	var all []string
	timed = true
	for i := range texts {
		fields := strings.Fields(texts[i].Text)
		all = append(all, fields...)
		if timed = timed && len(texts[i].Words) == len(fields); !timed {
			continue
		}
		for k, m := range texts[i].Words {
			words = append(words, wordtime.Word{Text: fields[k], From: x.origin + media.FromDuration(m.Start), To: x.origin + media.FromDuration(m.End)})
		}
	}
	if timed || len(all) == 0 {
		return words, true
	}
	clock, speech := x.clock(nil, 0, now)
	return clock.Share(all, speech), false
}
