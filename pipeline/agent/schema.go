package agent

import (
	"maps"

	"parley/pipeline/schema"
)

// Bounds of a document.
const (
	maxName   = 200     // bytes
	maxPrompt = 100_000 // bytes
	maxTools  = 64
	maxJSON   = 256 << 10 // bytes of the settings
)

// Schema describes an agent's document. What it cannot say, its descriptions do.
var Schema = documentSchema()

// WithOptions is Schema with what the engines of each stage may be given, one form for each vendor that makes some. Documents are
// read by Schema: which engine has which vendor is for an Offer to know.
func WithOptions(options map[Stage][]*schema.Schema) *schema.Schema {
	document, settings := *Schema, *SettingsSchema
	settings.Properties = maps.Clone(settings.Properties)
	settings.Properties["engines"] = enginesSchema(options)
	document.Properties = maps.Clone(document.Properties)
	document.Properties["settings"] = &settings
	return &document
}

func documentSchema() *schema.Schema {
	s := schema.Object("An agent: what answers and makes calls. A name is enough. Texts may name variables: {{call.from}}, {{call.to}}, "+
		"{{caller.name}}, {{caller.verified}} (yes or no), {{caller.attestation}} (A, B or C), {{call.diverted_by}}, {{call.first_called}}, {{call.header.x-name}}, {{now}}, and those of settings.variables. They become text once, when a conversation begins.",
		map[string]*schema.Schema{
			"name": {Type: "string", Description: "For people, 200 bytes at most.", MinLength: 1, MaxLength: maxName, Pattern: `\S`, Form: "must have a letter"},
			"voice": {Type: "string", Description: "F1 to F5 or M1 to M5, in either case; en_f1 and esca_f1 mean the same.", Default: DefaultVoice,
				Pattern: `^([Ee][Nn]_|[Ee][Ss][Cc][Aa]_)?[FfMm][1-5]$`, Form: "must be one of F1 to F5 and M1 to M5"},
			"language": {Type: "string", Description: "What it speaks and hears: en es ca gl eu pt fr it de. en-US means en. " +
				"With auto it speaks the caller's, once two turns in a row were in it and where the recogniser says which that is; auto-es begins in es, auto in en.", Default: DefaultLanguage,
				Pattern: `^([Aa][Uu][Tt][Oo]|([Aa][Uu][Tt][Oo][-_])?([Ee][NnSsUu]|[Cc][Aa]|[Gg][Ll]|[Pp][Tt]|[Ff][Rr]|[Ii][Tt]|[Dd][Ee])([-_].*)?)$`,
				Form:    "must be one of en es ca gl eu pt fr it de, or auto"},
			"prompt":        schema.Text("Who the agent is and what it knows, 100,000 bytes at most. It may have variables.", maxPrompt),
			"first_message": schema.Text("What it says first; empty: the caller speaks first. It may have variables.", maxPrompt),
			"tools":         toolsSchema(),
			"settings":      SettingsSchema,
		}, "name")
	s.Properties["metadata"] = &schema.Schema{Type: "object", Loose: true, MaxProperties: 50, Others: schema.Text("", 500),
		PropertyNames: &schema.Schema{Pattern: "^[A-Za-z0-9_.-]{1,40}$"},
		Description: "Names and values of your own, such as a team or a customer, which are kept with the agent and picked by in lists. They are no part of " +
			"its versions: no conversation reads them. null takes a name away."}
	for _, name := range []string{"id", "version", "created_at", "updated_at"} {
		s.Properties[name] = &schema.Schema{ReadOnly: true, Description: "The server's; ignored."}
	}
	s.Dialect, s.Title = schema.Dialect, "Agent"
	return s
}
