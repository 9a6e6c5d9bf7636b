package pipeline

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/spoken"
	"parley/pipeline/agent"
)

// A reply's sentences are made ahead of the voice by this many, so that a long
// answer neither waits between sentences nor piles up audio nobody may hear.
const sentencesAhead = 2

// sentenceQueue lets the model write ahead of the voice; then it waits.
const sentenceQueue = 16

// piece is a sentence on its way from the model to the voice.
type piece struct {
	text string
	sent time.Time // when the model was asked
	at   time.Time // when it wrote the beginning
	// whole is when it had written all of it.
	whole time.Time
}

// compose starts making a reply that is heard as it comes. A nil request speaks text as
// it stands.
func (c *Call) compose(r *reply, request *inference.Request, text string) {
	c.engage(r, request, text)
	c.adopt(r)
}

// recite cuts a fixed text into pieces.
func recite(ctx context.Context, text, language string, out chan<- piece) {
	for _, p := range pieces(text, language) {
		now := time.Now()
		select {
		case out <- piece{p, now, now, now}:
		case <-ctx.Done():
			return
		}
	}
}

// writing is one run of the model, which cuts what it writes into pieces to speak.
type writing struct {
	c       *Call
	ctx     context.Context
	gen     int
	request *inference.Request
	out     chan<- piece
	text    segmenter
	wait    inference.Wait
	asked   time.Time // when run began
	at      time.Time // when the first of the text in it was written
	began   bool      // something came
	count   int       // characters written
	usage   *inference.Usage
	engine  string // whose words these are
	err     error
}

func newWriting(c *Call, ctx context.Context, gen int, request *inference.Request, out chan<- piece) *writing {
	return &writing{c: c, ctx: ctx, gen: gen, request: request, out: out, text: segmenter{language: request.Language}}
}

// end reports what the model used, however run has ended.
func (w *writing) end() {
	if w.ctx.Err() != nil {
		w.err = nil // our doing
	}
	// Not given up when the call ends: what was consumed is charged.
	w.c.box <- message{kind: msgWritten, gen: w.gen, usage: w.consumed(), engine: w.engine, err: w.err}
	close(w.out)
}

// run ends with the model, or when nobody wants its words any more.
func (w *writing) run() {
	w.asked = time.Now()
	for d, err := range w.c.cfg.LLM.Complete(w.wait.With(w.ctx), *w.request) {
		if err != nil {
			w.err = err
			return
		}
		if !w.take(d) {
			return
		}
	}
	if p := w.text.rest(); p != "" {
		w.give(p, time.Now())
	}
}

func (w *writing) take(d inference.Delta) bool {
	w.began = true
	if w.engine == "" && (d.Text != "" || d.ToolCall != nil) {
		if w.engine = d.Engine; w.engine == "" {
			w.engine = w.c.cfg.LLM.Info().Name
		}
	}
	if d.Usage != nil {
		u := *d.Usage
		w.usage = &u
	}
	if d.ToolCall != nil && !w.c.post(w.ctx, message{kind: msgTool, gen: w.gen, call: *d.ToolCall}) {
		return false
	}
	if d.Text == "" {
		return true
	}
	_, got := w.wait.Times(w.asked, time.Now())
	if w.at.IsZero() {
		w.at = got
	}
	w.count += utf8.RuneCountInString(d.Text)
	w.text.add(d.Text)
	for p := w.text.next(); p != ""; p = w.text.next() {
		if !w.give(p, got) {
			return false
		}
	}
	return true
}

// give hands on a piece that the model had written at a time.
func (w *writing) give(text string, whole time.Time) bool {
	sent, _ := w.wait.Times(w.asked, whole)
	select {
	case w.out <- piece{text, sent, w.at, whole}:
		w.at = time.Time{}
		return true
	case <-w.ctx.Done():
		return false
	}
}

// consumed is what the engine says it used. For one that does not say it is a
// quarter of the characters, rounded down; nothing when it never began to answer.
func (w *writing) consumed() inference.Usage {
	switch {
	case w.usage != nil:
		return *w.usage
	case !w.began:
		return inference.Usage{Source: inference.UsageCounted}
	}
	return inference.Usage{In: w.request.Characters() / 4, Out: w.count / 4, Source: inference.UsageCounted}
}

// errRate is the fault of a voice whose audio cannot be played.
var errRate = errors.New("a sample rate that no call has")

// speakAll gives each piece a voice, at most sentencesAhead before it is played. What a
// voice has left unsaid is spoken again where the conductor says so.
func (c *Call) speakAll(ctx context.Context, gen int, agent *agent.Agent, making chan<- struct{}, in <-chan piece) {
	seg := 0
	var failed error
	for p := range in {
		wait := &inference.Wait{} // a voice that broke was waited for, too
		for p.text != "" && failed == nil {
			select {
			case making <- struct{}{}:
			case <-ctx.Done():
				return
			}
			p.text, failed = c.speakPiece(wait.With(ctx), gen, seg, agent, p, wait)
			seg++
		}
		if failed != nil || ctx.Err() != nil {
			break
		}
	}
	c.post(ctx, message{kind: msgDone, gen: gen, err: failed})
}

// speakPiece speaks a piece as sentence seg. When its voice breaks, or is stopped for its
// silence, the conductor knows what is left of it to be spoken again.
func (c *Call) speakPiece(ctx context.Context, gen, seg int, agent *agent.Agent, p piece, wait *inference.Wait) (left string, failed error) {
	attempt, stop := context.WithCancelCause(ctx)
	defer stop(errConcluded)
	form := agent.Form(p.text)
	if !c.post(ctx, message{kind: msgSentence, gen: gen, seg: seg, text: p.text, form: form, sent: p.sent, at: p.at, whole: p.whole, stop: stop}) {
		return "", nil
	}
	err := c.speakOne(attempt, gen, seg, agent, form, wait)
	if ctx.Err() != nil || err == nil && attempt.Err() == nil {
		return "", nil
	}
	if attempt.Err() != nil {
		err = &inference.Error{Engine: c.cfg.TTS.Info().Name, Fault: inference.ErrFailed, Err: context.Cause(attempt)}
	}
	again := make(chan string, 1)
	if !c.post(ctx, message{kind: msgBroken, gen: gen, seg: seg, err: err, again: again}) {
		return "", nil
	}
	select {
	case left, retry := <-again:
		if !retry {
			return "", err
		}
		return left, nil
	case <-ctx.Done():
		return "", nil
	}
}

func (c *Call) speakOne(ctx context.Context, gen, seg int, agent *agent.Agent, form *spoken.Form, wait *inference.Wait) error {
	asked := time.Now()
	for chunk, err := range c.voice(ctx, agent, form) {
		if err != nil {
			return err
		}
		if len(chunk.Samples) > 0 && !chunk.Rate.Valid() {
			return &inference.Error{Engine: c.cfg.TTS.Info().Name, Fault: inference.ErrFailed, Err: errRate}
		}
		sent, got := wait.Times(asked, time.Now())
		if !c.post(ctx, message{kind: msgAudio, gen: gen, seg: seg, chunk: chunk, sent: sent, at: got}) {
			return nil
		}
	}
	c.post(ctx, message{kind: msgSpoken, gen: gen, seg: seg})
	return nil
}
