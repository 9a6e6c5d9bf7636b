package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

	"parley/inference"
	"parley/inference/remote"
)

// request is the body of POST /v1/messages.
type request struct {
	Model       string    `json:"model"`
	MaxTokens   int       `json:"max_tokens"`
	Stream      bool      `json:"stream"`
	System      []content `json:"system,omitempty"`
	Messages    []message `json:"messages"`
	Tools       []tool    `json:"tools,omitempty"`
	ToolChoice  *choice   `json:"tool_choice,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"`
	TopP        *float64  `json:"top_p,omitempty"`
}

type message struct {
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

// content is a block of a message; raw stands for all of it where it is Anthropic's own.
type content struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cache          `json:"cache_control,omitempty"`
	raw       json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (c content) MarshalJSON() ([]byte, error) {
	if c.raw != nil {
		return c.raw, nil
	}
	type plain content
	return json.Marshal(plain(c))
}

type cache struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

type choice struct {
	Type string `json:"type"`
}

// request puts a conversation as Anthropic wants it: messages alternate and begin with one of the user, and each
// call of a tool is answered at the beginning of the next. One mark caches tools and prompt, one all up to
// the latest message of the user.
func (l *LLM) request(r inference.Request) request {
	o := l.options.Of(r)
	q := request{Model: l.model, MaxTokens: cmp.Or(o.MaxTokens, maxTokens), Stream: true, Temperature: o.Temperature, TopP: o.TopP}
	if o.Temperature != nil && *o.Temperature > 1 {
		hottest := 1.0
		q.Temperature = &hottest
	}
	system := r.Prompt()
	if len(r.Schema) > 0 {
		system += "\n\nAnswer with one JSON object that fits this JSON Schema, and with nothing else: " + string(r.Schema)
	}
	mark := &cache{"ephemeral", l.options.CacheTTL}
	if system = strings.TrimSpace(system); system != "" {
		q.System = []content{{Type: "text", Text: system, Cache: mark}}
	}
	for _, t := range r.Tools {
		schema := json.RawMessage(t.Parameters)
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		q.Tools = append(q.Tools, tool{t.Name, t.Description, schema})
	}
	if r.NoTools && len(q.Tools) > 0 {
		q.ToolChoice = &choice{"none"}
	}
	q.Messages = l.messages(r.Messages)
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if m := q.Messages[i]; m.Role == "user" {
			m.Content[len(m.Content)-1].Cache = mark
			break
		}
	}
	return q
}

// messages are the conversation, of which what one side says without the other between is one message.
func (l *LLM) messages(history []inference.Message) (out []message) {
	for _, m := range remote.Mended(history) {
		role, blocks := "user", []content{{Type: "text", Text: m.Text}}
		switch m.Role {
		case inference.RoleTool:
			blocks = []content{{Type: "tool_result", ToolUseID: m.ToolCallID, Content: m.Text, IsError: m.Interrupted}}
		case inference.RoleAgent:
			role, blocks = "assistant", l.said(m)
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
		} else {
			out = append(out, message{role, blocks})
		}
	}
	return out
}

// said is a message of the agent's: its thinking first, as it came, then text and calls.
func (l *LLM) said(m inference.Message) (blocks []content) {
	for _, p := range m.Parts {
		if p.Engine == l.Engine() && len(m.ToolCalls) > 0 && !m.Interrupted {
			blocks = append(blocks, content{raw: p.Provider})
		}
	}
	if m.Text != "" {
		blocks = append(blocks, content{Type: "text", Text: m.Text})
	}
	for _, c := range m.ToolCalls {
		blocks = append(blocks, content{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(c.Arguments)})
	}
	return blocks
}
