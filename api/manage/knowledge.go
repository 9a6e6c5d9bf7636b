package manage

import "github.com/danielgtaylor/huma/v2"

// variableMap is the schema of settings.variables.
func variableMap() *huma.Schema {
	most, longest := 50, 1000
	return &huma.Schema{Type: huma.TypeObject, MaxProperties: &most, AdditionalProperties: &huma.Schema{Type: huma.TypeString, MaxLength: &longest},
		Description: "The variables that the prompt, the first message, the goodbye and the message to machines name as `{{name}}`, with their values when nobody gives any. " +
			"A name is a letter and at most 39 letters, digits and _. The server sets `{{call.from}}`, `{{call.to}}`, `{{caller.name}}`, `{{caller.verified}}` (yes or no) and `{{now}}`."}
}

// knowledgeList is the schema of settings.knowledge.
func knowledgeList() *huma.Schema {
	most, least, title, text := 20, 1, 200, 4000
	return &huma.Schema{Type: huma.TypeArray, MaxItems: &most, Description: "What the agent knows besides its prompt, to whose end it is added as it is.",
		Items: &huma.Schema{Type: huma.TypeObject, Required: []string{"title", "text"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{
			"title": {Type: huma.TypeString, MinLength: &least, MaxLength: &title, Description: "What it is about."},
			"text":  {Type: huma.TypeString, MinLength: &least, MaxLength: &text, Description: "What there is to know."},
		}}}
}
