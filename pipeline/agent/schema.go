package agent

import (
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

func documentSchema() *schema.Schema {
	s := schema.Object("An agent: what answers and makes calls. A name is enough. Texts may name variables: {{call.from}}, {{call.to}}, "+
		"{{caller.name}}, {{caller.verified}} (yes or no), {{now}}, and those of settings.variables. They become text once, when a conversation begins.",
		map[string]*schema.Schema{
			"name": {Type: "string", Description: "For people, 200 bytes at most.", MinLength: 1, MaxLength: maxName, Pattern: `\S`, Form: "must have a letter"},
			"voice": {Type: "string", Description: "F1 to F5 or M1 to M5, in either case; en_f1 and esca_f1 mean the same.", Default: DefaultVoice,
				Pattern: `^([Ee][Nn]_|[Ee][Ss][Cc][Aa]_)?[FfMm][1-5]$`, Form: "must be one of F1 to F5 and M1 to M5"},
			"language": {Type: "string", Description: "What it speaks and hears: en es ca gl eu pt fr it de. en-US means en.", Default: DefaultLanguage,
				Pattern: `^([Ee][NnSsUu]|[Cc][Aa]|[Gg][Ll]|[Pp][Tt]|[Ff][Rr]|[Ii][Tt]|[Dd][Ee])([-_].*)?$`, Form: "must be one of en es ca gl eu pt fr it de"},
			"prompt":        schema.Text("Who the agent is and what it knows, 100,000 bytes at most. It may have variables.", maxPrompt),
			"first_message": schema.Text("What it says first; empty: the caller speaks first. It may have variables.", maxPrompt),
			"tools":         toolsSchema(),
			"settings":      SettingsSchema,
		}, "name")
	for _, name := range []string{"id", "version", "created_at", "updated_at"} {
		s.Properties[name] = &schema.Schema{ReadOnly: true, Description: "The server's; ignored."}
	}
	s.Dialect, s.Title = schema.Dialect, "Agent"
	return s
}

// toolsSchema describes the common form of functions; what each kind needs besides is in
// the API's description.
func toolsSchema() *schema.Schema {
	any := func(text string) *schema.Schema { return &schema.Schema{Type: "object", Description: text} }
	one := schema.Object("", map[string]*schema.Schema{
		"type":         schema.OneOf("Who runs it: function is the client of the conversation, all others this server.", "function", "http", "mcp", "web_search", "crm"),
		"function":     any("Of type function: name, description and parameters, a JSON Schema."),
		"name":         schema.Text("Of http and mcp. No two have one name.", 64),
		"description":  schema.Text("Of http: its description for the model.", 4096),
		"parameters":   any("Of http: the JSON Schema of its arguments."),
		"on_interrupt": schema.OneOf("What happens to it when the caller interrupts.", "continue", "cancel"),
		"http":         any("Of http: method, url, headers, body and more."),
		"mcp":          any("Of mcp: the server."),
		"crm":          any("Of crm: the customer database."),
	}, "type")
	one.Others = nil // functions of clients may say more than we know of
	return schema.List("The functions that it may call.", maxTools, one)
}
