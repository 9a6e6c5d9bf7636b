package openai

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/remote"
)

// chatRequest is the body of POST /chat/completions.
type chatRequest struct {
	Model         string        `json:"model"`
	Messages      []chatMessage `json:"messages"`
	Stream        bool          `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools               []chatTool `json:"tools,omitempty"`
	ToolChoice          string     `json:"tool_choice,omitempty"`
	Temperature         *float64   `json:"temperature,omitempty"`
	TopP                *float64   `json:"top_p,omitempty"`
	Effort              string     `json:"reasoning_effort,omitempty"`
	MaxTokens           int        `json:"max_tokens,omitempty"`
	MaxCompletionTokens int        `json:"max_completion_tokens,omitempty"`
	ResponseFormat      *chatForm  `json:"response_format,omitempty"`
}

// chatForm asks for JSON. Not strict: that takes a part of JSON Schema only.
type chatForm struct {
	Type   string `json:"type"`
	Schema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

type chatMessage struct {
	Role       string         `json:"role"`
	Content    string         `json:"content"`
	ToolCalls  []chatToolCall `json:"tool_calls,omitempty"`
	ToolCallID string         `json:"tool_call_id,omitempty"`
}

type chatToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string           `json:"type"`
	Function chatToolFunction `json:"function"`
}

type chatToolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (l *LLM) chatRequest(r inference.Request) chatRequest {
	o := l.options.Of(r)
	q := chatRequest{Model: l.model, Stream: true, Temperature: o.Temperature, TopP: o.TopP, Effort: l.options.Effort}
	q.StreamOptions.IncludeUsage = true
	if s := r.Prompt(); s != "" {
		q.Messages = append(q.Messages, chatMessage{Role: "system", Content: s})
	}
	for _, m := range remote.Paired(r.Messages) {
		q.Messages = append(q.Messages, message(m))
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, chatTool{"function", chatToolFunction{t.Name, t.Description, parameters(t)}})
	}
	if r.NoTools && len(q.Tools) > 0 {
		q.ToolChoice = "none"
	}
	if len(r.Schema) > 0 {
		q.ResponseFormat = &chatForm{Type: "json_schema"}
		q.ResponseFormat.Schema.Name, q.ResponseFormat.Schema.Schema = "answer", r.Schema
	}
	// OpenAI's newer models refuse the field that everybody else still knows.
	if strings.Contains(l.Base(), "://api.openai.com/") {
		q.MaxCompletionTokens = o.MaxTokens
	} else {
		q.MaxTokens = o.MaxTokens
	}
	return q
}

// parameters are a tool's, which may have none.
func parameters(t inference.Tool) json.RawMessage {
	if len(t.Parameters) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Parameters
}

func message(m inference.Message) chatMessage {
	c := chatMessage{Content: m.Text}
	switch m.Role {
	case inference.RoleAgent:
		c.Role = "assistant"
	case inference.RoleTool:
		c.Role, c.ToolCallID = "tool", m.ToolCallID
	default:
		c.Role = "user"
	}
	for _, t := range m.ToolCalls {
		c.ToolCalls = append(c.ToolCalls, chatToolCall{t.ID, "function", chatFunction{t.Name, t.Arguments}})
	}
	return c
}

// toolCallDelta is a piece of a tool call. Pieces belong together by index.
type toolCallDelta struct {
	Index    int          `json:"index"`
	ID       string       `json:"id"`
	Function chatFunction `json:"function"`
}

// Bounds of what a model may ask for in one reply.
const (
	maxCalls     = 16
	maxArguments = 64 << 10
)

// toolCalls puts the pieces together.
type toolCalls struct {
	byIndex map[int]*inference.ToolCall
}

// add takes a piece and returns its length in characters.
func (t *toolCalls) add(d toolCallDelta) (characters int, err error) {
	if t.byIndex == nil {
		t.byIndex = map[int]*inference.ToolCall{}
	}
	c := t.byIndex[d.Index]
	if c == nil {
		if len(t.byIndex) == maxCalls {
			return 0, errors.New("more than 16 tool calls in a reply")
		}
		c = &inference.ToolCall{}
		t.byIndex[d.Index] = c
	}
	if d.ID != "" {
		c.ID = d.ID
	}
	if c.Name == "" {
		c.Name = d.Function.Name
		characters += utf8.RuneCountInString(c.Name)
	}
	if len(c.Arguments)+len(d.Function.Arguments) > maxArguments {
		return 0, errors.New("tool arguments longer than 64 kB")
	}
	c.Arguments += d.Function.Arguments
	return characters + utf8.RuneCountInString(d.Function.Arguments), nil
}

// complete lists the calls in the order of their indexes.
func (t *toolCalls) complete() (list []*inference.ToolCall) {
	for _, i := range slices.Sorted(maps.Keys(t.byIndex)) {
		list = append(list, t.byIndex[i])
	}
	return list
}
