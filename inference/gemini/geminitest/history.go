package geminitest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Signatures that stand for calls that another model made.
var strangers = []string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}

var (
	errCount  = invalid("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	errCall   = invalid("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
	errResult = invalid("Please ensure that function response turn comes immediately after a function call turn.")
	errLast   = invalid("Please ensure that multiturn requests end with a user turn or a function response turn.")
)

// history says why contents do not fit together.
func (s *Server) history(r *Request) error {
	if len(r.Contents) == 0 {
		return invalid("* GenerateContentRequest.contents: contents is not specified")
	}
	turn := 0 // where the current turn begins: with the last words of the user
	for i, c := range r.Contents {
		if c.Role == "user" && slices.ContainsFunc(c.Parts, func(p Part) bool { return p.Text != nil }) {
			turn = i
		}
	}
	var calls []*Call // of the content before
	for i, c := range r.Contents {
		switch {
		case c.Role != "user" && c.Role != "model":
			return invalid("Please use a valid role: user, model.")
		case len(c.Parts) == 0:
			return invalid("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
		}
		for j, p := range c.Parts {
			if err := p.check(fmt.Sprintf("contents[%d].parts[%d]", i, j), c.Role); err != nil {
				return err
			}
		}
		if err := results(c, calls); err != nil {
			return err
		}
		if calls = c.calls(); len(calls) > 0 && (i == 0 || r.Contents[i-1].Role != "user") {
			return errCall
		}
		if err := s.signatures(c, i+1, r.signs() && i > turn); err != nil {
			return err
		}
	}
	switch {
	case len(calls) > 0:
		return errCount
	case r.Contents[len(r.Contents)-1].Role == "model":
		return errLast
	}
	return nil
}

// check looks at one part by itself.
func (p *Part) check(at, role string) error {
	data := 0
	for _, set := range []bool{p.Text != nil && (*p.Text != "" || p.Signature != ""), p.Call != nil, p.Response != nil} {
		if set {
			data++
		}
	}
	switch {
	case data > 1:
		return invalid("Invalid value at '%s' (oneof), oneof field 'data' is already set.", at)
	case data == 0 && p.Signature == "":
		return invalid("* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field", at)
	case p.Call != nil && role != "model", p.Response != nil && role != "user":
		return invalid("%s: it does not belong to the role %s", at, role)
	case p.Call != nil && p.Call.Name == "":
		return invalid("* GenerateContentRequest.%s.function_call.name: Name cannot be empty.", at)
	case p.Call != nil && p.Call.Args != nil && !isObject(p.Call.Args):
		return invalid("Invalid value at '%s.function_call.args' (type.googleapis.com/google.protobuf.Struct)", at)
	case p.Response != nil && p.Response.Name == "":
		return invalid("* GenerateContentRequest.%s.function_response.name: Name cannot be empty.", at)
	case p.Response != nil && !isObject(p.Response.Response):
		return invalid("Invalid value at '%s.function_response.response' (type.googleapis.com/google.protobuf.Struct)", at)
	}
	return nil
}

// calls are those of a content.
func (c Content) calls() (list []*Call) {
	for _, p := range c.Parts {
		if p.Call != nil {
			list = append(list, p.Call)
		}
	}
	return list
}

// results says whether a content has the results of the calls before it.
func results(c Content, calls []*Call) error {
	open := slices.Clone(calls)
	for _, p := range c.Parts {
		r := p.Response
		if r == nil {
			continue
		}
		if len(calls) == 0 {
			return errResult
		}
		i := slices.IndexFunc(open, func(c *Call) bool {
			return c.Name == r.Name && (c.ID == r.ID || c.ID == "" || r.ID == "")
		})
		if i < 0 {
			return invalid("The function response %q with the id %q answers no function call of the turn before.", r.Name, r.ID)
		}
		open = slices.Delete(open, i, i+1)
	}
	if len(open) > 0 {
		return errCount
	}
	return nil
}

// signatures says whether a content has what the model signed as it came. In the current turn the first call of
// each step needs its signature.
func (s *Server) signatures(c Content, position int, needed bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := true
	for _, p := range c.Parts {
		if p.Signature != "" && !slices.Contains(strangers, p.Signature) {
			if signed, ok := s.signed[p.Signature]; !ok || signed != p.Call.canonical() {
				return invalid("Corrupted thought signature.")
			}
		}
		if p.Call == nil {
			continue
		}
		if first && needed && p.Signature == "" {
			return invalid("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d.", p.Call.Name, position)
		}
		first = false
	}
	return nil
}

// canonical is a call without what does not matter. No call is "".
func (c *Call) canonical() string {
	if c == nil {
		return ""
	}
	var args any
	_ = json.Unmarshal(c.Args, &args)
	b, _ := json.Marshal([]any{c.Name, args})
	return string(b)
}
