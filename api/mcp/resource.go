package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/api"
)

// resource is an address at which a host reads what a tool answers.
type resource struct{ uri, tool string }

// resources are all of them.
var resources = []resource{
	{"parley://agents", "list_agents"},
	{"parley://agents/schema", "get_agent_schema"},
	{"parley://agents/" + variable, "get_agent"},
	{"parley://agents/" + variable + "/tests", "list_tests"},
	{"parley://calls/" + variable, "get_call"},
	{"parley://calls/" + variable + "/transcript", "get_transcript"},
	{"parley://numbers", "list_numbers"},
	{"parley://statistics", "get_statistics"},
	{"parley://balance", "get_balance"},
	{"parley://simulations/" + variable, "get_simulation"},
}

const (
	variable  = "{id}" // the one of templates (RFC 6570); the argument of tools has its name
	scheme    = "parley://"
	mediaJSON = "application/json"
)

// add adds the resource to a server.
func (r resource) add(server *mcp.Server, t *apiTool) {
	about, name := t.describe(), strings.TrimPrefix(r.uri, scheme)
	if strings.Contains(r.uri, variable) {
		server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: r.uri, Name: name, Title: about.Title, Description: about.Description, MIMEType: mediaJSON}, r.reader(t))
		return
	}
	server.AddResource(&mcp.Resource{URI: r.uri, Name: name, Title: about.Title, Description: about.Description, MIMEType: mediaJSON}, r.reader(t))
}

// reader answers with what the tool does.
func (r resource) reader(t *apiTool) mcp.ResourceHandler {
	before, after, named := strings.Cut(r.uri, variable)
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		v, _ := ctx.Value(callKey{}).(*toolCall)
		arguments := json.RawMessage("{}")
		if named {
			text, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, before), after))
			if err != nil {
				return nil, mcp.ResourceNotFoundError(req.Params.URI)
			}
			if arguments, err = encode(map[string]string{"id": text}); err != nil {
				return nil, err
			}
		}
		text, err := t.answer(v.ctx, arguments)
		if err != nil {
			return nil, unread(req.Params.URI, err)
		}
		head, note := bounded(text)
		// It is the account's own: who caches for others must not keep it.
		out := &mcp.ReadResourceResult{Cacheable: mcp.Cacheable{CacheScope: "private"}, Contents: []*mcp.ResourceContents{{Text: head}}}
		if note != "" {
			out.Contents[0].MIMEType = "text/plain" // the beginning of JSON is none
			out.Contents = append(out.Contents, &mcp.ResourceContents{MIMEType: "text/plain", Text: note})
		}
		return out, nil
	}
}

// unread is why a resource cannot be read, in the words of the error table.
func unread(uri string, err error) error {
	p := api.ProblemOf(err)
	if p.Status == http.StatusNotFound {
		return mcp.ResourceNotFoundError(uri)
	}
	whole, _ := encode(p) // plain fields
	refused := &jsonrpc.Error{Code: codeInvalidRequest, Message: fmt.Sprintf("%s: %s", p.Code, p.Message), Data: whole}
	if p.Status >= http.StatusInternalServerError {
		refused.Code = codeInternal
	}
	return refused
}
