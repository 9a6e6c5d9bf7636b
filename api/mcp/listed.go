package mcp

import (
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Listed is a tool as the documentation shows it.
type Listed struct {
	Name, Title string
	Route       string   // the method and the path that it asks
	Needs       []string // arguments that must be given
	Takes       []string // those that may be
	Effect      string   // what its annotations say
	Resource    string   // the address, or its template, at which the same is read; empty: none
}

const toolsKey = "tools" // of []Listed in the operation's metadata

// ToolsOf are the tools of the endpoint that a document describes; none when it describes none.
func ToolsOf(doc *huma.OpenAPI) []Listed {
	item := doc.Paths[path]
	if item == nil || item.Post == nil {
		return nil
	}
	tools, _ := item.Post.Metadata[toolsKey].([]Listed)
	return tools
}

// path is where the endpoint is.
const path = "/mcp"

// catalogue adds tools to a server and lists them.
type catalogue struct {
	server *mcp.Server
	listed []Listed
}

// add adds a tool that asks a route.
func (c *catalogue) add(t *mcp.Tool, route string, h mcp.ToolHandler) {
	c.server.AddTool(t, h)
	l := Listed{Name: t.Name, Title: t.Title, Route: route, Effect: "destructive"}
	schema, _ := t.InputSchema.(map[string]any)
	l.Needs, _ = schema["required"].([]string)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(l.Needs, name) {
			l.Takes = append(l.Takes, name)
		}
	}
	switch a := t.Annotations; {
	case a.ReadOnlyHint:
		l.Effect = "read-only"
	case !*a.DestructiveHint:
		l.Effect = "additive"
	case *a.OpenWorldHint:
		l.Effect = "destructive, open world"
	}
	c.listed = append(c.listed, l)
}

// reads notes where a tool's answer is read.
func (c *catalogue) reads(r resource) {
	for i := range c.listed {
		if c.listed[i].Name == r.tool {
			c.listed[i].Resource = r.uri
		}
	}
}
