package anthropictest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxMarks is how many cache marks a request may have.
const maxMarks = 4

var (
	toolNames = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	choices   = []string{"auto", "any", "tool", "none"}
)

// check says what the vendor would refuse in everything but the order of the messages.
func (r *Request) check() error {
	switch {
	case r.Model == "":
		return errors.New("model: Field required")
	case r.MaxTokens < 1:
		return errors.New("max_tokens: Field required, greater than or equal to 1")
	case len(r.Messages) == 0:
		return errors.New("messages: at least one message is required")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 1):
		return fmt.Errorf("temperature: %v is not in 0..1", *r.Temperature)
	case r.TopP != nil && (*r.TopP < 0 || *r.TopP > 1):
		return fmt.Errorf("top_p: %v is not in 0..1", *r.TopP)
	case r.TopK != nil && *r.TopK < 0:
		return fmt.Errorf("top_k: %v is below 0", *r.TopK)
	}
	for i, b := range r.System {
		if b.Type != "text" || b.Text == "" {
			return fmt.Errorf("system.%d: text content blocks must be non-empty", i)
		}
	}
	return errors.Join(r.checkTools(), r.checkThinking(), r.checkMarks())
}

func (r *Request) checkTools() error {
	var names []string
	for i, t := range r.Tools {
		var schema struct{ Type string }
		switch {
		case t.Type != "" && t.Type != "custom":
			return fmt.Errorf("tools.%d.type: %q is not known", i, t.Type)
		case !toolNames.MatchString(t.Name):
			return fmt.Errorf("tools.%d.name: String should match pattern '%s'", i, toolNames)
		case slices.Contains(names, t.Name):
			return fmt.Errorf("tools: Tool names must be unique: %s", t.Name)
		case len(t.Schema) == 0:
			return fmt.Errorf("tools.%d.input_schema: Field required", i)
		case json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object":
			return fmt.Errorf("tools.%d.input_schema.type: Input should be 'object'", i)
		}
		names = append(names, t.Name)
	}
	c := r.ToolChoice
	switch {
	case c == nil:
		return nil
	case len(r.Tools) == 0:
		return errors.New("tool_choice: may only be specified while providing tools")
	case !slices.Contains(choices, c.Type):
		return fmt.Errorf("tool_choice.type: %q is not one of %s", c.Type, strings.Join(choices, ", "))
	case (c.Type == "tool") != (c.Name != "") || c.Name != "" && !slices.Contains(names, c.Name):
		return fmt.Errorf("tool_choice: tool %q is not in tools", c.Name)
	}
	return nil
}

func (r *Request) checkThinking() error {
	t := r.Thinking
	if t == nil || t.Type == "disabled" {
		return nil
	}
	switch {
	case t.Type != "enabled" && t.Type != "adaptive":
		return fmt.Errorf("thinking.type: %q is not known", t.Type)
	case t.Type == "enabled" && t.Budget < 1024:
		return errors.New("thinking.budget_tokens: should be greater than or equal to 1024")
	case t.Budget >= r.MaxTokens:
		return errors.New("max_tokens: must be greater than thinking.budget_tokens")
	case r.Temperature != nil && *r.Temperature != 1:
		return errors.New("temperature: may only be set to 1 when thinking is enabled")
	case r.ToolChoice != nil && (r.ToolChoice.Type == "any" || r.ToolChoice.Type == "tool"):
		return errors.New("tool_choice: Thinking may not be enabled when tool_choice forces tool use")
	}
	return nil
}

// marks are the cache marks in the order of the prefix: tools, system, messages.
func (r *Request) marks() (list []*CacheControl) {
	add := func(c *CacheControl) {
		if c != nil {
			list = append(list, c)
		}
	}
	for _, t := range r.Tools {
		add(t.Cache)
	}
	for _, b := range r.System {
		add(b.Cache)
	}
	for _, m := range r.Messages {
		for _, b := range m.Content {
			for _, inner := range b.Content {
				add(inner.Cache)
			}
			add(b.Cache)
		}
	}
	add(r.Cache)
	return list
}

func (r *Request) checkMarks() error {
	list := r.marks()
	if len(list) > maxMarks {
		return fmt.Errorf("a maximum of %d blocks with cache_control may be provided, found %d", maxMarks, len(list))
	}
	short := false
	for _, c := range list {
		switch {
		case c.Type != "ephemeral":
			return fmt.Errorf("cache_control.type: %q is not ephemeral", c.Type)
		case c.TTL != "" && c.TTL != "5m" && c.TTL != "1h":
			return fmt.Errorf("cache_control.ttl: %q is not 5m or 1h", c.TTL)
		case c.TTL == "1h" && short:
			return errors.New("cache_control.ttl: a ttl of 1h must not come after one of 5m")
		}
		short = short || c.TTL != "1h"
	}
	return nil
}
