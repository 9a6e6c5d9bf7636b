package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// byHand are the operations that the client in Go has a method for by hand, which does more than ask: it reads files,
// follows pages, waits, or hides what else the route can do. The others are generated.
var byHand = map[string]string{
	"list-agents": "AgentList", "get-agent": "Agent", "create-agent": "CreateAgent", "replace-agent": "ReplaceAgent", "validate-agent": "CheckAgent",
	"delete-agent": "DeleteAgent", "list-agent-versions": "AgentVersions", "get-agent-version": "AgentVersion", "get-agent-schema": "AgentSchema",
	"dial": "Dial", "get-call": "CallText", "get-call-quality": "CallQuality", "list-call-completions": "CallCompletions", "get-call-completion": "CallCompletion",
	"update-call": "KeepWithCall", "delete-call": "ForgetCall", "follow-call": "Follow", "follow-any-call": "Follow", "list-calls": "Calls", "get-statistics": "Statistics",
	"get-call-recording": "CallRecording", "bulk-dial": "BulkDial", "get-batch": "Batch", "cancel-batch": "TurnBatch", "pause-batch": "TurnBatch",
	"resume-batch": "TurnBatch", "list-batches": "Batches", "list-cases": "Cases", "create-case": "PutCase", "replace-case": "PutCase", "delete-case": "DeleteCase",
	"create-simulation": "Simulate", "get-simulation": "Simulation", "cancel-simulation": "CancelSimulation", "list-engine-keys": "EngineKeys",
	"put-engine-key": "PutEngineKey", "delete-engine-key": "DeleteEngineKey", "test-engine-key": "TestEngineKey", "list-knowledge-bases": "KnowledgeBases",
	"create-knowledge-base": "CreateKnowledgeBase", "list-knowledge-documents": "KnowledgeDocuments", "get-knowledge-document": "KnowledgeDocument",
	"add-knowledge-document": "AddFile", "refresh-knowledge-document": "RefreshDocument", "search-knowledge-base": "SearchKnowledge",
	"delete-knowledge-base": "DeleteKnowledge", "delete-knowledge-document": "DeleteKnowledge", "list-keys": "Keys", "create-key": "CreateKey", "revoke-key": "RevokeKey",
	"list-secrets": "Secrets", "put-secret": "PutSecret", "delete-secret": "DeleteSecret", "list-consents": "Consents", "get-latency": "Latency",
	"get-engine-latency": "EngineLatency", "list-numbers": "Numbers", "search-numbers": "SearchNumbers", "buy-number": "BuyNumber", "assign-number": "AssignNumber",
	"release-number": "ReleaseNumber", "list-do-not-call": "DoNotCall", "add-do-not-call": "AddDoNotCall", "get-do-not-call": "CheckDoNotCall",
	"remove-do-not-call": "RemoveDoNotCall", "send-message": "SendMessage", "import-do-not-call": "ImportDoNotCall", "list-requests": "Requests", "get-request": "Request",
	"synthesize": "Synthesize", "submit-task": "Submit", "get-task": "Task", "download-task": "Download", "cancel-task": "Cancel", "transcribe": "Transcribe",
	"denoise": "Denoise", "get-own-account": "Account", "get-balance": "Balance", "get-usage": "Usage", "export-usage": "UsageCSV", "get-pricing": "Rates",
	"list-webhooks": "Webhooks", "get-webhook": "Webhook", "create-webhook": "CreateWebhook", "update-webhook": "ChangeWebhook", "delete-webhook": "DeleteWebhook",
	"rotate-webhook-secret": "RotateWebhook", "test-webhook": "TestWebhook", "take-webhook-event": "TakeEvent", "report-webhook-attempt": "ReportEvent",
	"add-sound": "AddSound", "get-sound-audio": "SoundAudio", "list-webhook-deliveries": "Deliveries", "retry-webhook-delivery": "RetryDelivery", "list-callcenter-agents": "Agents",
	"export-calls": "Table", "export-ledger": "Table", "export-consents": "Table", "export-do-not-call": "Table", "export-batch": "Table",
}

