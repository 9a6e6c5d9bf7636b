package foreign

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// vapiTool reads what the model may call. address is the assistant's, for functions that have none.
func (b *builder) vapiTool(t *source, address string) {
	t.drop("id", "orgId", "createdAt", "updatedAt")
	switch kind := t.text("type"); kind {
	case "function":
		b.vapiFunction(t, address)
	case "apiRequest":
		b.vapiRequest(t)
	case "transferCall":
		b.vapiTransfer(t)
	case "mcp":
		server := t.object("server")
		name := t.object("function").text("name")
		b.mcp(t.path, name, server.text("url"), b.serverHeaders(server), b.serverTimeout(server))
	case "endCall":
		t.object("function").drop("name", "parameters") // end_call, which every agent has
	case "dtmf":
		t.object("function").drop("name", "parameters")
		b.settings["send_dtmf"] = true
	case "voicemail":
		t.object("function").drop("name", "parameters")
		if _, is := b.settings["on_machine"]; !is {
			b.settings["on_machine"] = "hangup"
		}
		b.note(t.path, "machines are recognised without the model: settings.on_machine says what they get")
	default:
		b.note(t.path, "%s has no equivalent", oneLine("the tool "+kind))
		t.members = nil
	}
}

// vapiFunction reads a function. Its service gets the message that it knows.
func (b *builder) vapiFunction(t *source, address string) {
	f, server := t.object("function"), t.object("server")
	if own := server.text("url"); own != "" {
		address = own
	}
	f.drop("strict")
	if later, _ := take[bool](t, "async"); later {
		b.note(t.at("async"), "the agent waits for the answer, while it may talk")
	}
	name, description, parameters := f.text("name"), f.text("description"), f.raw("parameters")
	if address == "" {
		c := clientFunction{Type: "function"}
		c.Function.Name, c.Function.Description, c.Function.Parameters = name, description, parameters
		b.note(t.path, "has no address: the client of a conversation runs it, and on the telephone nobody does")
		b.add(t.path, c)
		return
	}
	made := httpFunction{Name: name, Description: description, Parameters: parameters, HTTP: httpRequest{Method: "POST", URL: address,
		Headers: b.serverHeaders(server), TimeoutMS: b.serverTimeout(server)}}
	if all, templated := arguments(parameters); templated {
		call := map[string]any{"id": "call", "name": name, "arguments": all}
		made.HTTP.Body = map[string]any{"message": map[string]any{"type": "tool-calls", "toolCallList": []any{call}}}
		b.note(t.path, "gets the message tool-calls with one call in toolCallList, its id call, and nothing of the call and the assistant")
	} else {
		b.note(t.path, "gets its arguments as a JSON object, and no message tool-calls")
	}
	b.ask(t.path, made)
}

// serverHeaders and serverTimeout read what a request to a service has.
func (b *builder) serverHeaders(server *source) map[string]string {
	given, _ := take[map[string]string](server, "headers")
	headers := b.headers(server.at("headers"), given)
	if secret := server.text("secret"); secret != "" {
		headers["X-Vapi-Secret"] = "{{secret.VAPI_SECRET}}"
		b.note(server.at("secret"), "is a secret: parley secret set VAPI_SECRET")
	}
	if server.text("credentialId") != "" {
		b.note(server.at("credentialId"), "is a credential of Vapi: store it with parley secret set NAME, and name it in the headers as {{secret.NAME}}")
	}
	return headers
}

func (b *builder) serverTimeout(server *source) int {
	if seconds, is := take[float64](server, "timeoutSeconds"); is {
		return b.timeout(server.at("timeoutSeconds"), seconds*1000)
	}
	return 20_000 // Vapi's
}

// inAddress are the arguments in an address of Vapi.
var inAddress = regexp.MustCompile(`\{\{\s*([A-Za-z_][A-Za-z0-9_-]{0,63})\s*\}\}`)

// vapiRequest reads a request to a service.
func (b *builder) vapiRequest(t *source) {
	made := httpFunction{Name: t.text("name"), Description: t.text("description"), Parameters: t.raw("body"),
		HTTP: httpRequest{Method: strings.ToUpper(t.text("method")), URL: t.text("url"), Query: map[string]string{}}}
	if f := t.object("function"); made.Name == "" {
		made.Name = f.text("name")
	}
	var in []string
	made.HTTP.URL = inAddress.ReplaceAllStringFunc(made.HTTP.URL, func(found string) string {
		name := inAddress.FindStringSubmatch(found)[1]
		in = append(in, name)
		return "{" + name + "}"
	})
	if len(in) > 0 {
		made.Parameters = withTexts(made.Parameters, in)
		b.note(t.at("url"), "the model gives %s", strings.Join(in, ", "))
	}
	fixed := map[string]string{}
	var headers struct {
		Properties map[string]struct {
			Value, Default, Const any
		} `json:"properties"`
	}
	if text := t.raw("headers"); json.Unmarshal(text, &headers) == nil {
		for name, h := range headers.Properties {
			for _, value := range []any{h.Value, h.Default, h.Const} {
				if value != nil {
					fixed[name] = fmt.Sprint(value)
					break
				}
			}
		}
	}
	made.HTTP.Headers, made.HTTP.TimeoutMS = b.headers(t.at("headers"), fixed), b.serverTimeout(t)
	if t.text("credentialId") != "" {
		b.note(t.at("credentialId"), "is a credential of Vapi: store it with parley secret set NAME, and name it in the headers as {{secret.NAME}}")
	}
	b.ask(t.path, made)
}

// withTexts is the schema of a function's arguments with further ones, which are texts and needed.
func withTexts(schema json.RawMessage, names []string) json.RawMessage {
	s := map[string]any{}
	_ = json.Unmarshal(schema, &s) // what is no schema has no arguments yet
	properties, _ := s["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	required, _ := s["required"].([]any)
	for _, name := range names {
		if properties[name] == nil {
			properties[name] = map[string]string{"type": "string"}
		}
		if !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	s["type"], s["properties"], s["required"] = "object", properties, required
	text, err := json.Marshal(s)
	if err != nil {
		return schema
	}
	return text
}

// vapiTransfer reads whom callers are transferred to.
func (b *builder) vapiTransfer(t *source) {
	f := t.object("function")
	f.drop("name", "parameters")
	all := t.objects("destinations")
	if len(all) == 0 {
		b.note(t.path, "has no destinations: a service decides there; here they are in settings.transfer_to")
	}
	for _, d := range all {
		if kind := d.text("type"); kind != "number" {
			b.note(d.path, "%s is left out: callers are transferred to telephone numbers", oneLine(kind))
			d.members = nil
			continue
		}
		plan := d.object("transferPlan")
		d.drop("numberE164CheckEnabled")
		b.transfer(d.path, destination{Number: d.text("number"), Description: d.text("description"), Warm: strings.Contains(plan.text("mode"), "warm")})
	}
}

// mcp adds the tools of a server of the Model Context Protocol.
func (b *builder) mcp(path, name, address string, headers map[string]string, timeout int) {
	const longest = 24
	here := strings.Trim(notInTool.ReplaceAllString(name, "_"), "_")
	if here = here[:min(len(here), longest)]; here == "" {
		here = fmt.Sprintf("mcp_%d", len(b.tools)+1)
	}
	b.add(path, mcpFunctions{Type: "mcp", Name: here, MCP: mcpServer{URL: address, Headers: headers, TimeoutMS: timeout}})
}
