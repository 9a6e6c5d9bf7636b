package reply

import (
	"context"
	"time"
	"unicode/utf8"

	"parley/inference"
)

// piece is a sentence on its way from the model to the voice.
type piece struct {
	text string
	sent time.Time // when the model was asked
	at   time.Time // when it wrote the beginning
	// whole is when it had written all of it.
	whole time.Time

	// Since it was given to the voice:
	way    wayBack
	made   []inference.Chunk // ahead
	voiced bool              // it is said by the utterance
	asked  time.Time         // when its turn came
	voice  time.Time         // when an engine was asked for it first; zero: that was not noted
}

// recited is a fixed text in pieces.
func recited(text, language string) (list []piece) {
	now := time.Now()
	for _, p := range Pieces(text, language) {
		list = append(list, piece{text: p, sent: now, at: now, whole: now})
	}
	return list
}

// writing is one run of the model, which cuts what it writes into pieces to speak.
type writing struct {
	m       *Maker
	ctx     context.Context
	gen     int
	request *inference.Request
	out     chan<- piece
	text    segmenter
	wait    inference.Wait
	asked   time.Time        // when run began
	at      time.Time        // when the first of the text in it was written
	began   bool             // something came
	count   int              // characters written
	own     []inference.Part // what the model wants back with its next call
	usage   *inference.Usage
	engine  string // whose words these are
	err     error
}

func newWriting(m *Maker, ctx context.Context, gen int, request *inference.Request, out chan<- piece) *writing {
	return &writing{m: m, ctx: ctx, gen: gen, request: request, out: out, text: segmenter{language: request.Language}}
}

// end reports what the model used, however run has ended.
func (w *writing) end() {
	if w.ctx.Err() != nil {
		w.err = nil // our doing
	}
	// Not given up when the call ends: what was consumed is charged.
	w.m.crew.Post(context.Background(), Part{Kind: Written, Gen: w.gen, Usage: w.consumed(), Engine: w.engine, Err: w.err})
	close(w.out)
}

// run ends with the model, or when the reply does.
func (w *writing) run() {
	w.asked = time.Now()
	for d, err := range w.m.llm.Complete(w.wait.With(w.ctx), *w.request) {
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
			w.engine = w.m.llm.Info().Name
		}
	}
	if d.Usage != nil {
		u := *d.Usage
		w.usage = &u
	}
	if d.Part != nil {
		w.own = append(w.own, *d.Part)
	}
	if d.ToolCall != nil {
		if !w.m.crew.Post(w.ctx, Part{Kind: Call, Gen: w.gen, Call: *d.ToolCall, Own: w.own}) {
			return false
		}
		w.own = nil
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
	case w.out <- piece{text: text, sent: sent, at: w.at, whole: whole}:
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
