package tool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/inference"
	"parley/media/isolate"
)

// MCP is a server of the Model Context Protocol over Streamable HTTP.
type MCP struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // values may hold {{secret.NAME}}
	// AllowedTools are the tools that are offered; nil: all.
	AllowedTools []string `json:"allowed_tools"`
	TimeoutMS    int      `json:"timeout_ms"` // of each call, 100 to 30,000; 0: 8,000
}

// Bounds of what a server may bring, and of waiting for it.
const (
	connectMCP = 2 * time.Second // while a telephone rings: a dead server holds nothing up
	maxTools   = 64              // of one server
	listAge    = 5 * time.Minute
	deadAge    = 30 * time.Second // a server that failed is left alone for so long
	maxLists   = 1000
	maxStream  = 4 << 20 // bytes of one answer of a server
)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

func (f *form) mcp(path string) (Definition, error) {
	m := f.MCP
	switch {
	case !sourceName.MatchString(f.Name):
		return Definition{}, fault(path+".name", "must be 1 to 24 letters, digits, _ and -")
	case f.Description != "" || f.Parameters != nil:
		return Definition{}, fault(path, "the server describes its tools itself")
	case m == nil:
		return Definition{}, fault(path+".mcp", "is missing")
	case strings.ContainsAny(m.URL, "{}"):
		return Definition{}, fault(path+".mcp.url", "has no arguments")
	case len(m.AllowedTools) > maxTools:
		return Definition{}, fault(path+".mcp.allowed_tools", "more than %d", maxTools)
	}
	cancel, bad := f.cancels(path, false)
	return Definition{Kind: MCPKind, Spec: inference.Tool{Name: f.Name}, Cancel: cancel, MCP: m},
		cmp.Or(checkURL(path+".mcp.url", m.URL), checkHeaders(path+".mcp.headers", m.Headers), checkTimeout(path+".mcp", m.TimeoutMS), bad)
}

// lists keeps what servers offered, so that calls start fast.
type lists struct {
	mu   sync.Mutex
	kept map[string]kept
}

type kept struct {
	tools []inference.Tool
	err   error
	until time.Time
}

func (l *lists) get(key string) (kept, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.kept[key]
	return k, ok && time.Now().Before(k.until)
}

func (l *lists) put(key string, k kept) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) >= maxLists {
		for old := range l.kept { // any: it is asked for again
			delete(l.kept, old)
			break
		}
	}
	l.kept[key] = k
}

// mcpServer is a server as one conversation uses it. The connection is made when it
// is needed first and kept until the conversation ends, for servers have state.
type mcpServer struct {
	transport *mcp.StreamableClientTransport
	secrets   map[string]string
	patience  time.Duration
	outgrown  *atomic.Bool // an answer was too long; the protocol's library does not say why it gave up

	mu      sync.Mutex
	session *mcp.ClientSession // nil: not connected
	closed  bool
}

// mcp makes the functions of a server's tools.
func (p *Provider) mcp(ctx context.Context, set *Set, who Who, d Definition, secrets map[string]string) []Function {
	log := p.Log.With("account", who.Account, "server", d.Spec.Name)
	headers, err := expandAll(d.MCP.Headers, secrets)
	if err != nil {
		log.Warn("an MCP server cannot be used", "err", err)
		return nil
	}
	server := p.server(d.MCP.URL, who.Trace, headers, secrets)
	set.mu.Lock()
	set.servers = append(set.servers, server)
	set.mu.Unlock()
	identity, err := json.Marshal([]any{who.Account, d.MCP.URL, headers})
	if err != nil {
		return nil
	}
	key := fmt.Sprintf("%x", sha256.Sum256(identity))
	list, ok := p.lists.get(key)
	if !ok {
		list.tools, list.err = server.list(ctx)
		list.until = time.Now().Add(listAge)
		if list.err != nil {
			list.until = time.Now().Add(deadAge)
		}
		if ctx.Err() == nil { // a call that was given up says nothing of the server
			p.lists.put(key, list)
		}
	}
	if list.err != nil {
		log.Warn("an MCP server cannot be used", "err", list.err)
		return nil
	}
	var made []Function
	for _, t := range list.tools {
		if d.MCP.AllowedTools != nil && !slices.Contains(d.MCP.AllowedTools, t.Name) {
			continue
		}
		spec := t
		spec.Name = Clip(notInNames.ReplaceAllString(d.Spec.Name+"_"+t.Name, "_"), 64)
		made = append(made, Function{Spec: spec, Timeout: timeout(d.MCP.TimeoutMS), Cancel: d.Cancel,
			Run: func(ctx context.Context, arguments json.RawMessage) (string, error) {
				return server.call(ctx, t.Name, arguments)
			}})
	}
	return made
}

