package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"parley/api"
)

// Messages are those of one direction of a channel of the document of messages.
type Messages struct {
	t       testing.TB
	schemas openapi3.Schemas
	// Unseen are the names of messages that Check has not taken yet.
	Unseen map[string]bool
	// Examples are those of the document, by the names of their messages.
	Examples map[string][]json.RawMessage
}

// messageDocument is what a test needs of it.
type messageDocument struct {
	Channels map[string]struct {
		Messages map[string]reference
	}
	Operations map[string]struct {
		Messages []reference
	}
	Components struct {
		Messages map[string]struct {
			Payload  map[string]any
			Examples []struct{ Payload any }
		}
		Schemas map[string]any
	}
}

type reference struct {
	Ref string `yaml:"$ref"`
}

func (r reference) last() string { return r.Ref[strings.LastIndexByte(r.Ref, '/')+1:] }

// OperationMessages are the messages of an operation of the document, such as hearAgent. The document is read once for all tests
// of an operation: some open a thousand sockets.
func OperationMessages(t testing.TB, operation string) *Messages {
	t.Helper()
	read, _ := operations.LoadOrStore(operation, sync.OnceValues(func() (*operationMessages, error) { return readOperation(operation) }))
	o, err := read.(func() (*operationMessages, error))()
	if err != nil {
		t.Fatal(err)
	}
	return &Messages{t: t, schemas: o.schemas, Unseen: maps.Clone(o.names), Examples: o.examples}
}

// operations are functions that read an operation once, by its name.
var operations sync.Map

// operationMessages are the messages of an operation. They do not change.
type operationMessages struct {
	schemas  openapi3.Schemas
	names    map[string]bool
	examples map[string][]json.RawMessage
}

func readOperation(operation string) (*operationMessages, error) {
	var d messageDocument
	if err := yaml.Unmarshal(api.AsyncAPI, &d); err != nil {
		return nil, err
	}
	if len(d.Operations[operation].Messages) == 0 {
		return nil, fmt.Errorf("there is no operation %s", operation)
	}
	o := &operationMessages{names: map[string]bool{}, examples: map[string][]json.RawMessage{}}
	schemas := maps.Clone(d.Components.Schemas)
	for _, r := range d.Operations[operation].Messages {
		channel := strings.Split(r.Ref, "/")[2]
		name := d.Channels[channel].Messages[r.last()].last()
		message, ok := d.Components.Messages[name]
		if !ok {
			return nil, fmt.Errorf("%s is no message", r.Ref)
		}
		o.names[name], schemas["message "+name] = true, message.Payload
		for _, e := range message.Examples {
			text, err := json.Marshal(e.Payload)
			if err != nil {
				return nil, err
			}
			o.examples[name] = append(o.examples[name], text)
		}
	}
	var err error
	o.schemas, err = resolved(schemas)
	return o, err
}

// resolved are schemas resolved as those of an OpenAPI document, whose language they have.
func resolved(schemas map[string]any) (openapi3.Schemas, error) {
	named := map[string]any{}
	for name, s := range schemas {
		named[strings.ReplaceAll(name, " ", ".")] = s
	}
	text, err := json.Marshal(map[string]any{"openapi": "3.1.0", "info": map[string]any{"title": "Messages", "version": "1"},
		"paths": map[string]any{}, "components": map[string]any{"schemas": named}})
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	return doc.Components.Schemas, nil
}

// Check says which message of the document a text is; it must be exactly one.
func (m *Messages) Check(text []byte) string {
	m.t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&v); err != nil {
		m.t.Errorf("%s is no JSON: %v", text, err)
		return ""
	}
	var fits []string
	var refusals []string
	for _, name := range slices.Sorted(maps.Keys(m.schemas)) {
		message, ok := strings.CutPrefix(name, "message.")
		if !ok {
			continue
		}
		if err := m.schemas[name].Value.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
			refusals = append(refusals, message+": "+strings.SplitN(err.Error(), "\n", 2)[0])
			continue
		}
		fits = append(fits, message)
	}
	if len(fits) != 1 {
		m.t.Errorf("%s is %q of the document: %s", text, fits, strings.Join(refusals, "; "))
		return ""
	}
	delete(m.Unseen, fits[0])
	return fits[0]
}
