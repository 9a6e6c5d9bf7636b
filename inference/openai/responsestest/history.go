package responsestest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// prefixes are how the ids of items begin, by their type.
var prefixes = map[string]string{"message": "msg", "function_call": "fc", "function_call_output": "fc", "reasoning": "rs"}

// says are the types of what each role may say.
var says = map[string][]string{
	"user":      {"input_text"},
	"system":    {"input_text"},
	"developer": {"input_text"},
	"assistant": {"output_text", "refusal"},
}

// history says why items do not fit together.
func (s *Server) history(items Items) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids, calls, open []string
	for i, m := range items {
		at := fmt.Sprintf("input[%d]", i)
		if err := m.check(at); err != nil {
			return err
		}
		if m.ID != "" {
			if slices.Contains(ids, m.ID) {
				return invalid("input", "", "Duplicate item found with id %s. Remove duplicate items from your input and try again.", m.ID)
			}
			ids = append(ids, m.ID)
		}
		if err := s.reasonedLocked(m, ids); err != nil {
			return err
		}
		switch m.Type {
		case "reasoning":
			if i == len(items)-1 || !items[i+1].follows() {
				return invalid("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", m.ID)
			}
		case "function_call":
			if slices.Contains(calls, m.CallID) {
				return invalid("input", "", "Duplicate function call with call_id %s.", m.CallID)
			}
			calls, open = append(calls, m.CallID), append(open, m.CallID)
		case "function_call_output":
			j := slices.Index(open, m.CallID)
			if j < 0 {
				return invalid("input", "", "No tool call found for function call output with call_id %s.", m.CallID)
			}
			open = slices.Delete(open, j, j+1)
		}
	}
	if len(open) > 0 {
		return invalid("input", "", "No tool output found for function call %s.", open[0])
	}
	return nil
}

// follows says whether an item is one that may come after reasoning.
func (m *Item) follows() bool {
	return m.Type == "reasoning" || m.Type == "function_call" || m.Role == "assistant"
}

// reasonedLocked says whether the reasoning that belongs to an item is there, and as it was. ids are those so far.
func (s *Server) reasonedLocked(m Item, ids []string) error {
	if m.Type == "reasoning" {
		switch sealed, ok := s.sealed[m.ID]; {
		case m.Encrypted == "":
			return trouble{Status: http.StatusNotFound, Param: "input",
				Message: "Item with id '" + m.ID + "' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."}
		case !ok || sealed != m.Encrypted:
			return trouble{Code: "invalid_encrypted_content", Message: "The encrypted content for item " + m.ID + " could not be verified. Reason: Encrypted content could not be decrypted or parsed."}
		}
		return nil
	}
	need := s.needs[m.ID]
	if m.Type == "function_call" {
		need = s.needs[m.CallID]
	}
	if need != "" && !slices.Contains(ids, need) {
		return invalid("input", "", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", cmp.Or(m.ID, m.CallID), m.Type, need)
	}
	return nil
}

// check looks at one item by itself.
func (m *Item) check(at string) error {
	if m.ID != "" && !strings.HasPrefix(m.ID, prefixes[m.Type]) {
		return invalid(at+".id", badValue, "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", at, m.ID, prefixes[m.Type])
	}
	switch m.Type {
	case "message":
		return m.checkMessage(at)
	case "reasoning":
		switch {
		case m.ID == "":
			return required(at + ".id")
		case m.Summary == nil:
			return required(at + ".summary")
		}
		return nil
	}
	switch {
	case m.CallID == "":
		return required(at + ".call_id")
	case len(m.CallID) > 64:
		return invalid(at+".call_id", "string_above_max_length", "Invalid '%s.call_id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", at, len(m.CallID))
	case m.Type == "function_call_output":
		var text string
		if m.Output == nil {
			return required(at + ".output")
		}
		if json.Unmarshal(m.Output, &text) != nil {
			return invalid(at+".output", badType, "Invalid type for '%s.output': expected a string.", at)
		}
	case !names.MatchString(m.Name):
		return invalid(at+".name", badValue, "Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '%s'.", at, names)
	case m.Arguments == nil:
		return required(at + ".arguments")
	}
	return nil
}

func (m *Item) checkMessage(at string) error {
	allowed, ok := says[m.Role]
	switch {
	case m.Role == "":
		return required(at + ".role")
	case !ok:
		return among(at+".role", m.Role, []string{"assistant", "system", "developer", "user"})
	case len(m.Content) == 0:
		return required(at + ".content")
	}
	for j, c := range m.Content {
		if c.Type == "" {
			continue // a text alone
		}
		if err := among(fmt.Sprintf("%s.content[%d]", at, j), c.Type, allowed); err != nil {
			return err
		}
	}
	return nil
}
