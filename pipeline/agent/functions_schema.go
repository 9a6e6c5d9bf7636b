package agent

import "parley/pipeline/schema"

// toolsSchema describes functions. What each kind needs is checked by tool.Mistakes.
func toolsSchema() *schema.Schema {
	one := schema.Form("", []*schema.Schema{
		schema.OneOf("Who runs it: the client; a service of yours; the tools of an MCP server; a web search; the customer database.",
			"function", "http", "mcp", "web_search", "crm").
			Named("type", "Kind", schema.Entry{Choices: [][2]any{{"http", "Web service"}, {"mcp", "MCP server"}, {"function", "Client function"},
				{"web_search", "Web search"}, {"crm", "Customer database"}}}),
		schema.Text("Of `http`: the function's name. Of `mcp`: what the names of its tools begin with.", 64).
			Named("name", "Name", schema.Entry{Code: true, Placeholder: "order_status", Width: "medium", Hint: "Letters, digits, _ and -. No two have one name."}),
		schema.Text("Of `http`: when to call it.", 4096).
			Named("description", "Description", schema.Entry{Lines: 2, Placeholder: "Returns the status of an order.", Hint: "When to call it. The model decides by this."}),
		parameters("Of `http`: JSON Schema of its arguments, which are held to it."),
		schema.OneOf("Of `http` and `mcp`: `continue` or `cancel` when the caller interrupts; a GET is cancelled, everything else goes on.", "continue", "cancel").
			Named("on_interrupt", "When the caller interrupts", schema.Entry{Choices: [][2]any{{nil, "A GET is cancelled, everything else goes on"}, {"continue", "It goes on"}, {"cancel", "It is cancelled"}}}),
		clientSchema(), httpSchema(), mcpSchema(), crmSchema(),
	}, "type")
	one.Others = nil // functions of clients may say more than we know of
	return schema.List("Functions that the agent may call. Those of type `function`, in OpenAI's form, are run by the client of the conversation; "+
		"the others by this server, on the telephone too.", maxTools, one).
		Named("tools", "Functions", schema.Entry{Lines: 8, Code: true, Hint: "A list in YAML or JSON of what the agent may call: services of yours, MCP servers, web search, a customer database."})
}

// loose is an object whose members are checked by who reads them.
func loose(description string, members ...*schema.Schema) *schema.Schema {
	s := schema.Form(description, members)
	s.Loose, s.Others = true, nil
	return s
}

// parameters describes the arguments of a function, which people enter one by one.
func parameters(description string) *schema.Schema {
	return (&schema.Schema{Type: "object", Description: description, Loose: true}).
		Named("parameters", "Parameters", schema.Entry{Label: "Parameters, as JSON Schema", Lines: 10, Code: true, Add: "Add a parameter", Each: parameterSchema(),
			Hint: "YAML or JSON. Empty it to list the parameters one by one.",
			Lead: "What the model fills in when it calls the function, one entry each."})
}

// parameterSchema describes a property of the schema of arguments as people enter it, as factSchema does.
func parameterSchema() *schema.Schema {
	return schema.Form("", []*schema.Schema{
		schema.Text("", 0).Named("name", "Name", schema.Entry{Code: true, Placeholder: "order", Width: "short"}),
		schema.OneOf("", "string", "choice", "integer", "number", "boolean").Otherwise("string").
			Named("kind", "Type", schema.Entry{Beside: true, Choices: [][2]any{{"string", "Text"}, {"choice", "One of several texts"},
				{"integer", "Whole number"}, {"number", "Number"}, {"boolean", "Yes or no"}}}),
		schema.Flag("").Otherwise(false).
			Named("needed", "Required", schema.Entry{Beside: true, Choices: [][2]any{{false, "Optional"}, {true, "Required"}}}),
		schema.Text("", 0).Named("choices", "Texts, with commas between them", schema.Entry{Placeholder: "small, medium, large"}),
		schema.Text("", 0).Named("description", "Description", schema.Entry{Placeholder: "The order number, six digits"}),
	}, "name", "choices").Named("", "Parameter", schema.Entry{})
}

// headers are those of requests.
func headers() *schema.Schema {
	return (&schema.Schema{Type: "object", Description: "`{{secret.NAME}}` stands for a secret of the account.", Others: schema.Text("", 0), Loose: true}).
		Named("headers", "Headers", schema.Entry{Lines: 3, Code: true, Placeholder: "Authorization = Bearer {{secret.NAME}}",
			Hint: "A line each. {{secret.NAME}} stands for a secret of the account."})
}

// timeout is how long a call may take.
func timeout(description string) *schema.Schema {
	return (&schema.Schema{Type: "integer", Description: description}).
		Named("timeout_ms", "Timeout, ms", schema.Entry{Placeholder: "8000", Hint: "100 to 30000."})
}

