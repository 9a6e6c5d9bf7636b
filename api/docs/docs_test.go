package docs

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/billing"
	"parley/inference/remote"
)

type noKeys struct{}

func (noKeys) Authenticate(context.Context, string) (api.Principal, error) {
	return api.Principal{}, api.ErrMissingKey
}

type order struct {
	Body struct {
		Text  string `json:"text" doc:"What is said, in HTML <b>" minLength:"1" maxLength:"5000"`
		Lines []struct {
			Speed float64 `json:"speed" minimum:"0.5" maximum:"2" default:"1.05"`
		} `json:"lines,omitempty" maxItems:"3"`
		Voice string `json:"voice,omitempty" enum:"F1,M1" example:"F1"`
	}
}

type receipt struct {
	Tag  string `header:"ETag"`
	Body struct {
		ID string `json:"id"`
	}
}

// server is the documentation of an interface made for these tests.
func server() (*api.API, http.Handler) {
	return serverWith(Options{Card: billing.DefaultRateCard, Engines: []Engine{{Title: "Vendor, voices", Options: remote.Options{remote.Number("pitch", new(float64), 0.5, 2, "How <high>.")}},
		{Title: "Mute"}, {Title: "Vendor, both", Operators: true, Options: remote.Options{remote.Text("header", new(string), "")}}}})
}

func serverWith(o Options) (*api.API, http.Handler) {
	a := api.New(noKeys{})
	api.MountPricing(a, billing.DefaultRateCard)
	make := func(context.Context, *order) (*receipt, error) { return &receipt{}, nil }
	for path, access := range map[string]api.Access{"/tts/synthesize": api.Service, "/v1/agents": api.Management, "/ws-ticket": api.Minting} {
		api.Register(a, api.Route{Access: access, Operation: huma.Operation{
			Method: http.MethodPost, Path: path, OperationID: "post" + strings.ReplaceAll(path, "/", "-"), Summary: "Order " + path,
		}}, make)
	}
	a.Handle(api.Route{Access: api.Conversation, Operation: huma.Operation{
		Method: http.MethodGet, Path: "/ws/agent", OperationID: "talk-to-agent", Summary: "Talk",
		Responses: api.Answer(http.StatusSwitchingProtocols, "The conversation", ""),
	}}, http.NotFoundHandler())
	api.MountDocument(a)
	Mount(a, o)
	return a, a.Handler(api.Options{})
}

func get(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// pagePaths are the routes of the documentation, besides its assets. None of them
// is in the OpenAPI document.
var pagePaths = []string{"/docs", "/docs/", "/docs/agents", "/docs/api", "/docs/authentication", "/docs/billing", "/docs/callcenter", "/docs/calls", "/docs/carriers", "/docs/clients", "/docs/denoise", "/docs/deployment",
	"/docs/discovery", "/docs/engines", "/docs/errors", "/docs/limits", "/docs/management", "/docs/mcp", "/docs/messages", "/docs/migration", "/docs/recognition", "/docs/synthesis", "/docs/trunks",
	"/docs/trunks/3cx", "/docs/trunks/asterisk", "/docs/trunks/browser-phone", "/docs/trunks/freeswitch", "/docs/trunks/kamailio", "/docs/trunks/teams", "/docs/trunks/telnyx", "/docs/trunks/telnyx-stream", "/docs/trunks/twilio", "/docs/trunks/twilio-stream",
	"/docs/trunks/vonage", "/docs/trunks/vonage-stream", "/docs/webhooks"}

var (
	address = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchor  = regexp.MustCompile(` id="([^"]*)"`)
)

// TestEveryLinkLeadsSomewhere follows all links from the front page, and compares
// what it finds with the list above.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	a, h := server()
	anchors, wanted := map[string][]string{}, map[string]string{}
	seen, queue := map[string]bool{}, []string{"/docs/"}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		w := get(h, at)
		if to := w.Header().Get("Location"); to != "" {
			queue = append(queue, to)
			continue
		}
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", at, w.Code)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		for _, m := range anchor.FindAllStringSubmatch(w.Body.String(), -1) {
			if slices.Contains(anchors[at], m[1]) {
				t.Errorf("%s has two things called %s", at, m[1])
			}
			anchors[at] = append(anchors[at], m[1])
		}
		for _, m := range address.FindAllStringSubmatch(w.Body.String(), -1) {
			to, part, _ := strings.Cut(m[1], "#")
			if to == "" {
				to = at
			}
			if !strings.HasPrefix(to, "/") {
				t.Errorf("%s points outside: %s", at, to)
				continue
			}
			if to == "/app/" { // the dashboard, which this interface does not have
				continue
			}
			if part != "" {
				wanted[to+"#"+part] = at
			}
			queue = append(queue, to)
		}
	}
	for target, from := range wanted {
		to, part, _ := strings.Cut(target, "#")
		if !slices.Contains(anchors[to], part) {
			t.Errorf("%s points at %s, which is not there", from, target)
		}
	}
	var found []string
	for at := range seen {
		if !strings.HasPrefix(at, "/docs/assets/") && !strings.HasPrefix(at, "/openapi.") && at != "/asyncapi.yaml" {
			found = append(found, at)
		}
		if a.Document().Paths[at] != nil && !strings.HasPrefix(at, "/openapi.") && at != "/asyncapi.yaml" {
			t.Errorf("%s is in the document", at)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, pagePaths) {
		t.Errorf("the pages are %q", found)
	}
	if w := get(h, "/docs/nothing"); w.Code != http.StatusNotFound {
		t.Errorf("a page that does not exist: %d", w.Code)
	}
}

