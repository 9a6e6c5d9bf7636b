package pipeline

import (
	"context"
	"strings"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/turn"
)

// A reply's sentences are made ahead of the voice by this many, so that a long
// answer neither waits between sentences nor piles up audio nobody may hear.
const sentencesAhead = 2

// sentenceQueue lets the model write ahead of the voice; then it waits.
const sentenceQueue = 16

// reply is one completion on its way from the model to the far end's ear, or a
// line of the agent's own. It belongs to the conductor.
type reply struct {
	gen       int // which completion
	number    int // public generation
	turn      int
	line      turn.Line
	cancel    context.CancelFunc
	making    chan struct{} // a token for each sentence made and not yet played
	texts     []*sentence
	calls     []inference.ToolCall
	joins     bool // it follows a sentence that is still being played
	live      bool // not concluded
	audible   bool // its first audio was ready
	spoken    bool // and written
	written   bool // the model is done
	made      bool // the voice is done
	caption   int  // sentences announced
	toldTools bool // the turn machine knows that every function has its result

	failed  bool  // an engine failed
	err     error // the model's
	outcome Outcome
	tokens  *inference.Usage

	endpoint time.Duration // of the turn it answers
	asked    time.Time
	modelAt  time.Time
	voiceAt  time.Time
}

// piece is a sentence on its way from the model to the voice.
type piece struct {
	text string
	at   time.Time // when the model wrote its beginning
}

// compose starts making a reply. A nil request speaks text as it stands.
func (c *Call) compose(r *reply, request *inference.Request, text string) {
	c.replies++
	r.gen, r.live, r.asked = c.replies, true, time.Now()
	r.making = make(chan struct{}, sentencesAhead)
	ctx, cancel := context.WithCancel(c.life)
	r.cancel = cancel
	c.reply = r
	c.mouth.follow(r.gen)
	pieces := make(chan piece, sentenceQueue)
	gen, agent := r.gen, c.agent
	if request == nil {
		r.written = true
		c.spawn(func() { recite(ctx, text, pieces) })
	} else {
		c.owed[r.gen] = r
		c.spawn(func() { c.write(ctx, gen, *request, pieces) })
	}
	c.spawn(func() {
		defer cancel() // a voice that failed stops the model
		c.speakAll(ctx, gen, &agent, r.making, pieces)
	})
}

// recite cuts a fixed text into pieces.
func recite(ctx context.Context, text string, out chan<- piece) {
	defer close(out)
	s := segmenter{text: text, first: true}
	for {
		p := s.next()
		if p == "" {
			p = s.rest()
		}
		if p == "" {
			return
		}
		select {
		case out <- piece{p, time.Now()}:
		case <-ctx.Done():
			return
		}
	}
}

// write runs the model and cuts what it writes into pieces to speak.
func (c *Call) write(ctx context.Context, gen int, request inference.Request, out chan<- piece) {
	defer close(out)
	var s segmenter
	var at time.Time
	var usage *inference.Usage
	var failed error
	count := 0
	give := func(text string) bool {
		select {
		case out <- piece{text, at}:
			at = time.Time{}
			return true
		case <-ctx.Done():
			return false
		}
	}
	for d, err := range c.cfg.LLM.Complete(ctx, request) {
		if err != nil {
			failed = err
			break
		}
		if d.Usage != nil {
			u := *d.Usage
			usage = &u
		}
		if d.ToolCall != nil && !c.post(ctx, message{kind: msgTool, gen: gen, call: *d.ToolCall}) {
			break
		}
		if at.IsZero() {
			at = time.Now()
		}
		count += len(d.Text)
		s.add(d.Text)
		ok := true
		for p := s.next(); p != "" && ok; p = s.next() {
			ok = give(p)
		}
		if !ok {
			break
		}
	}
	if p := s.rest(); p != "" && failed == nil && ctx.Err() == nil {
		give(p)
	}
	if usage == nil {
		usage = estimate(request, count)
	}
	if ctx.Err() != nil {
		failed = nil // our doing
	}
	// Not given up when the call ends: what was consumed is charged.
	c.box <- message{kind: msgWritten, gen: gen, usage: *usage, err: failed}
}

// estimate counts tokens where the engine did not: a quarter of the characters,
// rounded down.
func estimate(r inference.Request, out int) *inference.Usage {
	in := len(r.System)
	for _, m := range r.Messages {
		in += len(m.Text)
	}
	return &inference.Usage{In: in / 4, Out: out / 4, Source: inference.UsageCounted}
}

// speakAll gives each piece a voice, at most sentencesAhead before it is played.
func (c *Call) speakAll(ctx context.Context, gen int, agent *Agent, making chan<- struct{}, in <-chan piece) {
	seg := 0
	var failed error
	for p := range in {
		select {
		case making <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if !c.post(ctx, message{kind: msgSentence, gen: gen, seg: seg, text: p.text, at: p.at}) {
			return
		}
		if failed = c.speakOne(ctx, gen, seg, agent, p.text); failed != nil || ctx.Err() != nil {
			break
		}
		seg++
	}
	c.post(ctx, message{kind: msgDone, gen: gen, err: failed})
}

func (c *Call) speakOne(ctx context.Context, gen, seg int, agent *Agent, text string) error {
	for chunk, err := range c.voice(ctx, agent, text) {
		if err != nil {
			return err
		}
		if !c.post(ctx, message{kind: msgAudio, gen: gen, seg: seg, chunk: chunk, at: time.Now()}) {
			return nil
		}
	}
	c.post(ctx, message{kind: msgSpoken, gen: gen, seg: seg})
	return nil
}

// asks says whether the reply ends with a question.
func (r *reply) asks() bool {
	return len(r.texts) > 0 && strings.HasSuffix(r.texts[len(r.texts)-1].text, "?")
}

// heardMargin is taken off the cut: a word is heard when it ended this long before.
const heardMargin = 40 * media.Millisecond

// heardText is the part of the reply that the far end has heard.
func (r *reply) heardText(h trail) string {
	var b strings.Builder
	for i, s := range r.texts {
		if i > h.seg {
			break
		}
		t := s.text
		if i == h.seg {
			t = s.heard(h.off - heardMargin)
		}
		if t == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t)
	}
	return b.String()
}

// fullText is all of the reply's text that got a voice.
func (r *reply) fullText() string {
	parts := make([]string, len(r.texts))
	for i, s := range r.texts {
		parts[i] = s.text
	}
	return strings.Join(parts, " ")
}

// heard is the beginning of the sentence that ends by off: whole words by the
// engine's marks, else in proportion to the audio.
func (s *sentence) heard(off media.Time) string {
	runes := []rune(s.text)
	end := 0
	switch {
	case off <= 0 || s.rate == 0:
		return ""
	case s.complete && off >= s.rate.Duration(s.total)-heardMargin:
		return s.text
	case len(s.marks) > 0:
		for i, m := range s.marks {
			stop := m.End
			if stop == 0 && i+1 < len(s.marks) {
				stop = s.marks[i+1].Start
			}
			if stop == 0 || media.FromDuration(stop) > off {
				break
			}
			end = len(runes)
			if i+1 < len(s.marks) && s.marks[i+1].Char >= 0 {
				end = s.marks[i+1].Char
			}
		}
	default:
		end = int(int64(len(runes)) * int64(off) / int64(max(1, s.rate.Duration(s.total))))
		end = min(end, len(runes))
		for end > 0 && end < len(runes) && runes[end] != ' ' {
			end--
		}
	}
	return strings.TrimSpace(string(runes[:end]))
}
