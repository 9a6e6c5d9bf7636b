package anthropictest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// allowed are the types of blocks that each role may have.
var allowed = map[string][]string{
	"user":      {"text", "image", "document", "tool_result"},
	"assistant": {"text", "tool_use", "thinking"},
}

// history says why messages do not fit together.
func (s *Server) history(messages []Message) error {
	var calls []string
	for i, m := range messages {
		last := i == len(messages)-1
		switch {
		case allowed[m.Role] == nil:
			return fmt.Errorf("messages.%d.role: %q is not user or assistant", i, m.Role)
		case i == 0 && m.Role != "user":
			return fmt.Errorf("messages: first message must use the user role")
		case i > 0 && m.Role == messages[i-1].Role:
			return fmt.Errorf("messages: roles must alternate between user and assistant, but found multiple %s roles in a row", m.Role)
		case len(m.Content) == 0 && !(last && m.Role == "assistant"):
			return fmt.Errorf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		if err := checkBlocks(i, m, last); err != nil {
			return err
		}
		if m.Role == "user" {
			if err := results(i, m.Content, calls); err != nil {
				return err
			}
			continue
		}
		var err error
		if calls, err = s.callsOf(i, m.Content); err != nil {
			return err
		}
		if last && len(calls) > 0 {
			return unanswered(i, calls)
		}
	}
	return nil
}

// checkBlocks looks at each block of a message.
func checkBlocks(i int, m Message, last bool) error {
	for j, b := range m.Content {
		at := fmt.Sprintf("messages.%d.content.%d", i, j)
		switch {
		case !slices.Contains(allowed[m.Role], b.Type):
			return fmt.Errorf("%s: %s blocks are not allowed in %s messages", at, b.Type, m.Role)
		case b.Type == "text" && b.Text == "":
			return fmt.Errorf("%s: text content blocks must be non-empty", at)
		case b.Type == "text" && strings.TrimSpace(b.Text) == "":
			return fmt.Errorf("%s: text content blocks must contain non-whitespace text", at)
		case b.Type == "text" && last && m.Role == "assistant" && strings.TrimRightFunc(b.Text, unicode.IsSpace) != b.Text:
			return fmt.Errorf("messages: final assistant content cannot end with trailing whitespace")
		case b.Type == "tool_result" && slices.ContainsFunc(b.Content, func(c Block) bool { return c.Type == "text" && c.Text == "" }) && len(b.Content) > 1:
			return fmt.Errorf("%s.content: text content blocks must be non-empty", at)
		}
	}
	return nil
}

// callsOf are the ids of the calls of an assistant's message. It also looks at what was thought.
func (s *Server) callsOf(i int, blocks Blocks) (ids []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for j, b := range blocks {
		at := fmt.Sprintf("messages.%d.content.%d", i, j)
		var input map[string]any
		switch b.Type {
		case "thinking":
			if thought, ok := s.thoughts[b.Signature]; !ok || thought != b.Thinking {
				return nil, fmt.Errorf("%s: Invalid `signature` in `thinking` block", at)
			}
		case "tool_use":
			switch {
			case !toolNames.MatchString(b.ID) || b.Name == "":
				return nil, fmt.Errorf("%s.tool_use: id and name are required", at)
			case slices.Contains(ids, b.ID):
				return nil, fmt.Errorf("%s: `tool_use` ids must be unique", at)
			case json.Unmarshal(b.Input, &input) != nil || input == nil:
				return nil, fmt.Errorf("%s.tool_use.input: Input should be a valid dictionary", at)
			}
			if signature := s.signed[b.ID]; signature != "" && blocks[0].Signature != signature {
				return nil, fmt.Errorf("messages.%d.content.0.type: Expected `thinking` with its signature before `tool_use`, but found `%s`", i, blocks[0].Type)
			}
			ids = append(ids, b.ID)
		}
	}
	return ids, nil
}

// results says whether a user's message begins with the results of these calls.
func results(i int, blocks Blocks, calls []string) error {
	var got []string
	for j, b := range blocks {
		if b.Type != "tool_result" {
			continue
		}
		switch {
		case len(got) < j:
			return fmt.Errorf("messages.%d: `tool_result` blocks must come first in the message", i)
		case !slices.Contains(calls, b.ToolUseID):
			return fmt.Errorf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, j, b.ToolUseID)
		case slices.Contains(got, b.ToolUseID):
			return fmt.Errorf("messages.%d.content.%d: each `tool_use` must have a single result: %s", i, j, b.ToolUseID)
		}
		got = append(got, b.ToolUseID)
	}
	missing := slices.DeleteFunc(slices.Clone(calls), func(id string) bool { return slices.Contains(got, id) })
	if len(missing) > 0 {
		return unanswered(i-1, missing)
	}
	return nil
}

func unanswered(i int, ids []string) error {
	return fmt.Errorf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i, strings.Join(ids, ", "))
}
