package geminitest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	functionNames = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)
	modes         = strings.Fields("AUTO ANY NONE VALIDATED")
	levels        = strings.Fields("MINIMAL LOW MEDIUM HIGH")
	thresholds    = strings.Fields("BLOCK_NONE BLOCK_ONLY_HIGH BLOCK_MEDIUM_AND_ABOVE BLOCK_LOW_AND_ABOVE OFF")
	mimeTypes     = []string{"", "text/plain", "application/json", "text/x.enum"}
	types         = strings.Fields("STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL")

	// schemaFields are what Google takes of OpenAPI's schemas. All else is refused, as additionalProperties and $schema.
	schemaFields = strings.Fields(`type format title description nullable enum maxItems minItems properties required minProperties
		maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum`)
)

// check says what the vendor would refuse in everything but the contents.
func (r *Request) check() error {
	for i, p := range r.System.Parts {
		if p.Text == nil || *p.Text == "" {
			return invalid("* GenerateContentRequest.system_instruction.parts[%d].data: required oneof field 'data' must have one initialized field", i)
		}
	}
	for i, s := range r.Safety {
		if !strings.HasPrefix(s.Category, "HARM_CATEGORY_") || !slices.Contains(thresholds, s.Threshold) {
			return invalid("Invalid value at 'safety_settings[%d]': %q, %q", i, s.Category, s.Threshold)
		}
	}
	if err := CheckTools(r.Tools); err != nil {
		return err
	}
	if err := r.checkCalling(); err != nil {
		return err
	}
	return r.checkGeneration()
}

// CheckTools says what the vendor would refuse in tools.
func CheckTools(tools []Tool) error {
	var names []string
	for i, t := range tools {
		if len(t.Functions) == 0 {
			return invalid("* GenerateContentRequest.tools[%d].tool_type: required one_of 'tool_type' must have one initialized field", i)
		}
		for j, f := range t.Functions {
			at := fmt.Sprintf("GenerateContentRequest.tools[%d].function_declarations[%d]", i, j)
			switch {
			case !functionNames.MatchString(f.Name):
				return invalid("* %s.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.", at)
			case slices.Contains(names, f.Name):
				return invalid("Duplicate function declaration found: %s", f.Name)
			case f.Parameters != nil && f.Schema != nil:
				return invalid("%s: only one of parameters and parameters_json_schema may be set", at)
			case f.Schema != nil && !isObject(f.Schema):
				return invalid("Invalid value at '%s.parameters_json_schema': an object is expected", at)
			}
			if f.Parameters != nil {
				if err := checkSchema(at+".parameters", f.Parameters); err != nil {
					return err
				}
			}
			names = append(names, f.Name)
		}
	}
	return nil
}

// checkCalling says what the vendor would refuse in which tools are called.
func (r *Request) checkCalling() error {
	if r.ToolConfig == nil {
		return nil
	}
	var names []string
	for _, t := range r.Tools {
		for _, f := range t.Functions {
			names = append(names, f.Name)
		}
	}
	c := r.ToolConfig.Calling
	switch {
	case len(names) == 0:
		return invalid("Function calling config is set without function_declarations.")
	case !slices.Contains(modes, c.Mode):
		return invalid("Invalid value at 'tool_config.function_calling_config.mode': %q", c.Mode)
	case len(c.Allowed) > 0 && c.Mode != "ANY" && c.Mode != "VALIDATED":
		return invalid("Please set allowed_function_names only when function calling mode is ANY.")
	}
	for _, name := range c.Allowed {
		if !slices.Contains(names, name) {
			return invalid("allowed_function_names contains %q, which is not declared", name)
		}
	}
	return nil
}

func (r *Request) checkGeneration() error {
	g := r.Generation
	switch {
	case g.MaxTokens != nil && *g.MaxTokens < 1:
		return invalid("* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.")
	case g.Temperature != nil && (*g.Temperature < 0 || *g.Temperature > 2):
		return invalid("* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].")
	case g.TopP != nil && (*g.TopP < 0 || *g.TopP > 1):
		return invalid("* GenerateContentRequest.generation_config.top_p: top_p must be in the range [0.0, 1.0].")
	case len(g.Sequences) > 5:
		return invalid("* GenerateContentRequest.generation_config.stop_sequences: at most 5 stop sequences are allowed.")
	case !slices.Contains(mimeTypes, g.MIMEType):
		return invalid("* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are `text/plain`, `application/json`, `text/x.enum`.")
	case g.Schema != nil && g.JSONSchema != nil:
		return invalid("Only one of response_schema and response_json_schema may be set.")
	case (g.Schema != nil || g.JSONSchema != nil) && g.MIMEType != "application/json":
		return invalid("* GenerateContentRequest.generation_config.response_schema: only allowed when `response_mime_type` is `application/json`.")
	case g.JSONSchema != nil && !isObject(g.JSONSchema):
		return invalid("Invalid value at 'generation_config.response_json_schema': an object is expected")
	case g.MIMEType == "application/json" && len(r.Tools) > 0 && !r.signs():
		return invalid("Function calling with a response mime type: 'application/json' is unsupported")
	}
	if g.Schema != nil {
		if err := checkSchema("GenerateContentRequest.generation_config.response_schema", g.Schema); err != nil {
			return err
		}
	}
	t := g.Thinking
	switch {
	case t == nil:
	case t.Level != "" && t.Budget != nil:
		return invalid("You can only set only one of thinking budget and thinking level.")
	case t.Level != "" && !r.signs():
		return invalid("Thinking level is not supported for this model.")
	case t.Level != "" && !slices.Contains(levels, strings.ToUpper(t.Level)):
		return invalid("Invalid value at 'generation_config.thinking_config.thinking_level': %q", t.Level)
	case t.Budget != nil && (*t.Budget < -1 || *t.Budget > 32768):
		return invalid("The thinking budget %d is invalid. Please choose a value between 512 and 24576.", *t.Budget)
	}
	return nil
}

func isObject(data []byte) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(data, &m) == nil && m != nil
}

// checkSchema says what Google does not take as a schema of its own kind.
func checkSchema(at string, data []byte) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields == nil {
		return invalid("Invalid value at '%s': an object is expected", at)
	}
	for name := range fields {
		if !slices.Contains(schemaFields, name) {
			return invalid("Invalid JSON payload received. Unknown name %q at '%s': Cannot find field.", name, at)
		}
	}
	var s struct {
		Type       string
		Properties map[string]json.RawMessage
		Required   []string
		Items      json.RawMessage
		AnyOf      []json.RawMessage
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return invalid("Invalid value at '%s': Proto field is not repeating, cannot start list.", at)
	}
	switch kind := strings.ToUpper(s.Type); {
	case kind != "" && !slices.Contains(types, kind), kind == "" && s.AnyOf == nil:
		return invalid("Invalid value at '%s.type': %q", at, s.Type)
	case kind == "OBJECT" && len(s.Properties) == 0:
		return invalid("* %s.properties: should be non-empty for OBJECT type", at)
	case kind == "ARRAY" && s.Items == nil:
		return invalid("* %s.items: missing field.", at)
	}
	for i, name := range s.Required {
		if s.Properties[name] == nil {
			return invalid("* %s.required[%d]: property is not defined", at, i)
		}
	}
	for name, inner := range s.Properties {
		if err := checkSchema(at+".properties["+name+"]", inner); err != nil {
			return err
		}
	}
	for _, inner := range s.AnyOf {
		if err := checkSchema(at+".any_of", inner); err != nil {
			return err
		}
	}
	if s.Items != nil {
		return checkSchema(at+".items", s.Items)
	}
	return nil
}
