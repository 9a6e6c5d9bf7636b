package openai

import (
	"cmp"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/remote"
)

// responseRequest is the body of POST /responses.
type responseRequest struct {
	Model        string            `json:"model"`
	Instructions string            `json:"instructions,omitempty"`
	Input        []any             `json:"input"`
	Stream       bool              `json:"stream"`
	Store        bool              `json:"store"` // false: nothing of a call stays with OpenAI
	Include      []string          `json:"include,omitempty"`
	Tools        []responseTool    `json:"tools,omitempty"`
	ToolChoice   string            `json:"tool_choice,omitempty"`
	Temperature  *float64          `json:"temperature,omitempty"`
	TopP         *float64          `json:"top_p,omitempty"`
	MaxTokens    int               `json:"max_output_tokens,omitempty"`
	Reasoning    map[string]string `json:"reasoning,omitempty"`
	Text         *responseText     `json:"text,omitempty"`
}

// responseTool is a function. Strict is sent because OpenAI takes it to be true otherwise, which few schemas fit.
type responseTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type responseText struct {
	Format struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict bool            `json:"strict"`
	} `json:"format"`
}

// The items of the input; reasoning goes back as it came.
type (
	responseMessage struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	responseCall struct {
		Type      string `json:"type"`
		ID        string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	responseResult struct {
		Type   string `json:"type"`
		ID     string `json:"call_id"`
		Output string `json:"output"`
	}
)

// reasoners begin the names of models that reason before they answer, but for those made to chat.
var reasoners = regexp.MustCompile(`^(o[1-9]|gpt-[5-9])`)

// reasons says whether a model does, of which others refuse to hear.
func reasons(model string) bool {
	return reasoners.MatchString(model) && !strings.Contains(model, "-chat")
}

const (
	// reasoned is what a model may reason besides its answer, in tokens, which count as output.
	reasoned = 2048
	// leastTokens is the least that OpenAI takes for the bound of an answer.
	leastTokens = 16
)

// responseRequest puts a conversation as OpenAI wants it: each call of a function has its result after it.
func (l *LLM) responseRequest(r inference.Request) responseRequest {
	o := l.options.Of(r)
	q := responseRequest{Model: l.model, Instructions: r.Prompt(), Stream: true, Temperature: o.Temperature, TopP: o.TopP, Input: l.items(r.Messages)}
	if o.MaxTokens > 0 {
		q.MaxTokens = max(leastTokens, o.MaxTokens)
	}
	effort := l.options.Effort
	if reasons(l.model) {
		effort = cmp.Or(effort, "low") // the caller waits for it
	}
	if effort != "" {
		q.Include, q.Reasoning = []string{"reasoning.encrypted_content"}, map[string]string{"effort": effort}
		if q.MaxTokens > 0 && effort != "none" {
			q.MaxTokens += reasoned
		}
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, responseTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: parameters(t)})
	}
	if r.NoTools && len(q.Tools) > 0 {
		q.ToolChoice = "none"
	}
	if len(r.Schema) > 0 {
		q.Text = &responseText{}
		q.Text.Format.Type, q.Text.Format.Name, q.Text.Format.Schema = "json_schema", "answer", r.Schema
	}
	return q
}

// items are the conversation.
func (l *LLM) items(history []inference.Message) (out []any) {
	for _, m := range remote.Mended(history) {
		role := "user"
		switch m.Role {
		case inference.RoleTool:
			out = append(out, responseResult{"function_call_output", m.ToolCallID, m.Text})
			continue
		case inference.RoleAgent:
			role = "assistant"
			for _, p := range m.Parts {
				if p.Engine == l.Engine() && len(m.ToolCalls) > 0 {
					out = append(out, p.Provider)
				}
			}
		}
		if m.Text != "" {
			out = append(out, responseMessage{role, m.Text})
		}
		for _, c := range m.ToolCalls {
			out = append(out, responseCall{"function_call", c.ID, c.Name, c.Arguments})
		}
	}
	return out
}

// responseReply reads one streamed response.
type responseReply struct {
	*remote.Reply
	called bool // a function
}

// responseEvent is one of the stream's events.
type responseEvent struct {
	Type     string          `json:"type"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response struct {
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage *struct {
			In        int `json:"input_tokens"`
			InDetails struct {
				Cached int `json:"cached_tokens"`
			} `json:"input_tokens_details"`
			Out        int `json:"output_tokens"`
			OutDetails struct {
				Reasoning int `json:"reasoning_tokens"`
			} `json:"output_tokens_details"`
		} `json:"usage"`
		Error remote.Named `json:"error"`
	} `json:"response"`
	Code  any          `json:"code"` // of an error, or in it
	Error remote.Named `json:"error"`
}

// take handles one event. Those of other types are of no use to a call.
func (p *responseReply) take(data []byte) error {
	var e responseEvent
	if err := p.Decode(data, &e); err != nil {
		return err
	}
	if u := e.Response.Usage; u != nil && u.In > 0 {
		p.Usage = inference.Usage{In: u.In, Cached: max(0, u.InDetails.Cached), Out: max(0, u.Out), Reasoning: max(0, u.OutDetails.Reasoning), Source: inference.UsageProvider}
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta": // who is refused hears it
		if e.Delta != "" {
			p.Count(utf8.RuneCountInString(e.Delta))
			return p.Tell(inference.Delta{Text: e.Delta})
		}
	case "response.function_call_arguments.delta":
		p.Count(utf8.RuneCountInString(e.Delta))
	case "response.output_item.done":
		return p.item(e.Item)
	case "response.completed":
		p.Finish = inference.FinishStop
		if p.called {
			p.Finish = inference.FinishTools
		}
		return io.EOF
	case "response.incomplete":
		p.Finish = map[string]inference.Finish{"max_output_tokens": inference.FinishLength, "content_filter": inference.FinishFiltered}[e.Response.Incomplete.Reason]
		return io.EOF
	case "response.failed":
		return p.Refused(e.Response.Error)
	case "error":
		if e.Code != nil {
			e.Error.Code = e.Code
		}
		return p.Refused(e.Error)
	}
	return nil
}

// item tells what is complete: a call, or reasoning, which its next request brings back.
func (p *responseReply) item(raw json.RawMessage) error {
	var it struct {
		responseCall
		Encrypted string `json:"encrypted_content"`
	}
	if err := p.Decode(raw, &it); err != nil {
		return err
	}
	switch {
	case it.Type == "function_call":
		p.called = true
		return p.Call(inference.ToolCall{ID: it.ID, Name: it.Name, Arguments: it.Arguments}, nil)
	case it.Type == "reasoning" && it.Encrypted != "":
		return p.Tell(inference.Delta{Part: p.Part(raw)})
	}
	return nil
}
