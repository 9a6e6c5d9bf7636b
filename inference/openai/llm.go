package openai

import (
	"context"
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

// Complete implements inference.LLM.
func (l *LLM) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	return l.Client.Complete(ctx, "/chat/completions", l.chatRequest(r), r, func(p *remote.Reply) func([]byte) error {
		c := &reply{Reply: p}
		p.End = c.finishCalls
		return c.take
	})
}

// reply reads one streamed completion.
type reply struct {
	*remote.Reply
	calls toolCalls
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

// finishes are the names of the dialect for why a model stopped.
var finishes = map[string]inference.Finish{
	"stop": inference.FinishStop, "length": inference.FinishLength, "content_filter": inference.FinishFiltered,
	"tool_calls": inference.FinishTools, "function_call": inference.FinishTools,
}

// take handles one event. Usage comes in an event of its own without choices, on
// the one that says why the model stopped, or on every one, as servers differ; some send no [DONE].
func (p *reply) take(data []byte) error {
	if string(data) == "[DONE]" {
		return io.EOF
	}
	var c chunk
	if err := p.Decode(data, &c); err != nil {
		return err
	}
	if c.Error != nil {
		return p.Refused(*c.Error)
	}
	text := ""
	for _, choice := range c.Choices {
		text += choice.Delta.Content
		for _, d := range choice.Delta.ToolCalls {
			n, err := p.calls.add(d)
			if err != nil {
				return p.Fault(inference.ErrFailed, err)
			}
			p.Count(n)
		}
		if choice.FinishReason != "" {
			p.Finish, p.Done = finishes[choice.FinishReason], true
		}
	}
	p.Count(utf8.RuneCountInString(text))
	if u := c.Usage; u != nil && u.PromptTokens >= 0 && u.CompletionTokens >= 0 && u.PromptTokens+u.CompletionTokens > 0 {
		p.Usage = inference.Usage{In: u.PromptTokens, Out: u.CompletionTokens, Source: inference.UsageProvider,
			Cached: max(0, u.Prompt.Cached), Reasoning: max(0, u.Completion.Reasoning)}
	}
	if text == "" {
		return nil
	}
	return p.Tell(inference.Delta{Text: text})
}

// finishCalls hands the tool calls on, which are complete only now.
func (p *reply) finishCalls() error {
	for _, c := range p.calls.complete() {
		if err := p.Call(*c, nil); err != nil {
			return err
		}
	}
	return nil
}
