package responsestest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"parley/inference/enginetest/loopbacktest"
)

// Request is a request that was accepted.
type Request struct {
	Model         string          `json:"model"`
	Input         Items           `json:"input"`
	Instructions  string          `json:"instructions"`
	Stream        bool            `json:"stream"`
	Store         *bool           `json:"store"`
	MaxTokens     *int            `json:"max_output_tokens"`
	Include       []string        `json:"include"`
	Tools         []Tool          `json:"tools"`
	ToolChoice    ToolChoice      `json:"tool_choice"`
	Parallel      *bool           `json:"parallel_tool_calls"`
	Temperature   *float64        `json:"temperature"`
	TopP          *float64        `json:"top_p"`
	Reasoning     Reasoning       `json:"reasoning"`
	Text          Text            `json:"text"`
	CacheKey      string          `json:"prompt_cache_key"`
	CacheFor      string          `json:"prompt_cache_retention"`
	CacheOptions  json.RawMessage `json:"prompt_cache_options"`
	Previous      string          `json:"previous_response_id"`
	Truncation    string          `json:"truncation"`
	Metadata      json.RawMessage `json:"metadata"`
	Tier          string          `json:"service_tier"`
	Safety        string          `json:"safety_identifier"`
	StreamOptions json.RawMessage `json:"stream_options"`

	Bytes int `json:"-"` // of the body
}

// Items are the conversation; a text alone is a message of the user.
type Items []Item

// Item is one item of any type; the fields of other types are empty.
type Item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Role      string          `json:"role"`
	Phase     string          `json:"phase"`
	Content   Contents        `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments *string         `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   *[]Content      `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

// Contents are what a message says; a text alone is one Content without a type.
type Contents []Content

// Content is a piece of a message, or of a summary.
type Content struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Refusal     string          `json:"refusal"`
	Annotations json.RawMessage `json:"annotations"`
	Logprobs    json.RawMessage `json:"logprobs"`
}

// Tool is a function that the model may call.
type Tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

// ToolChoice is what the model may or must call: none, auto, required, or with a type the function of a name.
type ToolChoice struct {
	Mode string `json:"-"` // "": nothing was said
	Type string `json:"type"`
	Name string `json:"name"`
}

// Reasoning is how much the model reasons, and whether it sums that up.
type Reasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
}

// Text is how the model writes.
type Text struct {
	Verbosity string `json:"verbosity"`
	Format    Format `json:"format"`
}

// Format is what comes out.
type Format struct {
	Type        string          `json:"type"` // "": text
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Strict      bool            `json:"strict"`
}

// itemFields are the fields of each type of item beside type.
var itemFields = map[string][]string{
	"message":              {"role", "content", "id", "status", "phase"},
	"function_call":        {"call_id", "name", "arguments", "id", "status"},
	"function_call_output": {"call_id", "output", "id", "status"},
	"reasoning":            {"id", "summary", "content", "encrypted_content", "status"},
}

// decode reads a request and refuses fields that are not known.
func decode(body []byte) (r Request, err error) {
	r.Bytes = len(body)
	if !json.Valid(body) {
		return r, trouble{Message: "We could not parse the JSON body of your request."}
	}
	return r, strict(body, &r)
}

// strict decodes one value without unknown fields. Its error is a trouble.
func strict(data []byte, to any) error {
	err := loopbacktest.Strict(data, to)
	var inner trouble
	var field loopbacktest.UnknownField
	switch {
	case err == nil || errors.As(err, &inner):
		return err
	case errors.As(err, &field):
		return unknown(string(field))
	}
	return trouble{Code: badType, Message: "Invalid type: " + err.Error()}
}

func unknown(field string) error {
	return invalid(field, "unknown_parameter", "Unknown parameter: '%s'.", field)
}

// UnmarshalJSON reads items or one text.
func (l *Items) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			*l = Items{{Type: "message", Role: "user", Content: Contents{{Text: *text}}}}
		}
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return invalid("input", badType, "Invalid type for 'input': expected one of a string or array of input items.")
	}
	*l = make(Items, len(list))
	for i, one := range list {
		if err := (*l)[i].read(one); err != nil {
			return err
		}
	}
	return nil
}

// read decodes one item, which has the fields of its type only.
func (m *Item) read(data []byte) error {
	var named map[string]json.RawMessage
	if err := json.Unmarshal(data, &named); err != nil {
		return invalid("input", badType, "Invalid type for 'input': expected an object.")
	}
	m.Type = "message" // where a type is missing
	if err := strict(data, m); err != nil {
		return err
	}
	fields, ok := itemFields[m.Type]
	if !ok {
		return invalid("input", badValue, "Invalid value: '%s'. Supported values are: 'message', 'function_call', 'function_call_output' and 'reasoning'.", m.Type)
	}
	for name := range named {
		if name != "type" && !slices.Contains(fields, name) {
			return unknown(m.Type + "." + name)
		}
	}
	return nil
}

// UnmarshalJSON reads contents or one text.
func (c *Contents) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			*c = Contents{{Text: *text}}
		}
		return nil
	}
	if err := strict(data, (*[]Content)(c)); err != nil {
		return err
	}
	if slices.ContainsFunc(*c, func(one Content) bool { return one.Type == "" }) {
		return required("input.content.type")
	}
	return nil
}

// UnmarshalJSON reads a mode or a function.
func (c *ToolChoice) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.Mode) == nil {
		return nil
	}
	type plain ToolChoice // without this method
	return strict(data, (*plain)(c))
}

// reasons says whether the model reasons: the o series, and all of gpt-5 and later but those for chats.
func (r *Request) reasons() bool {
	version, ok := strings.CutPrefix(r.Model, "gpt-")
	return ok && version >= "5" && !strings.Contains(version, "chat") || strings.HasPrefix(r.Model, "o")
}
