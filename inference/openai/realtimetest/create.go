package realtimetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// maxID is the length of an item's or call's id.
const maxID = 32

// create adds an item of the client.
func (t *talk) create(data []byte) error {
	var m struct {
		Type  string `json:"type"`
		Event string `json:"event_id"`
		After string `json:"previous_item_id"`
		Item  struct {
			ID        string    `json:"id"`
			Object    string    `json:"object"`
			Type      string    `json:"type"`
			Status    string    `json:"status"`
			Role      string    `json:"role"`
			Content   []content `json:"content"`
			Name      string    `json:"name"`
			Call      string    `json:"call_id"`
			Arguments *string   `json:"arguments"`
			Output    *string   `json:"output"`
		} `json:"item"`
	}
	if err := strict(data, &m); err != nil {
		return err
	}
	i := &Item{ID: m.Item.ID, Type: m.Item.Type, Role: m.Item.Role, Name: m.Item.Name, Call: m.Item.Call, Status: completedItem, content: m.Item.Content}
	for name, id := range map[string]string{"item.id": i.ID, "item.call_id": i.Call} {
		if len(id) > maxID || id != "" && !named.MatchString(id) {
			return wrong(name, "Invalid '%s': string too long or of other characters. Expected a string with maximum length %d that matches '^[a-zA-Z0-9_-]+$'.", name, maxID)
		}
	}
	if i.ID == "" {
		i.ID = t.server.id("item_")
	}
	if t.find(i.ID) >= 0 {
		return trouble{Code: "item_create_duplicate_item_id", Message: fmt.Sprintf("Error adding item: an item with the id '%s' already exists.", i.ID), Param: "item.id"}
	}
	var err error
	switch i.Type {
	case message:
		err = i.say(codings[t.settings.format.Type], rates[t.settings.format.Type])
	case functionCall:
		err = i.call(m.Item.Arguments)
	case functionOutput:
		err = t.result(i, m.Item.Output)
	default:
		err = wrong("item.type", "Invalid value: '%s'. Supported values are: '%s', '%s' and '%s'.", i.Type, message, functionCall, functionOutput)
	}
	if err == nil {
		err = t.insert(i, m.After)
	}
	if err == nil {
		t.settle(i)
	}
	return err
}

// wrong is trouble with a part of an event.
func wrong(param, format string, args ...any) error {
	return trouble{Code: "invalid_value", Message: fmt.Sprintf(format, args...), Param: param}
}

// missing is trouble with a part that an event does not have.
func missing(param string) error {
	return trouble{Code: "missing_required_parameter", Message: fmt.Sprintf("Missing required parameter: '%s'.", param), Param: param}
}

// kinds are what messages of a role hold. An assistant's audio cannot be given back: it is said in text.
var kinds = map[string][]string{user: {"input_text", "input_audio"}, system: {"input_text"}, assistant: {"output_text", "output_audio"}}

// say checks a message of the client.
func (i *Item) say(coding loopbacktest.Coding, rate int) error {
	if kinds[i.Role] == nil {
		return wrong("item.role", "Invalid value: '%s'.", i.Role)
	}
	if len(i.content) == 0 {
		return missing("item.content")
	}
	var texts []string
	for n := range i.content {
		c, at := &i.content[n], fmt.Sprintf("item.content[%d]", n)
		if !slices.Contains(kinds[i.Role], c.Type) {
			return wrong(at+".type", "Invalid value: '%s'. Supported values are: %s.", c.Type, quoted(kinds[i.Role]))
		}
		if c.Type == "input_audio" {
			audio, err := base64.StdEncoding.DecodeString(c.Audio)
			if err != nil || len(audio) == 0 {
				return wrong(at+".audio", "Invalid '%s.audio'. Expected base64-encoded audio bytes.", at)
			}
			i.Audio += time.Duration(len(audio)/coding.Width()) * time.Second / time.Duration(rate)
			c.Audio = ""
			continue
		}
		if c.Text == nil {
			return missing(at + ".text")
		}
		texts = append(texts, *c.Text)
	}
	i.Text = strings.Join(texts, "\n")
	return nil
}

// call checks a call of a function that the client gives back.
func (i *Item) call(arguments *string) error {
	switch {
	case i.Name == "":
		return missing("item.name")
	case i.Call == "":
		return missing("item.call_id")
	case arguments == nil || !json.Valid([]byte(*arguments)):
		return wrong("item.arguments", "Invalid 'item.arguments': no JSON.")
	}
	i.Text = *arguments
	return nil
}

// result checks the result of a function.
func (t *talk) result(i *Item, output *string) error {
	of := func(kind string) func(*Item) bool {
		return func(j *Item) bool { return j.Type == kind && j.Call == i.Call }
	}
	switch {
	case i.Call == "":
		return missing("item.call_id")
	case output == nil:
		return missing("item.output")
	case !slices.ContainsFunc(t.items, of(functionCall)):
		return trouble{Code: "invalid_tool_call_id", Message: fmt.Sprintf("Tool call ID '%s' not found in conversation.", i.Call)}
	}
	if slices.ContainsFunc(t.items, of(functionOutput)) {
		t.server.Violate("the call %s has a second result", i.Call)
	}
	i.Text = *output
	return nil
}
