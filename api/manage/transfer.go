package manage

import "github.com/danielgtaylor/huma/v2"

// transferList is the schema of the people whom an agent may transfer calls to.
func transferList() *huma.Schema {
	most := 32
	name, description := 60, 200
	return &huma.Schema{Type: huma.TypeArray, MaxItems: &most,
		Description: "Whom transfer_call may hand telephone calls over to. The carrier does it; where it refuses, or somebody is to be told first what it is about, this server calls them on another line and connects the two.",
		Items: &huma.Schema{Type: huma.TypeObject, Required: []string{"number"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{
			"number":      {Type: huma.TypeString, Description: "In international format. It must be one that may be called."},
			"name":        {Type: huma.TypeString, MaxLength: &name, Description: "What the agent calls them. No two have one name."},
			"description": {Type: huma.TypeString, MaxLength: &description, Description: "When to transfer to them."},
			"warm":        {Type: huma.TypeBoolean, Description: "They are called on another line, and told the agent's summary before the caller is put through; false."},
		}}}
}
