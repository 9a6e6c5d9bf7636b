package manage

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/store"
)

// toolList is kept as the client wrote it: the order of a function's parameters
// matters to a language model.
type toolList struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (toolList) Schema(r huma.Registry) *huma.Schema {
	object := func(required []string, properties map[string]*huma.Schema) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, Required: required, Properties: properties}
	}
	function := object([]string{"name"}, map[string]*huma.Schema{
		"name":        {Type: huma.TypeString, Pattern: "^[A-Za-z0-9_-]{1,64}$", Description: "Unique in the list."},
		"description": {Type: huma.TypeString, Description: "When to call it."},
		"parameters":  {Type: huma.TypeObject, Description: "JSON Schema of its arguments."},
	})
	function.Description = "How the function is described to the language model."
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	texts := func(doc string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}, Description: doc}
	}
	most := 64
	// What each type needs is checked after this, with the path of the field in the answer.
	return named(r, "AgentTools", &huma.Schema{Type: huma.TypeArray, MaxItems: &most, Description: "Functions that the agent may call. Those of type `function`, in OpenAI's form, " +
		"are run by the client of the conversation; the others by this server, on the telephone too.",
		Items: object([]string{"type"}, map[string]*huma.Schema{
			"type": {Type: huma.TypeString, Enum: []any{"function", "http", "mcp", "web_search", "crm"},
				Description: "Who runs it: the client; a service of yours; the tools of an MCP server; a web search; the customer database."},
			"function":     function,
			"name":         text("Of `http`: the function's name. Of `mcp`: what the names of its tools begin with."),
			"description":  text("Of `http`: when to call it."),
			"parameters":   {Type: huma.TypeObject, Description: "Of `http`: JSON Schema of its arguments, which are held to it."},
			"on_interrupt": text("Of `http` and `mcp`: `continue` or `cancel` when the caller interrupts; a GET is cancelled, everything else goes on."),
			"http": {Type: huma.TypeObject, Description: "The request.", Properties: map[string]*huma.Schema{
				"method":             text("GET, POST, PUT, PATCH or DELETE."),
				"url":                text("An https address on the public Internet; `{name}` stands for an argument."),
				"headers":            texts("`{{secret.NAME}}` stands for a secret of the account."),
				"query":              texts("Secrets and arguments may stand in it."),
				"body":               {Description: "JSON in which texts that are just `{name}` stand for arguments; without it all arguments are sent, except by GET and DELETE."},
				"timeout_ms":         {Type: huma.TypeInteger, Description: "100 to 30,000; 8,000."},
				"retries":            {Type: huma.TypeInteger, Description: "0 to 2, when the service cannot be reached or is busy."},
				"idempotency_header": text("A header with a value of its own for each function call; POST and PATCH are repeated only with it."),
			}},
			"mcp": {Type: huma.TypeObject, Description: "A server of the Model Context Protocol, over Streamable HTTP.", Properties: map[string]*huma.Schema{
				"url":           text("Its https address."),
				"headers":       texts("`{{secret.NAME}}` stands for a secret of the account."),
				"allowed_tools": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}, Description: "The tools that are offered; without it all."},
				"timeout_ms":    {Type: huma.TypeInteger, Description: "Of each call, 100 to 30,000; 8,000."},
			}},
			"crm": {Type: huma.TypeObject, Description: "The customer database; without it, or without `provider`, the server's.", Properties: map[string]*huma.Schema{
				"provider":  text("`rest` or `hubspot`."),
				"url":       text("Its base address."),
				"api_key":   text("`{{secret.NAME}}`."),
				"lookup":    {Type: huma.TypeBoolean, Description: "Offer `crm_lookup`; true."},
				"log_calls": {Type: huma.TypeBoolean, Description: "Note telephone calls there when they are over; true."},
			}},
		}),
		Examples: []any{[]any{
			map[string]any{"type": "function", "function": map[string]any{"name": "book_table", "description": "Books a table.",
				"parameters": map[string]any{"type": "object", "properties": map[string]any{"people": map[string]any{"type": "integer"}}, "required": []any{"people"}}}},
			map[string]any{"type": "http", "name": "order_status", "description": "Returns the status of an order.",
				"parameters": map[string]any{"type": "object", "properties": map[string]any{"order": map[string]any{"type": "string"}}, "required": []any{"order"}},
				"http":       map[string]any{"method": "GET", "url": "https://api.example.com/orders/{order}", "headers": map[string]any{"Authorization": "Bearer {{secret.ORDERS_KEY}}"}}},
		}}})
}

// named puts a schema among those of the document and refers to it.
func named(r huma.Registry, name string, s *huma.Schema) *huma.Schema {
	s.PrecomputeMessages()
	r.Map()[name] = s
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// UnmarshalJSON keeps the list without members that are null.
func (l *toolList) UnmarshalJSON(b []byte) error {
	l.RawMessage = bytes.Clone(b)
	var tools []json.RawMessage
	if json.Unmarshal(b, &tools) != nil {
		return nil // it is refused later, with what is wrong
	}
	for i, tool := range tools {
		tools[i] = withoutNulls(tool, "function")
	}
	var err error
	l.RawMessage, err = json.Marshal(tools)
	return err
}

// settingsObject is kept as the client wrote it too, without members that are null.
type settingsObject struct{ json.RawMessage }

// UnmarshalJSON implements json.Unmarshaler.
func (s *settingsObject) UnmarshalJSON(b []byte) error {
	s.RawMessage = withoutNulls(b)
	return nil
}

// withoutNulls is a JSON object without the members that are null, which say the
// same as none, also in the members that are named. What is no object stays.
func withoutNulls(object json.RawMessage, within ...string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members == nil {
		return bytes.Clone(object)
	}
	maps.DeleteFunc(members, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	for _, name := range within {
		if v, ok := members[name]; ok {
			members[name] = withoutNulls(v)
		}
	}
	b, err := json.Marshal(members)
	if err != nil {
		return bytes.Clone(object) // what was read can be written
	}
	return b
}

// Schema implements huma.SchemaProvider.
func (settingsObject) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Ref: settingsRef} }