// TestPagesAreStrict: nothing inline, nothing from elsewhere, a policy that says so.
func TestPagesAreStrict(t *testing.T) {
	_, h := server()
	forbidden := regexp.MustCompile(`<style|<script[^>]*>[^<]|<[^>]+ (?:style|on[a-z]+)="|(?:src|href)="(?:https?:)?//`)
	for _, at := range pagePaths[2:] {
		w := get(h, at)
		if got := w.Header().Get("Content-Security-Policy"); got != policy {
			t.Errorf("%s: policy %q", at, got)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is open to pages of other sites", at)
		}
		if m := forbidden.FindString(w.Body.String()); m != "" {
			t.Errorf("%s holds %q", at, m)
		}
		if n := strings.Count(w.Body.String(), "<h1"); n != 1 && at != explorer {
			t.Errorf("%s has %d main headings", at, n)
		}
	}
}

func TestAssetsAreKeptAndCompressed(t *testing.T) {
	_, h := server()
	for _, f := range newAssets().Files {
		w := get(h, f.Path, "Accept-Encoding", "br, gzip;q=0.8")
		if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "gzip" || !strings.HasSuffix(w.Header().Get("Cache-Control"), "immutable") {
			t.Fatalf("%s: %d %v", f.Path, w.Code, w.Header())
		}
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		zipped, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		plain := get(h, f.Path, "Accept-Encoding", "gzip;q=0")
		if plain.Header().Get("Content-Encoding") != "" || plain.Body.String() != string(zipped) {
			t.Errorf("%s: plain and compressed differ", f.Path)
		}
		if again := get(h, f.Path, "If-None-Match", plain.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s again: %d", f.Path, again.Code)
		}
	}
}

func TestReference(t *testing.T) {
	_, h := server()
	synthesis := strings.Join(strings.Fields(get(h, "/docs/synthesis").Body.String()), " ")
	for _, want := range []string{
		`<span class="method POST">POST</span> <code>/tts/synthesize</code>`, "an API key or a ticket<",
		`<code>text</code> <span class="required">required</span></th> <td>string</td> <td><p>What is said, in HTML &lt;b&gt;</p> <p class="bounds">1 to 5000 characters</p>`,
		`<code>lines</code></th> <td>list of object or null</td>`, "at most 3 entries", `<code>lines[].speed</code>`, "0.5 to 2; default 1.05",
		"one of F1, M1", "for example <code>F1</code>", `<code>ETag</code>`, "Save speech as a WAV file</a>", "400, 401, 403, 413",
	} {
		if !strings.Contains(synthesis, want) {
			t.Errorf("the page on synthesis lacks %s", want)
		}
	}
	for at, want := range map[string]string{
		"/docs/agents": "an API key, a ticket or a session ticket<", "/docs/management": "an API key; tickets are refused<",
		"/docs/authentication": "an API key or a ticket, sent in a header<", "/docs/billing": "anybody; no credential<",
		"/docs/denoise": "This server offers none of it.",
	} {
		if !strings.Contains(get(h, at).Body.String(), want) {
			t.Errorf("%s lacks %q", at, want)
		}
	}
}

