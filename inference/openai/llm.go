package openai

import (
	"cmp"
	"context"
	"io"
	"iter"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/remote"
)

// LLM is a language model. Safe for use from several goroutines.
type LLM struct {
	*client
	options Options
}

// Options are the settings of a model that an operator or an agent may give.
type Options struct {
	remote.Sampling
	API    string // empty: chat
	Effort string // empty: low over responses, else the model's own way
}

// All describes them.
func (o *Options) All() remote.Options {
	return append(o.Sampling.All(2),
		remote.Text("api", &o.API, "chat, which all servers of the dialect have, or OpenAI's own.", "chat", overResponses),
		remote.Text("reasoning_effort", &o.Effort, "How much a model that reasons does so before it answers; over responses low.", "none", "minimal", "low", "medium", "high", "xhigh"))
}

// overResponses is the API that keeps what a model has reasoned.
const overResponses = "responses"

// NewLLM checks c and contacts nobody. The default model is gpt-4o-mini.
func NewLLM(c remote.Engine) (*LLM, error) {
	name, l := cmp.Or(c.Name, "openai"), &LLM{}
	if err := l.options.All().Read(name, c.Options); err != nil {
		return nil, err
	}
	if o := l.options; o.API == overResponses && reasons(c.Model) && o.Effort != "none" && (o.Temperature != nil || o.TopP != nil) {
		return nil, &remote.OptionError{Engine: name, Option: "temperature", Problem: "a model that reasons takes none, and no top_p"}
	}
	c.Options = nil
	cl, err := newClient("gpt-4o-mini", c)
	l.client = cl
	return l, err
}

// Info implements inference.LLM.
func (l *LLM) Info() inference.Info {
	api := "chat completions"
	if l.options.API == overResponses {
		api = overResponses
	}
	return inference.Info{Name: l.Engine(), Description: api + ", model " + l.model, Languages: inference.Spoken()}
}

// Warm implements inference.Warmer.
func (l *LLM) Warm(ctx context.Context) { l.Client.Warm(ctx, "/models") }

// Complete implements inference.LLM.
func (l *LLM) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	if l.options.API == overResponses {
		return l.Client.Complete(ctx, "/responses", l.responseRequest(r), r, func(p *remote.Reply) func([]byte) error {
			return (&responseReply{Reply: p}).take
		})
	}
	return l.Client.Complete(ctx, "/chat/completions", l.chatRequest(r), r, func(p *remote.Reply) func([]byte) error {
		c := &reply{Reply: p}
		p.End = c.finishCalls
		return c.take
	})
}

// reply reads one streamed chat completion.
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
