package tool

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/pipeline/tool/crm"
)

const ourTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// headers notes the traceparent headers that a service is sent, with what was asked.
type headers struct {
	mu   sync.Mutex
	list []string
}

func (h *headers) note(r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, r.Method+" "+r.URL.Path+" "+strings.Join(r.Header.Values("Traceparent"), ","))
}

func (h *headers) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	return list
}

// TestTraceOfServices: requests to search services, customer databases and MCP servers
// belong to the trace of their conversation as those of HTTP functions do, and without
// one carry nothing.
func TestTraceOfServices(t *testing.T) {
	events := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "day"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "monday"}}}, nil, nil
		})
		return s
	}, nil)
	for _, tt := range []struct{ name, def, arguments string }{
		{"search", `{"type":"web_search"}`, `{"query":"x"}`},
		{"the operator's database", `{"type":"crm"}`, `{}`},
		{"an agent's database", `{"type":"crm","crm":{"provider":"rest","url":"URL"}}`, `{}`},
		{"MCP", `{"type":"mcp","name":"s","mcp":{"url":"URL/mcp"}}`, `{}`},
	} {
		for _, trace := range []string{"", ourTrace} {
			t.Run(tt.name+trace, func(t *testing.T) {
				var seen headers
				u, _ := counted(t, func(w http.ResponseWriter, r *http.Request) {
					if seen.note(r); r.URL.Path == "/mcp" {
						events.ServeHTTP(w, r)
						return
					}
					_, _ = io.WriteString(w, `{"results":[{"title":"a"}],"contacts":[{"id":"c1"}]}`)
				})
				b := newBench(t)
				b.who.Trace = trace
				var err error
				if b.WebSearch, err = NewWebSearch(u.String(), ""); err != nil {
					t.Fatal(err)
				}
				if b.CRM, err = NewCRM(crm.REST, u.String(), ""); err != nil {
					t.Fatal(err)
				}
				p := New(b.Config)
				p.patience = time.Minute // the machine may be busy
				set := p.Open(t.Context(), b.who, b.parse("["+strings.ReplaceAll(tt.def, "URL", u.String())+"]"))
				defer set.Close()
				if len(set.Functions) != 1 {
					t.Fatalf("%d functions\n%s", len(set.Functions), b.log.String())
				}
				if _, err := set.Functions[0].Run(t.Context(), json.RawMessage(tt.arguments)); err != nil {
					t.Error(err)
				}
				list := seen.take()
				for _, r := range list {
					if !strings.HasSuffix(r, " "+trace) {
						t.Errorf("sent %q, want the trace %q", r, trace)
					}
				}
				if len(list) == 0 {
					t.Error("nothing was sent")
				}
			})
		}
	}
}

// TestTraceOfRedirects: what a service sends on to itself is the same conversation's;
// another host learns nothing of it.
func TestTraceOfRedirects(t *testing.T) {
	var seen headers
	far, _ := counted(t, func(w http.ResponseWriter, r *http.Request) {
		seen.note(r)
		if r.URL.Path == "/far" {
			http.Redirect(w, r, "/farther", http.StatusFound)
		}
	})
	near, _ := counted(t, func(w http.ResponseWriter, r *http.Request) {
		seen.note(r)
		if r.URL.Path == "/near" {
			http.Redirect(w, r, "/nearer", http.StatusFound)
			return
		}
		http.Redirect(w, r, far.String()+"/far", http.StatusFound)
	})
	b := newBench(t)
	b.who.Trace = ourTrace
	if _, err := b.run(order("GET", near.String()+"/near", ""), `{"id":1}`); err != nil {
		t.Fatal(err)
	}
	want := "GET /near " + ourTrace + "|GET /nearer " + ourTrace + "|GET /far |GET /farther "
	if got := strings.Join(seen.take(), "|"); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}