// golang writes the methods that the client in Go has none of by hand.
type golang struct {
	d     *document
	wire  map[string]bool    // the types of package wire
	types map[string]*schema // that were named and are to be defined
	done  map[string]bool
}

// goFiles are the files, one for each topic, by their names. Types of the package wire, whose folder is given, serve where
// they have a schema's name; others stand in the file that has them first.
func goFiles(d *document, calls []call, wire string) (map[string][]byte, error) {
	g := &golang{d: d, wire: map[string]bool{}, types: map[string]*schema{}, done: map[string]bool{}}
	if err := g.readWire(wire); err != nil {
		return nil, err
	}
	topics := map[string]*bytes.Buffer{}
	for _, c := range calls {
		if byHand[c.ID] != "" || c.answer == answerRaw {
			continue
		}
		name := "operations_" + snake(c.Tags[0]) + ".go"
		if topics[name] == nil {
			topics[name] = &bytes.Buffer{}
		}
		g.method(topics[name], &c)
		g.pending(topics[name])
	}
	files := map[string][]byte{}
	for name, b := range topics {
		text, err := format.Source(append([]byte(goHead(b.String())), b.Bytes()...))
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}

// goHead is the head of a file, with the imports that its text needs.
func goHead(text string) string {
	head := "// Code generated from the service's OpenAPI document. DO NOT EDIT.\n\npackage client\n\nimport (\n\t\"context\"\n"
	for _, p := range []string{"iter", "net/http", "net/url"} {
		if strings.Contains(text, p[strings.LastIndexByte(p, '/')+1:]+".") {
			head += fmt.Sprintf("\t%q\n", p)
		}
	}
	if strings.Contains(text, "wire.") {
		head += "\n\t\"parley/api/wire\"\n"
	}
	return head + ")\n"
}

// pending defines the types that were named and are not there yet.
func (g *golang) pending(b *bytes.Buffer) {
	for len(g.types) > 0 {
		for _, name := range slices.Sorted(maps.Keys(g.types)) {
			s := g.types[name]
			delete(g.types, name)
			if !g.done[name] {
				g.done[name] = true
				g.define(b, name, s)
			}
		}
	}
}

func (g *golang) readWire(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	for _, name := range files {
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
				for _, s := range d.Specs {
					g.wire[s.(*ast.TypeSpec).Name.Name] = true
				}
			}
		}
	}
	return nil
}

func (g *golang) method(b *bytes.Buffer, c *call) {
	name := pascal(c.ID)
	in, at := []string{"ctx context.Context"}, []string{}
	named := map[string]string{}
	for _, p := range c.parts {
		arg := camel(p.Name)
		if arg == "case" {
			arg = "caseID"
		}
		named["{"+p.Name+"}"] = strings.TrimSuffix(arg, "Id")
		if strings.HasSuffix(arg, "Id") {
			named["{"+p.Name+"}"] = strings.TrimSuffix(arg, "Id") + "ID"
		}
		in = append(in, named["{"+p.Name+"}"]+" string")
	}
	for _, part := range strings.Split(strings.Trim(c.path, "/"), "/") {
		if arg := named[part]; arg != "" {
			at = append(at, arg)
			continue
		}
		at = append(at, fmt.Sprintf("%q", part))
	}
	path, body := strings.Join(at, ", "), "nil"
	address := "c.address(" + path + ")"
	query := "url.Values{}"
	if g.query(b, name+"Query", c) {
		query = "q.values()"
		in, address = append(in, "q "+name+"Query"), "c.query(q.values(), "+path+")"
	}
	if c.body != nil {
		in, body = append(in, "body "+g.typ(c.body[0], name+"Body")), "body"
	}
	b.WriteString("\n")
	goComment(b, "", name+": "+c.Summary+".\n"+c.Description)
	verb := "http.Method" + c.verb[:1] + strings.ToLower(c.verb[1:])
	head := fmt.Sprintf("func (c *Client) %s(%s)", name, strings.Join(in, ", "))
	switch {
	case c.entry != nil:
		typ := g.typ(c.entry, name+"Entry")
		fmt.Fprintf(b, "%s iter.Seq2[%s, error] {\n\treturn each[%s](ctx, c, %s, %s)\n}\n", head, typ, typ, query, path)
	case c.answer == answerJSON:
		typ := g.typ(c.result[0], name+"Result")
		fmt.Fprintf(b, "%s (*%s, error) {\n\treturn ask[%s](ctx, c, %s, %s, %s)\n}\n", head, typ, typ, verb, address, body)
	default:
		fmt.Fprintf(b, "%s error {\n\treturn c.did(ctx, %s, %s, %s)\n}\n", head, verb, address, body)
	}
}

