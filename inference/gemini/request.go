package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"parley/inference"
	"parley/inference/remote"
)

// request is the body of :streamGenerateContent.
type request struct {
	System   *content   `json:"systemInstruction,omitempty"`
	Contents []content  `json:"contents"`
	Tools    []tools    `json:"tools,omitempty"`
	Choice   *choice    `json:"toolConfig,omitempty"`
	Config   generation `json:"generationConfig"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is a piece of a message; raw stands for all of it where it goes back as it came.
type part struct {
	Text      string    `json:"text,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	raw       json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (p part) MarshalJSON() ([]byte, error) {
	if p.raw != nil {
		return p.raw, nil
	}
	type plain part
	return json.Marshal(plain(p))
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// arguments are the call's, an object.
func (c *call) arguments() string {
	if len(c.Args) == 0 || string(c.Args) == "null" {
		return "{}"
	}
	return string(c.Args)
}

type response struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type choice struct {
	Calling struct {
		Mode string `json:"mode"`
	} `json:"functionCallingConfig"`
}

type generation struct {
	MaxTokens   int             `json:"maxOutputTokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"topP,omitempty"`
	Type        string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking    *thinking       `json:"thinkingConfig,omitempty"`
}

type thinking struct {
	Level  string `json:"thinkingLevel,omitempty"`
	Budget *int   `json:"thinkingBudget,omitempty"`
}

// freeThought is what a model that thinks as it sees fit may add to a reply, in tokens.
const freeThought = 2048

// tokens are what a model may think.
func (t *thinking) tokens() int {
	switch {
	case t == nil:
		return 0
	case t.Budget != nil && *t.Budget >= 0:
		return *t.Budget
	}
	return freeThought
}

// request puts a conversation as Gemini wants it: what one side says without the other between is one message, and
// functions are answered in the message after their calls.
func (l *LLM) request(r inference.Request) request {
	o := l.options.Of(r)
	q := request{Contents: l.contents(r.Messages), Config: generation{MaxTokens: o.MaxTokens, Temperature: o.Temperature, TopP: o.TopP, Thinking: l.thinking}}
	if q.Config.MaxTokens > 0 {
		q.Config.MaxTokens += l.thinking.tokens() // which count as output
	}
	if s := r.Prompt(); s != "" {
		q.System = &content{Parts: []part{{Text: s}}}
	}
	if len(r.Schema) > 0 {
		q.Config.Type, q.Config.Schema = "application/json", r.Schema
	}
	var list []function
	for _, t := range r.Tools {
		list = append(list, function{t.Name, t.Description, t.Parameters})
	}
	if len(list) > 0 {
		q.Tools = []tools{{list}}
		if r.NoTools {
			q.Choice = &choice{}
			q.Choice.Calling.Mode = "NONE"
		}
	}
	return q
}

func (l *LLM) contents(history []inference.Message) (out []content) {
	calls := map[string]call{} // as they were sent, by our identifiers
	for _, m := range remote.Mended(history) {
		role, parts := "user", []part{{Text: m.Text}}
		switch m.Role {
		case inference.RoleTool:
			parts = []part{{Response: calls[m.ToolCallID].answer(m)}}
		case inference.RoleAgent:
			role, parts = "model", l.said(m, calls)
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Parts = append(out[n-1].Parts, parts...)
		} else {
			out = append(out, content{role, parts})
		}
	}
	return out
}

// unsigned is Google's own word in place of the signature of a call that another model made.
const unsigned = "skip_thought_signature_validator"

// said is a message of the agent's: text, and calls, of which it notes how they were sent. A call that came with a signature
// goes back as it came, with Gemini's own identifier. From Gemini 3 on the first call of a message is refused without one.
func (l *LLM) said(m inference.Message, calls map[string]call) (parts []part) {
	if m.Text != "" {
		parts = []part{{Text: m.Text}}
	}
	if len(m.ToolCalls) == 0 {
		return parts
	}
	var signed []part
	for _, p := range m.Parts {
		var came part
		if p.Engine != l.Engine() || json.Unmarshal(p.Provider, &came) != nil {
			continue
		}
		came.raw = p.Provider
		if came.Call != nil {
			signed = append(signed, came)
		} else {
			parts = append(parts, came)
		}
	}
	for i, c := range m.ToolCalls {
		sent := part{Call: &call{c.ID, c.Name, json.RawMessage(c.Arguments)}}
		as := func(p part) bool { return p.Call.Name == c.Name && p.Call.arguments() == c.Arguments }
		if at := slices.IndexFunc(signed, as); at >= 0 {
			sent = signed[at]
			signed = slices.Delete(signed, at, at+1)
		} else if i == 0 && l.signs() {
			sent.Signature = unsigned
		}
		calls[c.ID] = *sent.Call
		parts = append(parts, sent)
	}
	return parts
}

// signs says whether the model signs its calls.
func (l *LLM) signs() bool {
	return !strings.HasPrefix(l.model, "gemini-1") && !strings.HasPrefix(l.model, "gemini-2")
}

// answer is the result of a call, as an object: Gemini takes the member output of one to be all of it, and error to be a failure.
func (c call) answer(m inference.Message) *response {
	r := &response{ID: c.ID, Name: c.Name, Response: json.RawMessage(m.Text)}
	var object map[string]json.RawMessage
	if json.Unmarshal(r.Response, &object) != nil || object == nil {
		member := map[bool]string{true: "error", false: "output"}[m.Interrupted]
		r.Response, _ = json.Marshal(map[string]string{member: m.Text}) // texts can be written
	}
	return r
}
