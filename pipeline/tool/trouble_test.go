package tool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/pipeline/tool/crm"
)

// TestServicesInTrouble: whatever a search service, a customer database or an MCP server
// does once it is called, the function ends when its time is over or nobody wants it any
// more, with words that a model can read.
func TestServicesInTrouble(t *testing.T) {
	const gave, late = "the request was given up", "the service did not answer in time"
	events := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "day"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
		return s
	}, nil)
	long := strings.Repeat("x", 1<<20)
	for _, kind := range []struct{ name, def, arguments, answer string }{
		{"search", `{"type":"web_search"}`, `{"query":"x"}`, `{"results":[{"title":"LONG"},{"title":"b"}]}`},
		{"the operator's database", `{"type":"crm"}`, `{}`, `{"contacts":[{"id":"c1","name":"LONG"}]}`},
		{"an agent's database", `{"type":"crm","crm":{"provider":"rest","url":"URL"}}`, `{}`, `{"contacts":[{"id":"c1","name":"LONG"}]}`},
		{"MCP", `{"type":"mcp","name":"s","mcp":{"url":"URL/mcp"}}`, `{}`, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"LONGLONGLONGLONG"}]}}`},
	} {
		for name, tt := range map[string]struct {
			answer func(w http.ResponseWriter, r *http.Request)
			want   string // empty: any error
		}{
			"hangs":       {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, late},
			"is given up": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, gave},
			"fails":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, ""},
			"talks at length": {func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, strings.ReplaceAll(kind.answer, "LONG", long))
			}, ""},
		} {
			t.Run(kind.name+" "+name, func(t *testing.T) {
				asked := make(chan struct{}, 8)
				u, _ := counted(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					if r.URL.Path == "/mcp" && !strings.Contains(string(body), "tools/call") {
						r.Body = io.NopCloser(strings.NewReader(string(body)))
						events.ServeHTTP(w, r)
						return
					}
					asked <- struct{}{}
					tt.answer(w, r)
				})
				b := newBench(t)
				var err error
				if b.WebSearch, err = NewWebSearch(u.String(), ""); err != nil {
					t.Fatal(err)
				}
				if b.CRM, err = NewCRM(crm.REST, u.String(), ""); err != nil {
					t.Fatal(err)
				}
				p := New(b.Config)
				p.patience = time.Minute // the machine may be busy
				set := p.Open(t.Context(), b.who, b.parse("["+strings.ReplaceAll(kind.def, "URL", u.String())+"]"))
				defer set.Close()
				if len(set.Functions) != 1 {
					t.Fatalf("%d functions\n%s", len(set.Functions), b.log.String())
				}
				ctx, cancel := context.WithTimeout(t.Context(), map[bool]time.Duration{true: 300 * time.Millisecond, false: time.Minute}[tt.want == late])
				defer cancel()
				if tt.want == gave {
					go func() { <-asked; cancel() }()
				}
				result, err := set.Functions[0].Run(ctx, json.RawMessage(kind.arguments))
				switch {
				case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
					t.Errorf("%d bytes, %v", len(result), err)
				case tt.want != "" && err.Error() != tt.want:
					t.Errorf("%v, want %s", err, tt.want)
				case len(err.Error()) > maxComplaint:
					t.Errorf("an error of %d bytes", len(err.Error()))
				}
			})
		}
	}
}
