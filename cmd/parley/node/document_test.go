package node

import (
	"bytes"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"parley/api"
	"parley/api/mcp"
	"parley/api/socket"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
)

// documentFile is the published description of the HTTP interface. To renew it run
// the test with PARLEY_GOLDEN=update.
const documentFile = "../../../api/openapi.yaml"

// TestDocument keeps the published document what the routes are.
func TestDocument(t *testing.T) {
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_PAYMENTS=simulated"}})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{cfg: cfg, log: slog.New(slog.DiscardHandler), sockets: socket.NewSet()}
	if n.engines, err = engine.New(cfg, n.log); err != nil {
		t.Fatal(err)
	}
	doc, err := n.routes().Published()
	if err != nil {
		t.Fatal(err)
	}
	got, err := doc.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("PARLEY_GOLDEN") == "update" {
		if err := os.WriteFile(documentFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the routes are: run this test with PARLEY_GOLDEN=update and look at the difference", documentFile)
	}
}

// TestDocumentationOfOptions: the page on agents has a row for each option that an engine takes, and no other.
func TestDocumentationOfOptions(t *testing.T) {
	cfg, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{cfg: cfg, log: slog.New(slog.DiscardHandler), sockets: socket.NewSet()}
	if n.engines, err = engine.New(cfg, n.log); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	n.routes().Handler(api.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/docs/agents", nil))
	page := w.Body.String()
	rows := 0
	for _, e := range engine.Documented() {
		for _, o := range e.Options {
			rows++
			row := "<th scope=\"row\">" + e.Title + "</th><td><code>" + o.Name + "</code></td><td>" + o.Allowed() + "</td><td>" + html.EscapeString(o.Doc) + "</td>"
			if !strings.Contains(page, row) {
				t.Errorf("the page lacks %s", row)
			}
		}
		if len(e.Options) == 0 {
			rows++
		}
	}
	const begin = "</h2>"
	_, part, _ := strings.Cut(page, `id="engines"`)
	part, _, _ = strings.Cut(part[strings.Index(part, begin)+len(begin):], "<h2")
	if n := strings.Count(part, "<tr><th scope=\"row\">"); n != rows {
		t.Errorf("the page has %d rows, there are %d options", n, rows)
	}
}

// TestDocumentationOfTools: the page on MCP has a row for each tool that the server has, and the address of each resource.
func TestDocumentationOfTools(t *testing.T) {
	cfg, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{cfg: cfg, log: slog.New(slog.DiscardHandler), sockets: socket.NewSet()}
	if n.engines, err = engine.New(cfg, n.log); err != nil {
		t.Fatal(err)
	}
	a := n.routes()
	w := httptest.NewRecorder()
	a.Handler(api.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/docs/mcp", nil))
	page, tools := w.Body.String(), mcp.ToolsOf(a.Document())
	names := map[string]bool{}
	for _, tool := range tools {
		names[tool.Name] = true
		if !strings.Contains(page, `<tr><th scope="row"><code>`+tool.Name+`</code></th><td>`) || !strings.Contains(page, "<td><code>"+tool.Route+"</code></td><td>"+tool.Effect+"</td>") {
			t.Errorf("the page lacks %+v", tool)
		}
		for _, argument := range append(tool.Needs, tool.Takes...) {
			if !strings.Contains(page, "<code>"+argument+"</code>") {
				t.Errorf("the page lacks the argument %s of %s", argument, tool.Name)
			}
		}
		if tool.Resource != "" && !strings.Contains(page, "<code>"+tool.Resource+"</code>") {
			t.Errorf("the page lacks %s", tool.Resource)
		}
	}
	for _, name := range []string{"synthesize_speech", "get_agent", "place_call", "hang_up", "get_transcript", "assign_number", "get_statistics", "search_knowledge", "run_tests"} {
		if !names[name] {
			t.Errorf("the server has no tool %s", name)
		}
	}
}
