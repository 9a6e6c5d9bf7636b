package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/remote"
)

// LLM is a chat completion model.
type LLM struct{ *client }

// NewLLM checks c and contacts nobody. The default model is gpt-4o-mini.
func NewLLM(c Config) (*LLM, error) {
	cl, err := newClient("gpt-4o-mini", c)
	if err != nil {
		return nil, err
	}
	return &LLM{cl}, nil
}

// Info implements inference.LLM.
func (l *LLM) Info() inference.Info {
	return inference.Info{Name: l.Engine(), Description: "chat completions, model " + l.model, Languages: inference.Spoken()}
}

// Warm implements inference.Warmer.
func (l *LLM) Warm(ctx context.Context) { l.Client.Warm(ctx, "/models") }

// Complete implements inference.LLM. Usage is counted from the characters until
// the server tells its own, which replaces the count; a reply that is cut short
// therefore still says what it consumed. A request that the server never began
// to answer counts as nothing.
func (l *LLM) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		if ctx.Err() != nil {
			yield(inference.Delta{}, context.Cause(ctx))
			return
		}
		body, err := json.Marshal(l.chatRequest(r))
		if err != nil { // a tool's parameters are not JSON
			yield(inference.Delta{}, l.Fault(inference.ErrRefused, errors.New("the tools are not valid JSON")))
			return
		}
		a, err := l.Post(ctx, "/chat/completions", "application/json", body)
		if err != nil {
			yield(inference.Delta{}, err)
			return
		}
		defer a.Close()
		p := &reply{Answer: a, yield: yield, turn: len(r.Messages)}
		p.usage = inference.Usage{In: inference.CountTokens(r.Characters()), Source: inference.UsageCounted}
		p.run()
	}
}

// reply reads one streamed completion.
type reply struct {
	*remote.Answer
	yield func(inference.Delta, error) bool
	turn  int // messages before it, for identifiers the server leaves out

	usage      inference.Usage
	characters int
	calls      toolCalls
	finish     string // why the model stopped; empty while it has not
}

// chunk is one event.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string          `json:"content"`
			ToolCalls []toolCallDelta `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		Prompt           struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Completion struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
	Error *remote.Named `json:"error"`
}

func (p *reply) run() {
	err := p.read()
	if err == errLeft {
		return
	}
	if err == nil {
		err = p.finishCalls()
	}
	d := inference.Delta{}
	if err == nil {
		d.Finish = finishes[p.finish]
	}
	if err == errLeft || !p.tell(d) {
		return
	}
	if err != nil {
		p.yield(inference.Delta{}, err)
	}
}

// finishes are the names of the dialect for why a model stopped.
var finishes = map[string]inference.Finish{
	"stop": inference.FinishStop, "length": inference.FinishLength, "content_filter": inference.FinishFiltered,
	"tool_calls": inference.FinishTools, "function_call": inference.FinishTools,
}

// errLeft: the consumer has left the sequence, which must not be touched again.
var errLeft = errors.New("the consumer left")

// tell yields a delta with the usage so far.
func (p *reply) tell(d inference.Delta) bool {
	u := p.usage
	d.Usage = &u
	return p.yield(d, nil)
}

// read takes events until the end of the stream.
func (p *reply) read() error {
	in := remote.NewEvents(p.Answer)
	for {
		data, err := in.Next()
		switch {
		case err == io.EOF && p.finish != "": // some servers send no [DONE]
			return nil
		case err == io.EOF:
			return p.Fault(inference.ErrFailed, io.ErrUnexpectedEOF)
		case err == remote.ErrLine || err == remote.ErrStream:
			return p.Fault(inference.ErrFailed, err)
		case err != nil:
			return err
		case p.Context().Err() != nil: // lines that were read before the cancellation
			return context.Cause(p.Context())
		case string(data) == "[DONE]":
			return nil
		}
		var c chunk
		if json.Unmarshal(data, &c) != nil {
			return p.Fault(inference.ErrFailed, errors.New("an event that is not JSON"))
		}
		if err := p.take(c); err != nil {
			return err
		}
	}
}

// take handles one event. Usage comes in an event of its own without choices, on
// the one that says why the model stopped, or on every one, as servers differ.
func (p *reply) take(c chunk) error {
	if c.Error != nil {
		text := "error in the stream"
		if code := p.Name(*c.Error); code != "" {
			text += ": " + code
		}
		return p.Fault(inference.ErrFailed, errors.New(text))
	}
	text := ""
	for _, choice := range c.Choices {
		text += choice.Delta.Content
		for _, d := range choice.Delta.ToolCalls {
			n, err := p.calls.add(d)
			if err != nil {
				return p.Fault(inference.ErrFailed, err)
			}
			p.characters += n
		}
		if choice.FinishReason != "" {
			p.finish = choice.FinishReason
		}
	}
	p.characters += utf8.RuneCountInString(text)
	if u := c.Usage; u != nil && u.PromptTokens >= 0 && u.CompletionTokens >= 0 && u.PromptTokens+u.CompletionTokens > 0 {
		p.usage = inference.Usage{In: u.PromptTokens, Out: u.CompletionTokens, Source: inference.UsageProvider,
			Cached: max(0, u.Prompt.Cached), Reasoning: max(0, u.Completion.Reasoning)}
	}
	if p.usage.Source == inference.UsageCounted {
		p.usage.Out = inference.CountTokens(p.characters)
	}
	if text != "" && !p.tell(inference.Delta{Text: text}) {
		return errLeft
	}
	return nil
}

// finishCalls hands the tool calls on, which are complete only now.
func (p *reply) finishCalls() error {
	calls, err := p.calls.complete(p.turn)
	if err != nil {
		return p.Fault(inference.ErrFailed, err)
	}
	for _, c := range calls {
		if !p.tell(inference.Delta{ToolCall: c}) {
			return errLeft
		}
		if p.Context().Err() != nil {
			return context.Cause(p.Context())
		}
	}
	return nil
}
