package api

import (
	"encoding/json"
	"errors"

	"github.com/danielgtaylor/huma/v2"
)

// SchemaOf is a JSON Schema of documents as the OpenAPI document has it: without x-form, and with a schema where
// there may also be a boolean.
func SchemaOf(text json.RawMessage) (*huma.Schema, error) {
	s := &huma.Schema{}
	var also struct {
		Properties           map[string]json.RawMessage
		Items                json.RawMessage
		AdditionalProperties json.RawMessage
	}
	if err := errors.Join(json.Unmarshal(text, s), json.Unmarshal(text, &also)); err != nil {
		return nil, err
	}
	var err error
	for name, of := range also.Properties {
		if s.Properties[name], err = SchemaOf(of); err != nil {
			return nil, err
		}
	}
	if s.Items != nil {
		if s.Items, err = SchemaOf(also.Items); err != nil {
			return nil, err
		}
	}
	if _, is := s.AdditionalProperties.(map[string]any); is {
		s.AdditionalProperties, err = SchemaOf(also.AdditionalProperties)
	}
	return s, err
}
