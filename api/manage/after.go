package manage

import "github.com/danielgtaylor/huma/v2"

// enginesObject is the schema of the engines that an agent chooses.
func enginesObject() *huma.Schema {
	shortest, longest, most := 1, 60, 8
	stage := func(text string) *huma.Schema {
		name := &huma.Schema{Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest}
		return &huma.Schema{Description: text, AnyOf: []*huma.Schema{name, {Type: huma.TypeArray, Items: name, MaxItems: &most}}}
	}
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false,
		Description: "The engines that it uses, by name, of those that the server offers (`GET /models`): one, or several that are tried in order, the next within the turn in which one fails. What is not there is as the server has it. A call's `engines` say which served.",
		Properties:  map[string]*huma.Schema{"asr": stage("Recognition."), "llm": stage("The language model."), "tts": stage("The voice.")},
		Examples:    []any{map[string]any{"llm": []string{"scripted"}, "tts": "espeak"}}}
}

// analysisObject is the schema of what becomes of an agent's calls afterwards.
func analysisObject() *huma.Schema {
	longest := 2000
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false,
		Description: "What the agent's language model makes of each answered call when it is over; charged as tokens of summaries. A call's `analysis` has it, and webhooks are told `call.analyzed`.",
		Properties: map[string]*huma.Schema{
			"summary":        {Type: huma.TypeBoolean, Description: "Write what the call came to, in a few sentences; false."},
			"summary_prompt": {Type: huma.TypeString, MaxLength: &longest, Description: "What the summary is to look at besides; summary is needed, too."},
			"extract": {Type: huma.TypeObject, Description: "A JSON Schema, 16 kB at most, of the facts that are taken out of the transcript: type object with properties, and on every level " +
				"type, title, description, enum (texts), minimum, maximum, minLength, maxLength, maxItems, items, properties, required and additionalProperties. What does not fit it is asked for once more, and then the analysis has failed."},
		},
		Examples: []any{map[string]any{"summary": true, "extract": map[string]any{"type": "object", "properties": map[string]any{"day": map[string]any{"type": "string"}, "people": map[string]any{"type": "integer"}}}}}}
}
