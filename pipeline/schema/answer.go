package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxAnswer bounds what a model may answer, in bytes.
const maxAnswer = 64 << 10

// Answer takes the JSON object out of what a language model wrote, which may have put it
// between marks or words, and checks it; path names the whole of it. Members that are null
// and not required count as left out. The object is nil when there are mistakes.
func (s *Schema) Answer(path, text string) (json.RawMessage, Mistakes) {
	if len(text) > maxAnswer {
		return nil, Mistakes{{path, "is too long"}}
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return nil, Mistakes{{path, "is no JSON object"}}
	}
	d := json.NewDecoder(strings.NewReader(text[from : to+1]))
	d.UseNumber()
	var value map[string]any
	if err := d.Decode(&value); err != nil || d.InputOffset() != int64(to+1-from) {
		return nil, Mistakes{{path, "is no JSON object"}}
	}
	s.dropNulls(value)
	var wrong Mistakes
	if s.check(path, value, &wrong); len(wrong) > 0 {
		return nil, wrong
	}
	out, err := json.Marshal(value)
	if err != nil {
		return nil, Mistakes{{path, err.Error()}}
	}
	return out, nil
}

// dropNulls leaves out what is null and need not be there.
func (s *Schema) dropNulls(value any) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			if s.Items != nil {
				s.Items.dropNulls(one)
			}
		}
	case map[string]any:
		for name, one := range v {
			p := s.Properties[name]
			if one == nil && p != nil && !slices.Contains(s.Required, name) {
				delete(v, name)
			} else if p != nil {
				p.dropNulls(one)
			}
		}
	}
}
