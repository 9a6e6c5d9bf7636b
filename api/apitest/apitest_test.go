package apitest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
)

// note is what the routes of the test answer.
type note struct {
	Body struct {
		Text string `json:"text"`
	}
}

// routes is an interface of two routes.
func routes() *api.API {
	a := api.New(nil)
	api.Register(a, api.Route{Operation: huma.Operation{Method: "GET", Path: "/notes/{id}", OperationID: "get-note"}},
		func(context.Context, *struct {
			ID string `path:"id"`
		}) (*note, error) {
			return &note{}, nil
		})
	a.Handle(api.Route{Operation: huma.Operation{Method: "POST", Path: "/sound", OperationID: "make-sound",
		Responses: map[string]*huma.Response{
			"200": {Description: "A sound", Content: map[string]*huma.MediaType{"audio/wav": {Schema: api.Bytes("audio/wav")}}},
			"204": {Description: "Silence"},
		}}}, http.NotFoundHandler())
	return a
}

const refused = `{"code":"request.not_found","error":"There is nothing.","retryable":false}`

// cases are answers, and what of a complaint about them must be said.
var cases = []struct {
	name, method, path string
	status             int
	kind, body         string
	wrong              string // empty: the document says so
}{
	{"as it is", "GET", "/notes/1", 200, "application/json", `{"text":"a","more":1}`, ""},
	{"the charset does not matter", "GET", "/notes/1", 200, "application/json; charset=utf-8", `{"text":"a"}`, ""},
	{"a field of another type", "GET", "/notes/1", 200, "application/json", `{"text":1}`, "text"},
	{"a field that is missing", "GET", "/notes/1", 200, "application/json", `{}`, "text"},
	{"no JSON", "GET", "/notes/1", 200, "application/json", `{`, "decode"},
	{"another media type", "GET", "/notes/1", 200, "text/plain", `a`, "text/plain"},
	{"no media type", "GET", "/notes/1", 200, "", `{"text":"a"}`, "Content-Type"},
	{"an error", "GET", "/notes/1", 500, "application/json", refused, ""},
	{"an error of another form", "GET", "/notes/1", 500, "application/json", `{"error":"x"}`, "code"},
	{"a status that is not said", "GET", "/notes/1", 402, "application/json", refused, "402"},
	{"HEAD", "HEAD", "/notes/1", 200, "", "", ""},
	{"HEAD with such a status", "HEAD", "/notes/1", 402, "", "", "402"},
	{"sound", "POST", "/sound", 200, "audio/wav", "RIFF", ""},
	{"sound of another kind", "POST", "/sound", 200, "audio/mpeg", "ID3", "audio/mpeg"},
	{"nothing", "POST", "/sound", 204, "", "", ""},
	{"nothing with a body", "POST", "/sound", 204, "text/plain", "x", "no body"},
	{"another path", "GET", "/nothing", 404, "application/json", refused, ""},
	{"another path that is there", "GET", "/nothing", 200, "application/json", `{}`, "200"},
	{"another path that is refused as text", "GET", "/nothing", 404, "text/plain", "404 page not found", "text/plain"},
	{"another path that is refused in another form", "GET", "/nothing", 404, "application/json", `{"code":1}`, "code"},
	{"another path that refuses the method", "GET", "/nothing", 405, "application/json", refused, "405"},
	{"another method", "DELETE", "/notes/1", 405, "application/json", refused, ""},
	{"another method that is not there", "DELETE", "/notes/1", 404, "application/json", refused, "404"},
	{"a preflight", "OPTIONS", "/notes/1", 204, "", "", ""},
	{"a preflight of nothing", "OPTIONS", "/nothing", 204, "", "", "204"},
}

func TestJudge(t *testing.T) {
	d, err := Of(routes())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range cases {
		resp := &http.Response{StatusCode: tt.status, Header: http.Header{}}
		if tt.kind != "" {
			resp.Header.Set("Content-Type", tt.kind)
		}
		err := d.Judge(httptest.NewRequest(tt.method, tt.path, nil), resp, []byte(tt.body))
		if (err != nil) != (tt.wrong != "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.wrong)
		}
	}
}

// complaints is a test that notes how it fails.
type complaints struct {
	testing.TB
	list []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

// TestWays has every answer judged on its way out of a handler and into a client,
// and it arrives as it was.
func TestWays(t *testing.T) {
	for _, tt := range cases {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil // none is guessed
			if tt.kind != "" {
				w.Header().Set("Content-Type", tt.kind)
			}
			w.WriteHeader(tt.status)
			for _, c := range tt.body { // in pieces
				_, _ = io.WriteString(w, string(c))
				w.(http.Flusher).Flush()
			}
		})
		for _, way := range []string{"handler", "client"} {
			wrong, handler := &complaints{TB: t}, http.Handler(h)
			client := &http.Client{}
			if way == "handler" {
				handler = Judged(wrong, routes(), h)
			} else {
				d, err := Of(routes())
				if err != nil {
					t.Fatal(err)
				}
				client = Client(wrong, d)
			}
			got := ask(t, client, handler, tt.method, tt.path)
			want := tt.body
			if tt.status == 204 {
				want = "" // there is no way to send one
			}
			if got != want {
				t.Errorf("%s, %s: %q arrives", way, tt.name, got)
			}
			if should := tt.wrong != "" && want == tt.body; (len(wrong.list) == 1) != should || len(wrong.list) > 1 {
				t.Errorf("%s, %s: %q", way, tt.name, wrong.list)
			}
		}
	}
}

// ask is the body of one answer. The server has ended when it returns.
func ask(t *testing.T, client *http.Client, h http.Handler, method, path string) string {
	t.Helper()
	s := httptest.NewServer(h)
	defer s.Close()
	req, err := http.NewRequest(method, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
