package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// source is a JSON object that is read field by field. What nobody has taken is what has no equivalent.
type source struct {
	path    string // of the object within its document; empty: the document
	members map[string]json.RawMessage
	within  []*source // objects of it that are read field by field
}

// open reads an object.
func open(path string, text []byte) (*source, error) {
	s := &source{path: path}
	if err := json.Unmarshal(text, &s.members); err != nil || s.members == nil {
		return nil, fmt.Errorf("this is no JSON object")
	}
	return s, nil
}

// at is the path of a member.
func (s *source) at(name string) string {
	if s.path == "" {
		return name
	}
	return s.path + "." + name
}

// has says whether a member is there, and not null.
func (s *source) has(name string) bool {
	value, is := s.members[name]
	return is && string(value) != "null"
}

// drop takes members that say nothing of an agent, such as when it was changed.
func (s *source) drop(names ...string) {
	for _, name := range names {
		delete(s.members, name)
	}
}

// raw takes a member as it is written; nil: it is not there.
func (s *source) raw(name string) json.RawMessage {
	if !s.has(name) {
		return nil
	}
	value := s.members[name]
	delete(s.members, name)
	return value
}

// take takes a member of a type. One of another type stays, and has no equivalent.
func take[T any](s *source, name string) (value T, is bool) {
	if !s.has(name) || json.Unmarshal(s.members[name], &value) != nil {
		var none T
		return none, false
	}
	delete(s.members, name)
	return value, true
}

// text takes a text; empty: there is none.
func (s *source) text(name string) string {
	value, _ := take[string](s, name)
	return value
}

// object takes an object to be read field by field: an empty one where there is none.
func (s *source) object(name string) *source {
	if s.has(name) {
		if inner, err := open(s.at(name), s.members[name]); err == nil {
			delete(s.members, name)
			s.within = append(s.within, inner)
			return inner
		}
	}
	return &source{path: s.at(name), members: map[string]json.RawMessage{}}
}

// objects takes a list of objects to be read field by field. A list of anything else stays.
func (s *source) objects(name string) (list []*source) {
	var all []json.RawMessage
	if !s.has(name) || json.Unmarshal(s.members[name], &all) != nil {
		return nil
	}
	for i, text := range all {
		inner, err := open(fmt.Sprintf("%s[%d]", s.at(name), i), text)
		if err != nil {
			return nil
		}
		list = append(list, inner)
	}
	delete(s.members, name)
	s.within = append(s.within, list...)
	return list
}

// left are the paths of what nobody has taken, in their order. Values are not shown: some are secrets.
func (s *source) left() (paths []string) {
	for name, text := range s.members {
		var value any
		if json.Unmarshal(text, &value) == nil {
			paths = append(paths, leaves(s.at(name), value)...)
		}
	}
	for _, inner := range s.within {
		paths = append(paths, inner.left()...)
	}
	slices.Sort(paths)
	return paths
}

// leaves are the paths of the values of a JSON value. A list is one value, unless it has objects; null, and what is empty,
// says nothing.
func leaves(path string, value any) (paths []string) {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		if v == "" {
			return nil
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			paths = append(paths, leaves(path+"."+name, v[name])...)
		}
		return paths
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i, one := range v {
			if _, is := one.(map[string]any); !is {
				return []string{path}
			}
			paths = append(paths, fmt.Sprintf("%s[%d]", path, i))
		}
		return paths
	}
	return []string{path}
}
