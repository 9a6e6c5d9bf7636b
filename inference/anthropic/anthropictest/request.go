package anthropictest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"parley/inference/enginetest/loopbacktest"
)

// Request is a request that was accepted.
type Request struct {
	Model       string          `json:"model"`
	MaxTokens   int             `json:"max_tokens"`
	Stream      bool            `json:"stream"`
	System      Blocks          `json:"system"`
	Messages    []Message       `json:"messages"`
	Tools       []Tool          `json:"tools"`
	ToolChoice  *ToolChoice     `json:"tool_choice"`
	Temperature *float64        `json:"temperature"`
	TopP        *float64        `json:"top_p"`
	TopK        *int            `json:"top_k"`
	Sequences   []string        `json:"stop_sequences"`
	Metadata    json.RawMessage `json:"metadata"`
	Tier        string          `json:"service_tier"`
	Thinking    *Thinking       `json:"thinking"`
	Cache       *CacheControl   `json:"cache_control"`

	Bytes int `json:"-"` // of the body
}

// Message is one turn.
type Message struct {
	Role    string `json:"role"`
	Content Blocks `json:"content"`
}

// Blocks are the content of a message; text alone is one block.
type Blocks []Block

// Block is one block of any type; the fields of other types are empty.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   Blocks          `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Cache     *CacheControl   `json:"cache_control"`
}

// Tool is a function that the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *CacheControl   `json:"cache_control"`
	Eager       bool            `json:"eager_input_streaming"`
	Type        string          `json:"type"`
}

// ToolChoice is what the model may or must call.
type ToolChoice struct {
	Type            string `json:"type"`
	Name            string `json:"name"`
	DisableParallel bool   `json:"disable_parallel_tool_use"`
}

// Thinking is how much the model may think.
type Thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

// CacheControl marks the end of a prefix to be cached.
type CacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"` // "": 5m
}

// blockFields are the fields of each type of block beside type.
var blockFields = map[string][]string{
	"text":        {"text", "cache_control", "citations"},
	"image":       {"source", "cache_control"},
	"document":    {"source", "title", "context", "citations", "cache_control"},
	"tool_use":    {"id", "name", "input", "cache_control"},
	"tool_result": {"tool_use_id", "content", "is_error", "cache_control"},
	"thinking":    {"thinking", "signature"},
}

// decode reads a request and refuses fields that are not known.
func decode(body []byte) (r Request, err error) {
	if !json.Valid(body) {
		return r, errors.New("the request body is not valid JSON")
	}
	r.Bytes = len(body)
	err = loopbacktest.Strict(body, &r)
	var field loopbacktest.UnknownField
	if errors.As(err, &field) {
		err = fmt.Errorf("%s: Extra inputs are not permitted", string(field))
	}
	return r, err
}

// UnmarshalJSON reads blocks or one text.
func (b *Blocks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = Blocks{{Type: "text", Text: text}}
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return errors.New("content: Input should be a valid string or list of blocks")
	}
	*b = make(Blocks, len(list))
	for i, one := range list {
		if err := (*b)[i].read(one); err != nil {
			return fmt.Errorf("content.%d.%w", i, err)
		}
	}
	return nil
}

// read decodes one block, which has the fields of its type only.
func (b *Block) read(data []byte) error {
	var named map[string]json.RawMessage
	if err := json.Unmarshal(data, &named); err != nil {
		return errors.New("type: Input should be an object")
	}
	var kind string
	_ = json.Unmarshal(named["type"], &kind)
	fields, ok := blockFields[kind]
	if !ok {
		return fmt.Errorf("type: Input tag %q does not match any of the expected tags", kind)
	}
	for name := range named {
		if name != "type" && !slices.Contains(fields, name) {
			return fmt.Errorf("%s.%s: Extra inputs are not permitted", kind, name)
		}
	}
	type plain Block // without this method's strictness, which would refuse sources
	return json.Unmarshal(data, (*plain)(b))
}