// query defines the query of a method, if it has one: all its fields are texts, and empty ones are not sent. Pages are
// the client's.
func (g *golang) query(b *bytes.Buffer, name string, c *call) bool {
	asked := slices.DeleteFunc(slices.Clone(c.query), func(p parameter) bool { return c.entry != nil && (p.Name == "cursor" || p.Name == "limit") })
	if len(asked) == 0 {
		return false
	}
	fmt.Fprintf(b, "\n// %s is the query of %s. Empty fields are not sent.\ntype %s struct {\n", name, pascal(c.ID), name)
	var pairs []string
	for _, p := range asked {
		goComment(b, "\t", p.Description)
		fmt.Fprintf(b, "\t%s string\n", goField(p.Name))
		pairs = append(pairs, fmt.Sprintf("%q: q.%s", p.Name, goField(p.Name)))
	}
	fmt.Fprintf(b, "}\n\nfunc (q %s) values() url.Values {\n\treturn picked(map[string]string{%s})\n}\n", name, strings.Join(pairs, ", "))
	return true
}

func (g *golang) define(b *bytes.Buffer, name string, s *schema) {
	b.WriteString("\n")
	text := s.Description
	if text == "" {
		text = "An object of the service's HTTP API."
	}
	goComment(b, "", name+": "+text)
	if len(s.Properties) == 0 {
		fmt.Fprintf(b, "type %s %s\n", name, g.typ(s, name))
		return
	}
	fmt.Fprintf(b, "type %s struct {\n", name)
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[field]
		goComment(b, "\t", p.Description)
		tag := field
		if !slices.Contains(s.Required, field) {
			tag += ",omitempty"
		}
		fmt.Fprintf(b, "\t%s %s `json:%q`\n", goField(field), g.typ(p, name+goField(field)), tag)
	}
	b.WriteString("}\n")
}

// typ is a type's name or expression; name is what an object without one is called.
func (g *golang) typ(s *schema, name string) string {
	if s.Ref != "" {
		of := pascal(schemaName(s.Ref))
		if g.wire[of] {
			return "wire." + of
		}
		g.types[of] = g.d.Components.Schemas[schemaName(s.Ref)]
		return of
	}
	pointer := ""
	if slices.Contains(s.Type, "null") {
		pointer = "*"
	}
	for _, k := range s.Type {
		switch k {
		case "string":
			return pointer + "string"
		case "boolean":
			return pointer + "bool"
		case "integer":
			return pointer + "int64"
		case "number":
			return pointer + "float64"
		case "array":
			return "[]" + g.typ(s.Items, name+"Item")
		case "object":
			if len(s.Properties) > 0 && s.Others.schema == nil {
				g.types[name] = s
				return pointer + name
			}
			if s.Others.schema != nil {
				return "map[string]" + g.typ(s.Others.schema, name+"Value")
			}
			return "map[string]any"
		}
	}
	return "any"
}

// initials are written in capitals where they are a word of their own.
var initials = map[string]string{"id": "ID", "url": "URL", "ms": "MS", "usd": "USD", "ip": "IP", "api": "API", "llm": "LLM", "tts": "TTS", "asr": "ASR", "vad": "VAD", "ttl": "TTL"}

func goField(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		if up := initials[w]; up != "" {
			b.WriteString(up)
			continue
		}
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func goComment(b *bytes.Buffer, indent, text string) {
	if text == "" {
		return
	}
	for _, l := range described(text, 116-len(indent)) {
		b.WriteString(strings.TrimRight(indent+"// "+l, " ") + "\n")
	}
}
