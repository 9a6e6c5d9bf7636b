package manage

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/store"
)

// Examples of settings and functions in the OpenAPI document; a JSON Schema of documents has none.
const (
	settingsExample = `{"idle_seconds": 8, "max_duration_seconds": 600}`
	toolsExample    = `[
		{"type": "function", "function": {"name": "book_table", "description": "Books a table.",
			"parameters": {"type": "object", "properties": {"people": {"type": "integer"}}, "required": ["people"]}}},
		{"type": "http", "name": "order_status", "description": "Returns the status of an order.",
			"parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
			"http": {"method": "GET", "url": "https://api.example.com/orders/{order}", "headers": {"Authorization": "Bearer {{secret.ORDERS_KEY}}"}}}
	]`
)

// describe takes the schemas of settings and functions out of the JSON Schema of agents into
// the OpenAPI document.
func describe(r huma.Registry, agent json.RawMessage) error {
	var of struct {
		Properties struct{ Settings, Tools json.RawMessage }
	}
	if err := json.Unmarshal(agent, &of); err != nil {
		return err
	}
	for _, part := range []struct {
		ref, example string
		schema       json.RawMessage
	}{{wire.AgentSettingsRef, settingsExample, of.Properties.Settings}, {wire.AgentToolsRef, toolsExample, of.Properties.Tools}} {
		s := &huma.Schema{}
		if part.schema != nil {
			var err error
			if s, err = api.SchemaOf(part.schema); err != nil {
				return err
			}
		}
		s.Examples = make([]any, 1)
		if err := json.Unmarshal([]byte(part.example), &s.Examples[0]); err != nil {
			return err
		}
		r.Map()[strings.TrimPrefix(part.ref, "#/components/schemas/")] = s
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
	var tools []json.RawMessage
	if json.Unmarshal(members["tools"], &tools) == nil && tools != nil {
		for i, tool := range tools {
			tools[i] = withoutNulls(tool, "function")
		}
		var err error
		if members["tools"], err = json.Marshal(tools); err != nil {
			return err
		}
	}
	if settings, given := members["settings"]; given {
		members["settings"] = withoutNulls(settings)
	}
	var err error
	d.RawMessage, err = json.Marshal(members)
	return err
}

// withoutNulls is a JSON object without the members that are null, which say the
// same as none, also in the members that are named. What is no object stays.
func withoutNulls(object json.RawMessage, within ...string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members == nil {
		return object
	}
	maps.DeleteFunc(members, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	for _, name := range within {
		if v, ok := members[name]; ok {
			members[name] = withoutNulls(v)
		}
	}
	b, err := json.Marshal(members)
	if err != nil {
		return object // what was read can be written
	}
	return b
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

// Define is a stored agent as answers show it.
func Define(a *store.Agent) wire.AgentDefinition {
	return wire.AgentDefinition{ID: a.ID, Name: a.Name, Voice: a.Voice, Language: a.Language, Prompt: a.Prompt, FirstMessage: a.FirstMessage,
		Tools: wire.AgentTools{RawMessage: a.Tools}, Settings: wire.AgentSettings{RawMessage: a.Settings}, Version: a.Version, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		Metadata: a.Metadata}
}
