package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const pyNote = "# Code generated from the service's OpenAPI document. DO NOT EDIT.\n"

// pythonWords are those of Python that a parameter or a class's field cannot be called.
var pythonWords = []string{"as", "class", "def", "from", "global", "import", "in", "is", "not", "pass", "with"}

// python collects the types of a client. Types without a name of their own are named after where they are.
type python struct {
	d     *document
	types map[string]*schema // that stand in no document under a name
}

// pythonFiles are the modules of the client's types and of its methods.
func pythonFiles(d *document, calls []call) (types, methods []byte) {
	p := &python{d: d, types: map[string]*schema{}}
	methods = p.methods(calls)
	return p.module(), methods
}

func (p *python) methods(calls []call) []byte {
	b := &bytes.Buffer{}
	b.WriteString(pyNote + `"""A method for each operation of the service's HTTP API."""

from __future__ import annotations

from typing import Any, Iterator, Literal

from . import types as t
from .transport import Answer, Requests, part


class Parley(Requests):
    """A client of one server with one credential. It may be used from several threads."""
`)
	for _, c := range calls {
		p.method(b, &c, false)
		if c.entry != nil {
			p.method(b, &c, true)
		}
	}
	return b.Bytes()
}

// method writes a method; with each, the one that yields the entries of all pages.
func (p *python) method(b *bytes.Buffer, c *call, each bool) {
	context := pascal(c.ID)
	in, args := []string{"self"}, []string{}
	path, form := c.path, ""
	for _, q := range c.parts {
		in = append(in, fmt.Sprintf("%s: %s", snake(q.Name), p.typ(q.Schema, "t.", context)))
		path, form = strings.Replace(path, "{"+q.Name+"}", "{part("+snake(q.Name)+")}", 1), "f"
	}
	if c.body != nil {
		in = append(in, "body: "+p.union(c.body, "t.", context+"Body"))
		args = append(args, "body=body")
	}
	if c.media != "" {
		args = append(args, fmt.Sprintf("content_type=%q", c.media))
	}
	in = append(in, "*")
	var query []string
	for _, q := range c.query {
		name := snake(q.Name)
		if slices.Contains(pythonWords, name) {
			name += "_"
		}
		if each && name == "cursor" {
			continue
		}
		one := name + ": " + p.typ(q.Schema, "t.", context+pascal(q.Name))
		if !q.Required {
			one += " | None = None"
		}
		in, query = append(in, one), append(query, fmt.Sprintf("%q: %s", q.Name, name))
	}
	if len(query) > 0 {
		args = append(args, "query={"+strings.Join(query, ", ")+"}")
	}
	if c.ifMatch {
		in, args = append(in, "if_match: str | None = None"), append(args, "if_match=if_match")
	}
	if c.again {
		in, args = append(in, "idempotency_key: str | None = None"), append(args, "idempotency_key=idempotency_key", "repeat=True")
	}
	in, args = append(in, "timeout: float | None = None"), append(args, "timeout=timeout")

	name, text := snake(c.ID), c.Summary+".\n"+c.Description
	how, result := p.result(c, context)
	if each {
		_, rest, _ := strings.Cut(name, "_")
		name, how, result = "each_"+rest, "_each", "Iterator["+p.typ(c.entry, "t.", context+"Entry")+"]"
		text = c.Summary + ": every entry, page by page.\n"
	}
	fmt.Fprintf(b, "\n    def %s(%s) -> %s:\n", name, strings.Join(in, ", "), result)
	pyDoc(b, "        ", text)
	fmt.Fprintf(b, "        return self.%s(%q, %s\"%s\", %s)\n", how, c.verb, form, path, strings.Join(args, ", "))
}

func (p *python) result(c *call, context string) (method, result string) {
	switch c.answer {
	case answerJSON:
		return "_json", p.union(c.result, "t.", context+"Result")
	case answerEvents:
		return "_events", "Iterator[dict[str, Any]]"
	case answerRaw:
		return "_raw", "Answer"
	}
	return "_none", "None"
}

// module writes the types: those of the document, and those that were named on the way. Aliases are expressions, so
// they stand after what they are made of.
func (p *python) module() []byte {
	texts, aliases := map[string]string{}, map[string]string{}
	add := func(name string, s *schema) {
		if len(s.Properties) == 0 || s.Others.schema != nil {
			aliases[name] = p.alias(name, s)
			return
		}
		texts[name] = p.define(name, s)
	}
	for _, name := range slices.Sorted(maps.Keys(p.d.Components.Schemas)) {
		add(pascal(name), p.d.Components.Schemas[name])
	}
	for len(p.types) > 0 {
		for name, s := range maps.Clone(p.types) {
			delete(p.types, name)
			add(name, s)
		}
	}
	b := &bytes.Buffer{}
	b.WriteString(pyNote + `"""What the service's HTTP API takes and gives, as dictionaries."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

# A file of a form: its bytes, or its name and its bytes.
File: TypeAlias = bytes | tuple[str, bytes]
`)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.WriteString("\n\n" + texts[name])
	}
	for len(aliases) > 0 {
		for _, name := range slices.Sorted(maps.Keys(aliases)) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(aliases)), func(other string) bool { return uses(aliases[name], other) }) {
				b.WriteString("\n" + aliases[name])
				delete(aliases, name)
			}
		}
	}
	return b.Bytes()
}

