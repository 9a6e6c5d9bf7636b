package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// typeScript is the client's types and methods as a module.
func typeScript(d *document, calls []call) []byte {
	b := &bytes.Buffer{}
	b.WriteString("// Code generated from the service's OpenAPI document. DO NOT EDIT.\n\n")
	b.WriteString("import { Page, Requests, type Changed, type Asked, type Repeated, type ServerEvent } from \"./requests.js\";\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		s := d.Components.Schemas[name]
		b.WriteString("\n")
		tsComment(b, "", s.Description)
		if len(s.Properties) > 0 && s.Others.schema == nil {
			fmt.Fprintf(b, "export interface %s %s\n", pascal(name), tsObject(s, ""))
			continue
		}
		fmt.Fprintf(b, "export type %s = %s;\n", pascal(name), tsType(s, ""))
	}
	b.WriteString("\n/** A client of one server with one credential: a method for each operation of its HTTP API. */\nexport class Parley extends Requests {\n")
	for i, c := range calls {
		if i > 0 {
			b.WriteString("\n")
		}
		tsMethod(b, &c)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func tsMethod(b *bytes.Buffer, c *call) {
	text := c.Summary + "."
	if c.Description != "" {
		text += "\n" + c.Description
	}
	tsComment(b, "  ", text)
	var in, args []string
	path := c.path
	for _, p := range c.parts {
		name := camel(p.Name)
		if name == "case" { // a word of the language
			name += "Id"
		}
		in = append(in, name+": "+tsType(p.Schema, "  "))
		path = strings.Replace(path, "{"+p.Name+"}", "${encodeURIComponent("+name+")}", 1)
	}
	if len(c.parts) > 0 {
		path = "`" + path + "`"
	} else {
		path = fmt.Sprintf("%q", path)
	}
	if c.body != nil {
		in = append(in, "body: "+tsUnion(c.body, "  "))
		args = append(args, "body")
	}
	if c.media != "" {
		args = append(args, fmt.Sprintf("contentType: %q", c.media))
	}
	if len(c.query) > 0 {
		in = append(in, "query"+tsQuery(c))
		args = append(args, "query")
	}
	options := "Asked"
	switch {
	case c.ifMatch:
		options = "Changed"
	case c.again:
		options = "Repeated"
		args = append(args, "repeat: true")
	}
	in, args = append(in, "options: "+options+" = {}"), append(args, "options")
	method, result := tsResult(c)
	fmt.Fprintf(b, "  %s(%s): %s {\n    return this.%s(%q, %s, { %s });\n  }\n", camel(c.ID), strings.Join(in, ", "), result, method, c.verb, path, strings.Join(args, ", "))
}

// tsQuery is the type of a method's query, and its default where nothing must be said.
func tsQuery(c *call) string {
	s := &schema{Type: kinds{"object"}, Properties: map[string]*schema{}}
	for _, p := range c.query {
		one := *p.Schema
		one.Description = p.Description
		s.Properties[p.Name] = &one
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
	}
	text := ": " + tsObject(s, "  ")
	if len(s.Required) == 0 {
		text += " = {}"
	}
	return text
}

func tsResult(c *call) (method, result string) {
	switch {
	case c.entry != nil:
		return "pages", fmt.Sprintf("Page<%s, %s>", tsUnion(c.result, "  "), tsType(c.entry, "  "))
	case c.answer == answerJSON:
		return "json", "Promise<" + tsUnion(c.result, "  ") + ">"
	case c.answer == answerEvents:
		return "events", "AsyncGenerator<ServerEvent, void, void>"
	case c.answer == answerRaw:
		return "raw", "Promise<Response>"
	}
	return "none", "Promise<void>"
}

func tsUnion(all []*schema, indent string) string {
	var names []string
	for _, s := range all {
		if name := tsType(s, indent); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " | ")
}

func tsType(s *schema, indent string) string {
	switch {
	case s.Ref != "":
		return pascal(schemaName(s.Ref))
	case len(s.AnyOf) > 0:
		return tsUnion(s.AnyOf, indent)
	case len(s.Enum) > 0:
		return strings.Join(s.values("null"), " | ")
	case s.binary():
		return "Blob"
	}
	var names []string
	for _, k := range s.Type {
		switch k {
		case "string", "boolean", "null":
			names = append(names, k)
		case "integer", "number":
			names = append(names, "number")
		case "array":
			names = append(names, "Array<"+tsType(s.Items, indent)+">")
		case "object":
			names = append(names, tsObject(s, indent))
		}
	}
	if len(names) == 0 {
		return "unknown"
	}
	return strings.Join(names, " | ")
}

// tsObject is an object's type in braces, whose lines stand two characters further in than indent.
func tsObject(s *schema, indent string) string {
	others := ""
	if s.Others.schema != nil {
		others = "Record<string, " + tsType(s.Others.schema, indent) + ">"
	}
	if len(s.Properties) == 0 {
		if others != "" {
			return others
		}
		return "Record<string, unknown>"
	}
	b := &bytes.Buffer{}
	b.WriteString("{\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		tsComment(b, indent+"  ", p.Description)
		optional := "?"
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		fmt.Fprintf(b, "%s  %s%s: %s;\n", indent, name, optional, tsType(p, indent+"  "))
	}
	b.WriteString(indent + "}")
	if others != "" {
		b.WriteString(" & " + others)
	}
	return b.String()
}

func tsComment(b *bytes.Buffer, indent, text string) {
	if text == "" {
		return
	}
	lines := described(strings.ReplaceAll(text, "*/", "* /"), 116-len(indent))
	if len(lines) == 1 {
		fmt.Fprintf(b, "%s/** %s */\n", indent, lines[0])
		return
	}
	fmt.Fprintf(b, "%s/**\n", indent)
	for _, l := range lines {
		b.WriteString(strings.TrimRight(indent+" * "+l, " ") + "\n")
	}
	fmt.Fprintf(b, "%s */\n", indent)
}