// server is a server that is not connected yet.
func (p *Provider) server(address, trace string, headers, secrets map[string]string) *mcpServer {
	client := *p.client
	client.Timeout = maxTimeout + connectMCP // saying goodbye to a server included
	outgrown := new(atomic.Bool)
	client.Transport = &sender{next: client.Transport, trace: trace, headers: headers, home: home(address), outgrown: outgrown}
	return &mcpServer{secrets: secrets, patience: p.patience, outgrown: outgrown, transport: &mcp.StreamableClientTransport{Endpoint: address,
		HTTPClient: &client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: -1}} // sender bounds the answers, and with them their events
}

func home(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return origin(u)
}

// sender adds a server's headers to requests that go there, and bounds the answers.
type sender struct {
	next     http.RoundTripper
	trace    string // traceparent; empty: none. The protocol's own requests have it, too
	headers  map[string]string
	home     string
	outgrown *atomic.Bool // set when an answer was too long
}

// RoundTrip implements http.RoundTripper.
func (s *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	if origin(r.URL) == s.home && r.Response == nil { // and not where it was sent on to
		r = r.Clone(r.Context())
		if s.trace != "" {
			r.Header.Set("Traceparent", s.trace)
		}
		for name, value := range s.headers {
			r.Header.Set(name, value)
		}
	}
	res, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = &bounded{ReadCloser: res.Body, left: maxStream, outgrown: s.outgrown}
	return res, nil
}

// bounded fails when there is more to read than allowed.
type bounded struct {
	io.ReadCloser
	left     int
	outgrown *atomic.Bool
}

var errTooMuch = errors.New("the answer is too long")

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.outgrown.Store(true)
		return 0, errTooMuch
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

var errClosed = errors.New("the conversation is over")

// connected returns the connection, and makes it if there is none.
func (m *mcpServer) connected(ctx context.Context) (*mcp.ClientSession, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, errClosed
	}
	if m.session != nil {
		return m.session, nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "parley", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, m.transport, nil)
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	m.session = session
	return session, nil
}

// drop forgets a connection that failed; the next call makes another.
func (m *mcpServer) drop(session *mcp.ClientSession) {
	m.mu.Lock()
	if m.session == session {
		m.session = nil
	}
	m.mu.Unlock()
	hangUp(session)
}

// hangUp does not wait: it asks the server, which may not answer. The transport's times bound it.
func hangUp(session *mcp.ClientSession) {
	isolate.Go("pipeline/tool/goodbye", nil, func() { _ = session.Close() })
}

func (m *mcpServer) close() {
	m.mu.Lock()
	session := m.session
	m.session, m.closed = nil, true
	m.mu.Unlock()
	if session != nil {
		hangUp(session)
	}
}

// list asks the server what tools it has.
func (m *mcpServer) list(ctx context.Context) ([]inference.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	session, err := m.connected(ctx)
	if err != nil {
		return nil, err
	}
	var tools []inference.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			m.drop(session)
			return nil, m.explain(ctx, err)
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil || len(schema) > maxSchema || t.Name == "" {
			continue // no model could use it
		}
		if tools = append(tools, inference.Tool{Name: t.Name, Description: Clip(t.Description, maxDescription), Parameters: schema}); len(tools) == maxTools {
			break
		}
	}
	return tools, nil
}

// call has the server run a tool.
func (m *mcpServer) call(ctx context.Context, name string, arguments json.RawMessage) (string, error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	var args map[string]any
	if err := json.Unmarshal(arguments, &args); err != nil || args == nil {
		return "", errors.New("the arguments are not a JSON object")
	}
	session, err := m.connected(ctx)
	if err != nil {
		return "", err
	}
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		if text, ok := said(err); ok {
			return "", errors.New(Clip(scrub(text, m.secrets), maxComplaint))
		}
		m.drop(session)
		return "", m.explain(ctx, err)
	}
	text := scrub(contents(res), m.secrets)
	if res.IsError {
		return "", errors.New(Clip(text, maxComplaint))
	}
	return text, nil
}

// explain is the part of a failure that may be shown.
func (m *mcpServer) explain(ctx context.Context, err error) error {
	if m.outgrown.Swap(false) && ctx.Err() == nil {
		return errTooMuch
	}
	return explain(ctx, err)
}

// said is what a server said about a request that it refuses, so that the
// connection is still good (JSON-RPC 2.0, section 5.1).
func said(err error) (string, bool) {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code != jsonrpc.CodeInvalidParams && e.Code != jsonrpc.CodeMethodNotFound && e.Code != jsonrpc.CodeInternalError {
		return "", false
	}
	return e.Message, true
}

// contents is what a model can read of a tool's result.
func contents(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				parts = append(parts, c.Resource.Text)
			}
		default:
			parts = append(parts, "(something that is no text)")
		}
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if b, err := plainJSON(res.StructuredContent); err == nil {
			return string(b)
		}
	}
	return strings.Join(parts, "\n")
}