// uses says whether an alias's expression has another name as a word.
func uses(alias, name string) bool {
	_, expression, _ := strings.Cut(alias, " = ")
	return slices.Contains(strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune(" []|,\n", r) }), name)
}

// alias is a type that has no fields of its own: other properties of an object are as good as those that are named.
func (p *python) alias(name string, s *schema) string {
	b := &bytes.Buffer{}
	pyComment(b, "", s.Description)
	open := *s
	open.Properties = nil
	fmt.Fprintf(b, "%s: TypeAlias = %s\n", name, p.typ(&open, "", name))
	return b.String()
}

// define is the definition of a type.
func (p *python) define(name string, s *schema) string {
	b := &bytes.Buffer{}
	fields := slices.Sorted(maps.Keys(s.Properties))
	typed := func(field string) string {
		typ := p.typ(s.Properties[field], "", name+pascal(field))
		if !slices.Contains(s.Required, field) {
			typ = "NotRequired[" + typ + "]"
		}
		return typ
	}
	if slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(pythonWords, f) }) {
		pyComment(b, "", s.Description)
		fmt.Fprintf(b, "%s = TypedDict(\n    %q,\n    {\n", name, name)
		for _, f := range fields {
			pyComment(b, "        ", s.Properties[f].Description)
			fmt.Fprintf(b, "        %q: %q,\n", f, typed(f))
		}
		b.WriteString("    },\n)\n")
		return b.String()
	}
	fmt.Fprintf(b, "class %s(TypedDict):\n", name)
	if s.Description != "" {
		pyDoc(b, "    ", s.Description)
		b.WriteString("\n")
	}
	for _, f := range fields {
		pyComment(b, "    ", s.Properties[f].Description)
		fmt.Fprintf(b, "    %s: %s\n", f, typed(f))
	}
	return b.String()
}

func (p *python) union(all []*schema, prefix, context string) string {
	var names []string
	name := context
	for i, s := range all {
		if len(all) > 1 {
			name = fmt.Sprint(context, i+1)
		}
		if one := p.typ(s, prefix, name); !slices.Contains(names, one) {
			names = append(names, one)
		}
	}
	return strings.Join(names, " | ")
}

// typ is a type's name or expression. prefix is the module of the types, name what an object without one is called.
func (p *python) typ(s *schema, prefix, name string) string {
	switch {
	case s.Ref != "":
		return prefix + pascal(schemaName(s.Ref))
	case len(s.AnyOf) > 0:
		return p.union(s.AnyOf, prefix, name)
	case len(s.Enum) > 0:
		return "Literal[" + strings.NewReplacer("true", "True", "false", "False").Replace(strings.Join(s.values("None"), ", ")) + "]"
	case s.binary():
		return prefix + "File"
	}
	var names []string
	for _, k := range s.Type {
		names = append(names, p.kind(k, s, prefix, name))
	}
	if len(names) == 0 {
		return "Any"
	}
	return strings.Join(names, " | ")
}

func (p *python) kind(kind string, s *schema, prefix, name string) string {
	switch kind {
	case "string":
		return "str"
	case "boolean":
		return "bool"
	case "integer":
		return "int"
	case "number":
		return "float"
	case "null":
		return "None"
	case "array":
		return "list[" + p.typ(s.Items, prefix, name+"Item") + "]"
	}
	if len(s.Properties) > 0 && s.Others.schema == nil {
		p.types[name] = s
		return prefix + name
	}
	if s.Others.schema != nil {
		return "dict[str, " + p.typ(s.Others.schema, prefix, name+"Value") + "]"
	}
	return "dict[str, Any]"
}

func pyDoc(b *bytes.Buffer, indent, text string) {
	lines := described(strings.ReplaceAll(text, `\`, `\\`), 100-len(indent))
	if len(lines) == 1 {
		fmt.Fprintf(b, "%s\"\"\"%s\"\"\"\n", indent, lines[0])
		return
	}
	fmt.Fprintf(b, "%s\"\"\"%s\n\n", indent, lines[0])
	for _, l := range lines[1:] {
		b.WriteString(strings.TrimRight(indent+l, " ") + "\n")
	}
	fmt.Fprintf(b, "%s\"\"\"\n", indent)
}

func pyComment(b *bytes.Buffer, indent, text string) {
	if text == "" {
		return
	}
	for _, l := range described(text, 98-len(indent)) {
		fmt.Fprintf(b, "%s# %s\n", indent, l)
	}
}