// clientSchema describes a function that the client of a conversation runs.
func clientSchema() *schema.Schema {
	s := loose("How the function is described to the language model.",
		(&schema.Schema{Type: "string", Pattern: "^[A-Za-z0-9_-]{1,64}$", Description: "Unique in the list."}).
			Named("name", "Name", schema.Entry{Code: true, Placeholder: "show_map", Width: "medium", Hint: "Letters, digits, _ and -. No two have one name."}),
		schema.Text("When to call it.", 0).
			Named("description", "Description", schema.Entry{Lines: 2, Hint: "When to call it. The model decides by this."}),
		parameters("JSON Schema of its arguments."))
	s.Required = []string{"name"}
	return s.Named("function", "Client function", schema.Entry{})
}

// httpSchema describes a request to a service.
func httpSchema() *schema.Schema {
	return loose("The request.",
		schema.Text("GET, POST, PUT, PATCH or DELETE.", 0).
			Named("method", "Method", schema.Entry{Heading: "Request", Choices: [][2]any{{"GET", "GET"}, {"POST", "POST"}, {"PUT", "PUT"}, {"PATCH", "PATCH"}, {"DELETE", "DELETE"}}}),
		schema.Text("An https address on the public Internet; `{name}` stands for an argument.", 0).
			Named("url", "Address", schema.Entry{Code: true, Placeholder: "https://api.example.com/orders/{order}", Hint: "{order} stands for the parameter order.", Beside: true}),
		headers(),
		(&schema.Schema{Type: "object", Description: "Secrets and arguments may stand in it.", Others: schema.Text("", 0), Loose: true}).
			Named("query", "Query", schema.Entry{Lines: 2, Code: true, Placeholder: "day = {day}", Hint: "A line each. Parameters and secrets may stand in it."}),
		(&schema.Schema{Description: "JSON in which texts that are just `{name}` stand for arguments; without it all arguments are sent, except by GET and DELETE."}).
			Named("body", "Body", schema.Entry{Lines: 4, Code: true, Hint: "YAML or JSON in which texts that are just {order} stand for parameters. Empty: all parameters are sent, except by GET and DELETE."}),
		timeout("100 to 30,000; 8,000."),
		(&schema.Schema{Type: "integer", Description: "0 to 2, when the service cannot be reached or is busy."}).
			Named("retries", "Retries", schema.Entry{Placeholder: "0", Hint: "0 to 2, when the service cannot be reached or is busy.", Beside: true}),
		schema.Text("A header with a value of its own for each function call; POST and PATCH are repeated only with it.", 0).
			Named("idempotency_header", "Idempotency header", schema.Entry{Code: true, Placeholder: "Idempotency-Key", Hint: "Retries of POST and PATCH need it.", Beside: true})).
		Named("http", "Request", schema.Entry{})
}

// mcpSchema describes a server of the Model Context Protocol.
func mcpSchema() *schema.Schema {
	return loose("A server of the Model Context Protocol, over Streamable HTTP.",
		schema.Text("Its https address.", 0).
			Named("url", "Address", schema.Entry{Heading: "Server", Code: true, Placeholder: "https://mcp.example.com/"}),
		headers(),
		schema.List("The tools that are offered; without it all.", 0, schema.Text("", 0)).
			Named("allowed_tools", "Tools", schema.Entry{Lines: 3, Code: true, Hint: "A name each line. Empty: all tools of the server."}),
		timeout("Of each call, 100 to 30,000; 8,000.")).
		Named("mcp", "Server", schema.Entry{})
}

// crmSchema describes a customer database.
func crmSchema() *schema.Schema {
	return loose("The customer database; without it, or without `provider`, the server's.",
		schema.Text("`rest` or `hubspot`.", 0).
			Named("provider", "Provider", schema.Entry{Choices: [][2]any{{nil, "Server default"}, {"rest", "A service of yours"}, {"hubspot", "HubSpot"}}}),
		schema.Text("Its base address.", 0).Named("url", "Address", schema.Entry{Code: true, Placeholder: "https://crm.example.com", Hint: "Of a service of yours."}),
		schema.Text("`{{secret.NAME}}`.", 0).Named("api_key", "API key", schema.Entry{Code: true, Placeholder: "{{secret.NAME}}", Hint: "A secret of the account."}),
		schema.Flag("Offer `crm_lookup`; true.").Otherwise(true).Named("lookup", "Lookup", schema.Entry{Label: "It may look callers up"}),
		schema.Flag("Note telephone calls there when they are over; true.").Otherwise(true).Named("log_calls", "Notes", schema.Entry{Label: "Note its calls there when they are over"})).
		Named("crm", "Customer database", schema.Entry{})
}
