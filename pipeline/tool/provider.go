package tool

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"parley/media/isolate"
	"parley/pipeline/tool/crm"
)

// Config is what a Provider needs.
type Config struct {
	Guard   *Guard
	Secrets Secrets
	// WebSearch searches the web; nil: web_search is not offered.
	WebSearch *WebSearch
	// CRM is the operator's customer database; nil: only agents that name one have it.
	CRM crm.CRM
	Log *slog.Logger
}

// Provider makes the functions of conversations from the definitions of their
// agents. It is safe for use from several goroutines.
type Provider struct {
	Config
	client   *http.Client
	lists    lists
	patience time.Duration // with MCP servers that are connected to
}

// New returns a provider.
func New(c Config) *Provider {
	return &Provider{Config: c, client: c.Guard.Client(), lists: lists{kept: map[string]kept{}}, patience: connectMCP}
}

// Who is whose conversation it is.
type Who struct {
	Account string
	// Other is the telephone number of the far end, E.164; empty: not known.
	Other string
	// Trace is the traceparent header of requests that functions make (W3C Trace
	// Context, section 3.2); empty: they have none but what an agent's definition sets.
	Trace string
}

// Set is the functions of one conversation. It must be closed after it.
type Set struct {
	Functions []Function

	mu      sync.Mutex
	servers []*mcpServer
	others  []*Set
	closed  bool
}

// Close ends the connections that functions keep. Those that still run fail.
func (s *Set) Close() {
	s.mu.Lock()
	servers, others := s.servers, s.others
	s.servers, s.others, s.closed = nil, nil, true
	s.mu.Unlock()
	for _, m := range servers {
		m.close()
	}
	for _, other := range others {
		other.Close()
	}
}

// Also has other closed with s, at once when s is closed already.
func (s *Set) Also(other *Set) {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.others = append(s.others, other)
	}
	s.mu.Unlock()
	if closed {
		other.Close()
	}
}

// secretsTime bounds reading an account's secrets.
const secretsTime = 3 * time.Second

// Open makes the functions of a conversation. It takes as long as the slowest MCP
// server whose tools are not known yet, two seconds at most; what cannot be had is
// left out and logged. Definitions of Client are not its business.
func (p *Provider) Open(ctx context.Context, who Who, defs []Definition) *Set {
	set := &Set{}
	secrets := p.secrets(ctx, who.Account, defs)
	made := make([][]Function, len(defs))
	var wg sync.WaitGroup
	for i, d := range defs {
		switch d.Kind {
		case HTTPKind:
			made[i] = []Function{{Spec: d.Spec, Timeout: timeout(d.HTTP.TimeoutMS), Cancel: d.Cancel,
				Run: (&requester{d.HTTP, p.client, secretsFor(d.HTTP.URL, secrets)}).run}}
		case MCPKind:
			wg.Add(1)
			isolate.Go("pipeline/tool/server", nil, func() { made[i] = p.mcp(ctx, set, who, d, secretsFor(d.MCP.URL, secrets)) }, wg.Done)
		case Search:
			if p.WebSearch != nil {
				made[i] = []Function{{Spec: d.Spec, Timeout: defaultTimeout, Cancel: true, Run: p.WebSearch.run, Meter: Searched}}
			}
		case CRMKind:
			made[i] = p.lookup(who, d.CRM, secretsFor(d.CRM.address(), secrets))
		}
	}
	wg.Wait()
	taken := map[string]bool{}
	for _, name := range reserved {
		taken[name] = name != searchName && name != lookupName
	}
	for _, f := range slices.Concat(made...) {
		if taken[f.Spec.Name] {
			p.Log.Warn("the name of an agent's function is taken", "account", who.Account, "function", f.Spec.Name)
			continue
		}
		taken[f.Spec.Name] = true
		f.Run = inTrace(who.Trace, f.Run)
		set.Functions = append(set.Functions, f)
	}
	return set
}

// secrets reads the secrets that definitions refer to. Without them the functions
// fail, each by itself.
func (p *Provider) secrets(ctx context.Context, account string, defs []Definition) map[string]Secret {
	var names []string
	for _, d := range defs {
		names = append(names, d.secrets()...)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	ctx, cancel := context.WithTimeout(ctx, secretsTime)
	defer cancel()
	values, err := p.Secrets(ctx, account, slices.Compact(names))
	if err != nil {
		p.Log.Warn("the secrets of an account could not be read", "account", account, "err", err)
	}
	return values
}

// secrets lists the secrets that a definition refers to.
func (d *Definition) secrets() []string {
	var texts []string
	add := func(values map[string]string) {
		for _, v := range values {
			texts = append(texts, v)
		}
	}
	switch {
	case d.HTTP != nil:
		add(d.HTTP.Headers)
		add(d.HTTP.Query)
	case d.MCP != nil:
		add(d.MCP.Headers)
	case d.CRM != nil:
		texts = append(texts, d.CRM.APIKey)
	}
	return referred(texts...)
}