// TestOptionsOfEngines: agents' come first, the operator's in a table of their own.
func TestOptionsOfEngines(t *testing.T) {
	_, h := server()
	page := get(h, "/docs/agents").Body.String()
	at := 0
	for _, want := range []string{
		`<th scope="row">Vendor, voices</th><td><code>pitch</code></td><td>0.5 to 2</td><td>How &lt;high&gt;.</td>`, `<th scope="row">Mute</th><td>none</td>`,
		"the operator&rsquo;s", `<th scope="row">Vendor, both</th><td><code>header</code></td><td>a text</td>`,
	} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("the page on agents lacks %s, or has it elsewhere", want)
		}
		at += i
	}
}

func TestTheDocumentSpeaksOfPages(t *testing.T) {
	a, _ := server()
	if !strings.Contains(a.Document().Info.Description, "/docs") {
		t.Error(a.Document().Info.Description)
	}
}

func TestProse(t *testing.T) {
	got := prose("One `a<b` two.\n\n- first\n  goes on\n- `second`\n\n```json\n{\"x\": \"`\"}\n```\n")
	want := "<p>One <code>a&lt;b</code> two.</p>\n<ul><li>first\n  goes on</li><li><code>second</code></li></ul>\n" +
		"<pre tabindex=\"0\"><code>{&#34;x&#34;: &#34;`&#34;}</code></pre>\n"
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestPageOf(t *testing.T) {
	for at, want := range map[string]string{
		"/ws": "synthesis", "/ws/tts": "synthesis", "/ws/stt": "recognition", "/ws/agent": "agents", "/ws/agent/voices": "discovery",
		"/v1/agents/{id}": "management", "/v1/pricing": "billing", "/v1/session-tickets": "authentication", "/ws-ticket": "authentication",
		"/unheard-of": "discovery", "/api/tts/tasks/{task_id}": "synthesis", "/api/status/health": "discovery", "/openapi.json": "discovery",
	} {
		if got, _ := pageOf(at); got.name != want {
			t.Errorf("%s is on the page %s, want %s", at, got.name, want)
		}
	}
}

func TestInOrder(t *testing.T) {
	want := []string{"/ws/tts", "/tts/synthesize", "/api/tts/{voice_id}/async", "/api/tts/tasks/{task_id}", "/api/tts/tasks/{task_id}/download"}
	got := slices.Clone(want)
	slices.Sort(got)
	if slices.SortFunc(got, inOrder); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// errorRow is a row of the error table.
var errorRow = regexp.MustCompile(`problem\((\d+), "([a-z_.]+)", "[^"]*", (true|false)`)

// TestErrorPage compares the page with the table that answers are made from.
func TestErrorPage(t *testing.T) {
	text, err := os.ReadFile("../errors.go")
	if err != nil {
		t.Fatal(err)
	}
	_, h := server()
	page := get(h, "/docs/errors").Body.String()
	said := map[string]bool{}
	for _, m := range regexp.MustCompile(`<code>([a-z_.]+)</code></th><td>(\d+)</td><td>.*</td><td>(retryable|final)</td>`).FindAllStringSubmatch(page, -1) {
		said[m[2]+" "+m[1]+" "+m[3]] = true
	}
	for _, m := range errorRow.FindAllStringSubmatch(string(text), -1) {
		row := m[1] + " " + m[2] + " " + map[string]string{"true": "retryable", "false": "final"}[m[3]]
		if _, ok := said[row]; !ok {
			t.Errorf("the page on errors lacks %s", row)
		}
		said[row] = false
	}
	for row, extra := range said {
		if extra {
			t.Errorf("the page on errors has %s, which is never sent", row)
		}
	}
}
