package simulate

import (
	"cmp"
	"context"
	"strings"
	"time"

	"parley/inference"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
)

// How long the engines take that are played, as good ones do. A model's answer is there at
// once, but comes as if it were written.
const (
	modelFirst    = 350 * time.Millisecond // to the first sentence
	modelNext     = 120 * time.Millisecond // and to each further one
	voiceFirst    = 120 * time.Millisecond // from a sentence to its audio
	partialAfter  = 100 * time.Millisecond // from a word's end to the text with it
	finalAfter    = 120 * time.Millisecond // from the end of speech to the final text
	modelPatience = 60 * time.Second       // on the wall clock
)

// asked has the model, or the voice alone, make a reply.
func (w *world) asked(gen int, asked *journal.Asked) {
	request := asked.Request
	if request == nil {
		w.speak(gen, w.now, reply.Pieces(asked.Line, w.subject.Config.Agent.Language), 0)
		return
	}
	answer, calls, err := w.complete(TheAgent, w.subject.Config.LLM, *request)
	var usage inference.Usage
	if err == nil {
		usage = w.took[len(w.took)-1].Usage
	} else if w.problem == nil {
		w.problem = err
	}
	at := w.now + w.vary(modelFirst)
	for _, call := range calls {
		w.tell(at, journal.Message{Kind: "tool", Gen: gen, Call: &call})
	}
	sentences := reply.Pieces(answer, request.Language)
	written := at + time.Duration(max(0, len(sentences)-1))*modelNext
	w.tell(written, journal.Message{Kind: "written", Gen: gen, Usage: &usage, Engine: w.subject.Config.LLM.Info().Name})
	w.speak(gen, at, sentences, modelNext)
}

// speak gives sentences, which are written one after the other, their voice.
func (w *world) speak(gen int, at time.Duration, sentences []string, next time.Duration) {
	done := at
	for i, text := range sentences {
		begins := max(done, at+time.Duration(i)*next)
		rate, samples := journal.Voice(text, w.subject.Config.Agent.Speed)
		w.tell(begins, journal.Message{Kind: "sentence", Gen: gen, Seg: i, Text: text})
		done = begins + w.vary(voiceFirst)
		w.tell(done, journal.Message{Kind: "audio", Gen: gen, Seg: i, Samples: samples, Rate: rate})
		w.tell(done, journal.Message{Kind: "spoken", Gen: gen, Seg: i})
	}
	w.tell(done, journal.Message{Kind: "done", Gen: gen})
}

// complete is all that a model answers. What that takes is noted when it is there.
func (w *world) complete(role Role, model inference.LLM, r inference.Request) (text string, calls []inference.ToolCall, err error) {
	ctx, cancel := context.WithTimeout(w.ctx, modelPatience)
	defer cancel()
	took := Took{Role: role, Engine: model.Info().Name, Usage: inference.Usage{Source: inference.UsageCounted}}
	var b strings.Builder
	for d, err := range model.Complete(ctx, r) {
		if err != nil {
			return b.String(), calls, err
		}
		took.Engine = cmp.Or(d.Engine, took.Engine)
		b.WriteString(d.Text)
		if d.ToolCall != nil {
			calls = append(calls, *d.ToolCall)
		}
		if d.Usage != nil {
			took.Usage = *d.Usage
		}
	}
	w.took = append(w.took, took)
	return b.String(), calls, nil
}
