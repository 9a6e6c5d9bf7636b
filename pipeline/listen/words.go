package listen

import (
	"slices"
	"strings"
	"time"
	"unicode"

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
func (u *utterances) begin(goesOn bool) {
	kept := u.list[:0]
	if n := len(u.list); goesOn && n > 0 {
		kept = append(kept, u.list[n-1])
	}
	clear(u.list[len(kept):])
	u.list, u.partial, u.of, u.finalAt = kept, recognisedText{}, 0, time.Time{}
}

// opened notes an utterance that the recogniser hears from origin on, and whose speech
// begins at from.
func (u *utterances) opened(number int, origin, from media.Time) {
	if len(u.list) == maxUtterances {
		u.list = append(u.list[:0], u.list[1:]...)
	}
	u.list = append(u.list, utterance{number: number, origin: origin, runs: []stretch{{from, from}}, open: true})
}

// resumed notes that the latest utterance goes on.
func (u *utterances) resumed(from media.Time) {
	if n := len(u.list); n > 0 {
		x := &u.list[n-1]
		if len(x.runs) == maxUtterances {
			x.runs = append(x.runs[:0], x.runs[1:]...)
		}
		x.runs, x.open = append(x.runs, stretch{from, from}), true
	}
}

// closed notes the end of the latest utterance's speech.
func (u *utterances) closed(to media.Time) {
	if n := len(u.list); n > 0 && u.list[n-1].open {
		x := &u.list[n-1]
		last := &x.runs[len(x.runs)-1]
		last.to, x.open = max(last.from, to), false
	}
}

// recognised takes a result for an utterance. Texts of other turns' are none of ours.
func (u *utterances) recognised(number int, r recognisedText, final bool, now time.Time) {
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

// SettledAt is when the last of the turn's text became final; zero: it may still change,
// or nothing came.
func (c *Caller) SettledAt() time.Time {
	if c.words.partial.text != "" {
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
		if u.of == x.number && u.partial.text != "" {
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
func (x *utterance) words(texts []recognisedText, now media.Time) (words []wordtime.Word, timed bool) {
	var all []string
	timed = true
	for _, t := range texts {
		fields := strings.Fields(t.text)
		all = append(all, fields...)
		if timed = timed && len(t.words) == len(fields); !timed {
			continue
		}
		for i, f := range fields {
			words = append(words, wordtime.Word{Text: f, From: x.origin + media.FromDuration(t.words[i].Start), To: x.origin + media.FromDuration(t.words[i].End)})
		}
	}
	if timed || len(all) == 0 {
		return words, true
	}
	clock, speech := x.clock(nil, 0, now)
	return clock.Share(all, speech), false
}

// transcriptEcho is what the agent has said in the last seconds. It finds recognised text
// that repeats it: an echo that the echo guard let pass.
type transcriptEcho struct {
	texts [8]struct {
		text string
		at   time.Time // when its last frame was written
	}
	n int // written; the latest is at (n-1) modulo len
}

const (
	transcriptEchoFor = 4 * time.Second
	// A text is an echo when echoWords hundredths of its words are the agent's, in their
	// order. Where no echo was found on the line it must have leastEcho words: a short
	// answer often repeats the question.
	echoWords = 80
	leastEcho = 5
)

// note takes the sentence whose frame is being written. It does not allocate.
func (l *transcriptEcho) note(text string, now time.Time) {
	if l.n == 0 || l.texts[(l.n-1)%len(l.texts)].text != text {
		l.n++
	}
	t := &l.texts[(l.n-1)%len(l.texts)]
	t.text, t.at = text, now
}

// repeats says whether text is the agent's own. over says that it was begun while the
// agent spoke: what is said after it answers it. found says that the line has an echo.
func (l *transcriptEcho) repeats(text string, over, found bool, now time.Time) bool {
	if !over || text == "" {
		return false
	}
	words := wordsOf(text)
	if len(words) == 0 || !found && len(words) < leastEcho {
		return false
	}
	var said []string
	for i := max(0, l.n-len(l.texts)); i < l.n; i++ {
		if t := &l.texts[i%len(l.texts)]; now.Sub(t.at) <= transcriptEchoFor {
			said = append(said, wordsOf(t.text)...)
		}
	}
	return 100*common(words, said) >= echoWords*len(words)
}

// wordsOf is a text's words in lower case without punctuation.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// common is the length of the longest sequence of words that a and b share, in order
// and with others in between.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, w := range a {
		diagonal := 0
		for j, v := range b {
			up := row[j+1]
			if w == v {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}
