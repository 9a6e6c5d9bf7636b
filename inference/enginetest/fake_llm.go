package enginetest

import (
	"context"
	"iter"
	"sync"
	"time"
	"unicode/utf8"

	"parley/inference"
)

// FakeLLM is a language model with planned replies. Safe for use from
// several goroutines once its fields are set.
type FakeLLM struct {
	Name      string
	Languages []string
	// Replies are given in turn, one a request; the last one repeats.
	Replies [][]Step
	// Answer, when set, decides instead of Replies. n counts requests from 0.
	Answer func(n int, r inference.Request) []Step
	// IgnoreCancel makes it go on at its own pace after its context has ended, as
	// an engine does whose server cannot be stopped. Hang still ends.
	IgnoreCancel bool

	mu    sync.Mutex
	calls []*LLMCall
}

// Step is one thing a FakeLLM does: wait, then yield what is set.
type Step struct {
	After time.Duration // since the step before
	Text  string
	Tool  *inference.ToolCall
	Part  *inference.Part
	Usage *inference.Usage // nil: counted from the characters so far
	Err   error            // ends the reply
	Hang  bool             // say nothing more until the context ends
}

// LLMCall is one request a FakeLLM got.
type LLMCall struct {
	Request   inference.Request
	Start     time.Time
	End       time.Time // zero while it runs
	Text      string    // what was handed out
	Cancelled bool      // its context ended, or the consumer left, before it was done
}

// NewFakeLLM answers every request with three short sentences, the first after
// 150 ms and the others at once.
func NewFakeLLM() *FakeLLM {
	return &FakeLLM{
		Name:      "fake-llm",
		Languages: []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"},
		Replies:   [][]Step{Sentences(150*time.Millisecond, "Yes I can help. ", "It takes two days. ", "Is that all right?")},
	}
}

// Sentences is a reply whose first sentence comes after first and the others at
// once. The texts are yielded as they are, spaces included.
func Sentences(first time.Duration, sentences ...string) []Step {
	steps := make([]Step, len(sentences))
	for i, s := range sentences {
		steps[i].Text = s
	}
	if len(steps) > 0 {
		steps[0].After = first
	}
	return steps
}

// Info implements inference.LLM.
func (f *FakeLLM) Info() inference.Info {
	return inference.Info{Name: f.Name, Description: "fake language model for tests", Languages: f.Languages, Scripted: true}
}

// Calls lists the requests so far, oldest first.
func (f *FakeLLM) Calls() []LLMCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]LLMCall, len(f.calls))
	for i, c := range f.calls {
		list[i] = *c
	}
	return list
}

// Busy is the number of requests in progress.
func (f *FakeLLM) Busy() int {
	n := 0
	for _, c := range f.Calls() {
		if c.End.IsZero() {
			n++
		}
	}
	return n
}

// Complete implements inference.LLM.
func (f *FakeLLM) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		call, steps := f.begin(r)
		finished := f.play(ctx, call, steps, yield)
		f.mu.Lock()
		call.End, call.Cancelled = time.Now(), !finished
		f.mu.Unlock()
	}
}

func (f *FakeLLM) begin(r inference.Request) (*LLMCall, []Step) {
	call := &LLMCall{Request: r, Start: time.Now()}
	f.mu.Lock()
	n := len(f.calls)
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	switch {
	case f.Answer != nil:
		return call, f.Answer(n, r)
	case len(f.Replies) > 0:
		return call, f.Replies[min(n, len(f.Replies)-1)]
	}
	return call, nil
}

// play yields the steps and says whether it came to their end.
func (f *FakeLLM) play(ctx context.Context, call *LLMCall, steps []Step, yield func(inference.Delta, error) bool) bool {
	wait := ctx
	if f.IgnoreCancel {
		wait = context.WithoutCancel(ctx)
	}
	out, finish := 0, inference.FinishStop
	for i, s := range steps {
		err := sleep(wait, s.After)
		if err == nil && s.Hang {
			<-ctx.Done()
			err = context.Cause(ctx)
		}
		if err != nil {
			yield(inference.Delta{}, err)
			return false
		}
		if s.Err != nil {
			yield(inference.Delta{}, s.Err)
			return true
		}
		out += utf8.RuneCountInString(s.Text)
		if s.Tool != nil {
			finish = inference.FinishTools
			out += utf8.RuneCountInString(s.Tool.Name) + utf8.RuneCountInString(s.Tool.Arguments)
		}
		usage := s.Usage
		if usage == nil {
			usage = &inference.Usage{In: inference.CountTokens(call.Request.Characters()), Out: inference.CountTokens(out), Source: inference.UsageCounted}
		}
		f.mu.Lock()
		call.Text += s.Text
		f.mu.Unlock()
		d := inference.Delta{Text: s.Text, ToolCall: s.Tool, Part: s.Part, Usage: usage}
		if i == len(steps)-1 {
			d.Finish = finish
		}
		if !yield(d, nil) {
			return false
		}
	}
	return true
}
