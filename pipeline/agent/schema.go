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
		"{{caller.name}}, {{caller.verified}} (yes or no), {{now}}, and those of settings.variables. They become text once, when a conversation begins.",
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

// toolsSchema describes functions. What each kind needs is checked by tool.Mistakes.
func toolsSchema() *schema.Schema {
	text := func(text string) *schema.Schema { return schema.Text(text, 0) }
	whole := func(text string) *schema.Schema { return &schema.Schema{Type: "integer", Description: text} }
	object := func(text string, members map[string]*schema.Schema) *schema.Schema {
		return &schema.Schema{Type: "object", Description: text, Properties: members, Loose: true}
	}
	texts := func(text string) *schema.Schema {
		return &schema.Schema{Type: "object", Description: text, Others: schema.Text("", 0), Loose: true}
	}
	function := object("How the function is described to the language model.", map[string]*schema.Schema{
		"name":        {Type: "string", Pattern: "^[A-Za-z0-9_-]{1,64}$", Description: "Unique in the list."},
		"description": text("When to call it."),
		"parameters":  object("JSON Schema of its arguments.", nil),
	})
	function.Required = []string{"name"}
	one := schema.Object("", map[string]*schema.Schema{
		"type": schema.OneOf("Who runs it: the client; a service of yours; the tools of an MCP server; a web search; the customer database.",
			"function", "http", "mcp", "web_search", "crm"),
		"function":    function,
		"name":        schema.Text("Of `http`: the function's name. Of `mcp`: what the names of its tools begin with.", 64),
		"description": schema.Text("Of `http`: when to call it.", 4096),
		"parameters":  object("Of `http`: JSON Schema of its arguments, which are held to it.", nil),
		"on_interrupt": schema.OneOf("Of `http` and `mcp`: `continue` or `cancel` when the caller interrupts; a GET is cancelled, everything else goes on.",
			"continue", "cancel"),
		"http": object("The request.", map[string]*schema.Schema{
			"method":             text("GET, POST, PUT, PATCH or DELETE."),
			"url":                text("An https address on the public Internet; `{name}` stands for an argument."),
			"headers":            texts("`{{secret.NAME}}` stands for a secret of the account."),
			"query":              texts("Secrets and arguments may stand in it."),
			"body":               {Description: "JSON in which texts that are just `{name}` stand for arguments; without it all arguments are sent, except by GET and DELETE."},
			"timeout_ms":         whole("100 to 30,000; 8,000."),
			"retries":            whole("0 to 2, when the service cannot be reached or is busy."),
			"idempotency_header": text("A header with a value of its own for each function call; POST and PATCH are repeated only with it."),
		}),
		"mcp": object("A server of the Model Context Protocol, over Streamable HTTP.", map[string]*schema.Schema{
			"url":           text("Its https address."),
			"headers":       texts("`{{secret.NAME}}` stands for a secret of the account."),
			"allowed_tools": schema.List("The tools that are offered; without it all.", 0, text("")),
			"timeout_ms":    whole("Of each call, 100 to 30,000; 8,000."),
		}),
		"crm": object("The customer database; without it, or without `provider`, the server's.", map[string]*schema.Schema{
			"provider":  text("`rest` or `hubspot`."),
			"url":       text("Its base address."),
			"api_key":   text("`{{secret.NAME}}`."),
			"lookup":    schema.Flag("Offer `crm_lookup`; true."),
			"log_calls": schema.Flag("Note telephone calls there when they are over; true."),
		}),
	}, "type")
	one.Others = nil // functions of clients may say more than we know of
	return schema.List("Functions that the agent may call. Those of type `function`, in OpenAI's form, are run by the client of the conversation; "+
		"the others by this server, on the telephone too.", maxTools, one).
		Named("tools", "Functions", schema.Entry{Lines: 8, Code: true, Hint: "A list in YAML or JSON of what the agent may call: services of yours, MCP servers, web search, a customer database."})
}
