package anthropic

import (
	"encoding/json"
	"strings"

	"parley/inference"
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
	q := request{Model: l.model, MaxTokens: maxTokens, Stream: true, Temperature: l.options.Temperature}
	if r.MaxTokens > 0 {
		q.MaxTokens = r.MaxTokens
	}
	if r.Temperature != nil {
		t := min(1, *r.Temperature)
		q.Temperature = &t
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

// messages are the conversation. What has no place in it is mended: a reply before the first turn of the user gets one
// that says that the call has begun, and a call of a tool without a result gets one that says so.
func (l *LLM) messages(history []inference.Message) []message {
	var out []message
	open := map[string]bool{} // calls of the latest message of the assistant without a result
	var order []string
	add := func(role string, c ...content) {
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, c...)
			return
		}
		out = append(out, message{role, c})
	}
	// close answers the calls that nothing has answered.
	finish := func() {
		for _, id := range order {
			if open[id] {
				add("user", content{Type: "tool_result", ToolUseID: id, Content: "cancelled", IsError: true})
			}
		}
		clear(open)
		order = nil
	}
	for _, m := range history {
		switch m.Role {
		case inference.RoleTool:
			if open[m.ToolCallID] {
				delete(open, m.ToolCallID)
				add("user", content{Type: "tool_result", ToolUseID: m.ToolCallID, Content: m.Text})
			}
		case inference.RoleAgent:
			finish()
			blocks := l.said(m)
			if len(blocks) == 0 {
				continue
			}
			if len(out) == 0 {
				add("user", content{Type: "text", Text: "(The call begins.)"})
			}
			add("assistant", blocks...)
			for _, c := range m.ToolCalls {
				open[c.ID] = true
				order = append(order, c.ID)
			}
		default:
			finish()
			if strings.TrimSpace(m.Text) != "" {
				add("user", content{Type: "text", Text: m.Text})
			}
		}
	}
	finish()
	if len(out) == 0 || out[len(out)-1].Role == "assistant" {
		add("user", content{Type: "text", Text: "(The caller is silent.)"})
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
	text := strings.TrimSpace(m.Text)
	if m.Interrupted && text != "" {
		text += " …" // the model should know that the caller did not hear the rest
	}
	if text != "" {
		blocks = append(blocks, content{Type: "text", Text: text})
	}
	for _, c := range m.ToolCalls {
		input := json.RawMessage(c.Arguments)
		if !json.Valid(input) {
			input = json.RawMessage("{}")
		}
		blocks = append(blocks, content{Type: "tool_use", ID: c.ID, Name: c.Name, Input: input})
	}
	return blocks
}
