package responsestest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// leastTokens is the lowest max_output_tokens.
const leastTokens = 16

// sealedReasoning is what is included for reasoning that comes back.
const sealedReasoning = "reasoning.encrypted_content"

var (
	names       = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	modes       = []string{"", "none", "auto", "required"}
	efforts     = strings.Fields("none minimal low medium high xhigh")
	summaries   = strings.Fields("auto concise detailed")
	verbosities = strings.Fields("low medium high")
	formats     = []string{"", "text", "json_object", "json_schema"}
	includes    = []string{sealedReasoning, "message.output_text.logprobs", "message.input_image.image_url"}
)

// check says what the vendor would refuse in everything but the input.
func (r *Request) check() error {
	switch {
	case r.Model == "":
		return required("model")
	case len(r.Input) == 0:
		return required("input")
	case !r.Stream:
		return invalid("stream", badValue, "The fake answers with a stream alone.")
	case r.Store == nil || *r.Store:
		return invalid("store", badValue, "The fake stores nothing: 'store' must be false.")
	case r.Previous != "":
		return invalid("previous_response_id", "previous_response_not_found", "Previous response with id '%s' not found.", r.Previous)
	case r.MaxTokens != nil && *r.MaxTokens < leastTokens:
		return invalid("max_output_tokens", "integer_below_min_value", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= %d, but got %d instead.", leastTokens, *r.MaxTokens)
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 2):
		return invalid("temperature", "decimal_above_max_value", "Invalid 'temperature': Expected a value in 0..2, but got %v instead.", *r.Temperature)
	case r.TopP != nil && (*r.TopP < 0 || *r.TopP > 1):
		return invalid("top_p", "decimal_above_max_value", "Invalid 'top_p': Expected a value in 0..1, but got %v instead.", *r.TopP)
	}
	for _, check := range []func() error{r.checkReasoning, r.checkTools, r.checkChoice, r.checkText} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkReasoning looks at what is only for models that reason, and what is only for others.
func (r *Request) checkReasoning() error {
	for i, name := range r.Include {
		if err := among(fmt.Sprintf("include[%d]", i), name, includes); err != nil {
			return err
		}
	}
	unsupported := func(param string) error {
		return invalid(param, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", param)
	}
	if !r.reasons() {
		switch {
		case slices.Contains(r.Include, sealedReasoning):
			return invalid("include", "", "Encrypted content is not supported with this model.")
		case r.Reasoning.Effort != "":
			return unsupported("reasoning.effort")
		case r.Reasoning.Summary != "":
			return unsupported("reasoning.summary")
		}
		return nil
	}
	if r.Reasoning.Effort != "" {
		if err := among("reasoning.effort", r.Reasoning.Effort, efforts); err != nil {
			return err
		}
	}
	switch {
	case r.Temperature != nil && r.Reasoning.Effort != "none":
		return unsupported("temperature")
	case r.TopP != nil && r.Reasoning.Effort != "none":
		return unsupported("top_p")
	case r.Reasoning.Summary != "":
		return among("reasoning.summary", r.Reasoning.Summary, summaries)
	}
	return nil
}

func (r *Request) checkTools() error {
	for i, t := range r.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		switch {
		case t.Type != "function":
			return among(at+".type", t.Type, []string{"function"})
		case t.Name == "":
			return required(at + ".name")
		case !names.MatchString(t.Name):
			return invalid(at+".name", badValue, "Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '%s'.", at, names)
		case slices.ContainsFunc(r.Tools[:i], func(o Tool) bool { return o.Name == t.Name }):
			return invalid("tools", badValue, "Function names must be unique: '%s'.", t.Name)
		case t.Parameters == nil:
			return required(at + ".parameters")
		}
		if err := checkSchema(at+".parameters", "function '"+t.Name+"'", t.Parameters, t.Strict != nil && *t.Strict); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) checkChoice() error {
	c := r.ToolChoice
	switch {
	case c.Type == "" && !slices.Contains(modes, c.Mode):
		return among("tool_choice", c.Mode, modes[1:])
	case c.Mode == "required" && len(r.Tools) == 0:
		return invalid("tool_choice", "", "Tool choice 'required' must be specified with 'tools' parameter.")
	case c.Type != "" && c.Type != "function":
		return among("tool_choice.type", c.Type, []string{"function"})
	case c.Type != "" && !slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Name == c.Name }):
		return invalid("tool_choice", "", "Tool choice 'function' with the name '%s' not found in 'tools' parameter.", c.Name)
	}
	return nil
}

func (r *Request) checkText() error {
	f := r.Text.Format
	if v := r.Text.Verbosity; v != "" {
		if err := among("text.verbosity", v, verbosities); err != nil {
			return err
		}
	}
	switch {
	case !slices.Contains(formats, f.Type):
		return among("text.format.type", f.Type, formats[1:])
	case f.Type != "json_schema":
		return nil
	case f.Name == "":
		return required("text.format.name")
	case !names.MatchString(f.Name):
		return invalid("text.format.name", badValue, "Invalid 'text.format.name': string does not match pattern. Expected a string that matches the pattern '%s'.", names)
	case f.Schema == nil:
		return required("text.format.schema")
	}
	return checkSchema("text.format.schema", "response_format '"+f.Name+"'", f.Schema, f.Strict)
}

// checkSchema says why a schema is not one of an object, and where it is strict, why not all of its fields are
// named and required.
func checkSchema(param, of string, data []byte, strict bool) error {
	var s struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		More       any                        `json:"additionalProperties"`
	}
	refuse := func(why string) error {
		code := "invalid_function_parameters"
		if strings.HasPrefix(of, "response_format") {
			code = "invalid_json_schema"
		}
		return invalid(param, code, "Invalid schema for %s: %s.", of, why)
	}
	switch {
	case json.Unmarshal(data, &s) != nil || s.Type != "object":
		return refuse(fmt.Sprintf("schema must be a JSON Schema of 'type: \"object\"', got 'type: %q'", s.Type))
	case !strict:
		return nil
	case s.More != false:
		return refuse("In context=(), 'additionalProperties' is required to be supplied and to be false")
	}
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			return refuse("In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '" + name + "'")
		}
	}
	return nil
}