// settingsRef is the schema of settings in the document; describeSettings puts it there.
const settingsRef = "#/components/schemas/AgentSettings"

// describeSettings takes the schema of settings out of the schema of agents into the
// document.
func describeSettings(r huma.Registry, agent json.RawMessage) error {
	var of struct {
		Properties struct{ Settings *huma.Schema }
	}
	if err := json.Unmarshal(agent, &of); err != nil {
		return err
	}
	settings := of.Properties.Settings
	if settings == nil {
		settings = &huma.Schema{Type: huma.TypeObject}
	}
	if err := complete(settings); err != nil {
		return err
	}
	settings.Examples = []any{map[string]any{"idle_seconds": 8, "max_duration_seconds": 600}}
	r.Map()[strings.TrimPrefix(settingsRef, "#/components/schemas/")] = settings
	return nil
}

// complete reads the schemas that stand where a schema may also be a boolean.
func complete(s *huma.Schema) error {
	if others, ok := s.AdditionalProperties.(map[string]any); ok {
		text, err := json.Marshal(others)
		if err != nil {
			return err
		}
		of := new(huma.Schema)
		if err := json.Unmarshal(text, of); err != nil {
			return err
		}
		s.AdditionalProperties = of
	}
	inner := slices.Collect(maps.Values(s.Properties))
	if s.Items != nil {
		inner = append(inner, s.Items)
	}
	for _, of := range append(inner, s.AnyOf...) {
		if err := complete(of); err != nil {
			return err
		}
	}
	return nil
}

// document is a body that its handler reads as a T, which describes it. Members
// that are null within its tools and settings are left out.
type document[T any] struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (document[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *document[T]) UnmarshalJSON(b []byte) error {
	d.RawMessage = bytes.Clone(b)
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil || members == nil || repeats(b) {
		return nil // it is refused later, with what is wrong
	}
	for name, value := range members {
		switch name {
		case "tools":
			var l toolList
			if err := l.UnmarshalJSON(value); err != nil {
				return err
			}
			members[name] = l.RawMessage
		case "settings":
			members[name] = withoutNulls(value)
		}
	}
	var err error
	d.RawMessage, err = json.Marshal(members)
	return err
}

// repeats says whether an object in a JSON text has a member more than once, which is lost
// when the text is written again.
func repeats(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var whole any
	if d.Decode(&whole) != nil {
		return false
	}
	again, err := json.Marshal(whole)
	return err == nil && tokens(again) != tokens(text)
}

func tokens(text []byte) (n int) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		if _, err := d.Token(); err != nil {
			return n
		}
		n++
	}
}

// agentDefinition is an agent as the account's owner sees it.
type agentDefinition struct {
	ID           string         `json:"id" doc:"Names the agent in requests and conversations." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name         string         `json:"name" doc:"For people." example:"Lola"`
	Voice        string         `json:"voice" doc:"One of the ten." enum:"F1,F2,F3,F4,F5,M1,M2,M3,M4,M5" example:"F1"`
	Language     string         `json:"language" doc:"What it speaks and hears." enum:"en,es,ca,gl,eu,pt,fr,it,de" example:"en"`
	Prompt       string         `json:"prompt" doc:"Who the agent is and what it knows." example:"You answer the telephone of Casa Lola. We are open from nine to six."`
	FirstMessage string         `json:"first_message" doc:"What it says first; empty: it waits for the caller." example:"Casa Lola, good day!"`
	Tools        toolList       `json:"tools"`
	Settings     settingsObject `json:"settings"`
	Version      int64          `json:"version" doc:"Grows with every change; it is the ETag." example:"1"`
	CreatedAt    time.Time      `json:"created_at" doc:"When it was made."`
	UpdatedAt    time.Time      `json:"updated_at" doc:"When it was changed last."`
}

func define(a *store.Agent) agentDefinition {
	return agentDefinition{ID: a.ID, Name: a.Name, Voice: a.Voice, Language: a.Language, Prompt: a.Prompt, FirstMessage: a.FirstMessage,
		Tools: toolList{a.Tools}, Settings: settingsObject{a.Settings}, Version: a.Version, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt}
}

// AgentFields are what a client may set; nil was not mentioned. Voices and languages
// have other names besides the canonical ones, so the schema lets all pass.
type AgentFields struct {
	Voice        *string         `json:"voice,omitempty" doc:"F1 to F5 or M1 to M5; at first F1." example:"F1"`
	Language     *string         `json:"language,omitempty" doc:"What it speaks and hears: en es ca gl eu pt fr it de; at first en." example:"en"`
	Prompt       *string         `json:"prompt,omitempty" doc:"Who the agent is and what it knows, 100,000 bytes at most." maxLength:"100000" example:"You answer the telephone of Casa Lola. We are open from nine to six."`
	FirstMessage *string         `json:"first_message,omitempty" doc:"What it says first; empty: it waits for the caller." maxLength:"100000" example:"Casa Lola, good day!"`
	Tools        *toolList       `json:"tools,omitempty"`
	Settings     *settingsObject `json:"settings,omitempty"`
}
