package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard/dashboardtest"
	"parley/api/manage"
	"parley/api/wire"
	"parley/store"
	"parley/store/people"
)

// fakeTrial stands for running a function: it answers with what it was asked.
func fakeTrial(_ context.Context, _ string, tools json.RawMessage, name string, arguments json.RawMessage) (wire.FunctionTest, error) {
	switch {
	case strings.Contains(string(arguments), "slow"):
		return wire.FunctionTest{Outcome: "timeout", Result: `{"error":"the function did not answer in time"}`, TookMS: 8000}, nil
	case strings.Contains(string(arguments), "404"):
		return wire.FunctionTest{Outcome: "error", Result: `{"error":"the service answered with status 404 <b>no</b>"}`, TookMS: 12}, nil
	}
	return wire.FunctionTest{Outcome: "ok", Result: fmt.Sprintf(`{"status":201,"body":{"asked":%q,"with":%s,"of":%q}}`, name, arguments, tools), TookMS: 34}, nil
}

// allKinds are functions of all kinds, some with more than their form has a field for.
const allKinds = `[
	{"type":"http","name":"order_status","description":"Returns the status.","later":1,"on_interrupt":"continue",
	 "parameters":{"type":"object","properties":{"order":{"type":"string","description":"Six digits"},"size":{"type":"string","enum":["small","large"]},"n":{"type":"integer"}},"required":["order"]},
	 "http":{"url":"https://api.example.com/orders/{order}","method":"GET","headers":{"B":"{{secret.KEY}}","A":"x = y"},"query":{"n":"{n}"},"timeout_ms":2000,"retries":1}},
	{"type":"http","name":"book","parameters":{"type":"object","properties":{"list":{"type":"array","items":{"type":"string"}}}},
	 "http":{"method":"POST","url":"https://api.example.com/book","body":["{list}",{"z":1.50,"a":"{list}"}],"idempotency_header":"Idempotency-Key"}},
	{"type":"function","function":{"name":"show_map","description":"Shows it.","strict":true,"parameters":{"type":"object","properties":{"place":{"type":"string"}}}}},
	{"type":"mcp","name":"files","mcp":{"url":"https://mcp.example.com/","allowed_tools":["a","b"],"headers":{"K":"v"}}},
	{"type":"web_search"},
	{"type":"crm","crm":{"provider":"rest","url":"https://crm.example.com","lookup":false}},
	{"type":"http","name":"plain","http":{"method":"DELETE","url":"https://api.example.com/x","body":"{whole}"}}]`

// functionSite is a site with an agent that has functions of all kinds.
func functionSite(t *testing.T) (s *dashboardtest.Site, a *store.Agent, at string) {
	t.Helper()
	s = agentSite(t).SignIn()
	with := lola
	with.Tools = json.RawMessage(allKinds)
	a = makeAgent(s, s.Account, with)
	return s, a, "/app/agents/" + a.ID + "/functions"
}

// TestFunctionsStayAsTheyAre: a form that is saved as it is shown changes nothing, whatever the kind of function.
func TestFunctionsStayAsTheyAre(t *testing.T) {
	s, a, at := functionSite(t)
	list := html.UnescapeString(s.Get(at).Body)
	for i, want := range []string{"order_status", "book", "show_map", "files", "Web search", "Customer database", "plain"} {
		one := fmt.Sprintf("%s/%d", at, i+1)
		if !strings.Contains(list, `<a href="`+one+`">`+want+`</a>`) {
			t.Errorf("the list has no %s", want)
		}
		fields := entries(s.Get(one).Body)
		if w := s.Post(one, fields...); w.Status != http.StatusSeeOther || w.Header.Get("Location") != at {
			t.Errorf("%s: %d %s\n%q", want, w.Status, html.UnescapeString(w.Body), fields)
		}
		if !strings.Contains(s.Get(at).Body, "Nothing was changed.") {
			t.Errorf("%s: something was changed", want)
		}
	}
	if saved, err := s.DB.Agent(t.Context(), s.Account, a.ID); err != nil || saved.Version != 1 {
		t.Errorf("%+v %v", saved, err)
	}
}

// TestFunctionsAreEntered: what is written into the fields is what the document has then, and nothing else is touched.
func TestFunctionsAreEntered(t *testing.T) {
	for _, tt := range []struct {
		no     int
		fields []string
		want   string // what differs
	}{
		{1, []string{"http_url", "https://api.example.com/o/{order}", "http_timeout_ms", ""}, `[{"path":"tools[0].http.timeout_ms","before":2000},{"path":"tools[0].http.url","before":"https://api.example.com/orders/{order}","after":"https://api.example.com/o/{order}"}]`},
		{1, []string{"http_headers", "B = {{secret.OTHER}}"}, `[{"path":"tools[0].http.headers.A","before":"x = y"},{"path":"tools[0].http.headers.B","before":"{{secret.KEY}}","after":"{{secret.OTHER}}"}]`},
		{1, []string{"on_interrupt", ""}, `[{"path":"tools[0].on_interrupt","before":"continue"}]`},
		{1, []string{"parameters_description", "The number"}, `[{"path":"tools[0].parameters.properties.order.description","before":"Six digits","after":"The number"}]`},
		{2, []string{"http_body", "list: '{list}'"}, `[{"path":"tools[1].http.body","before":["{list}",{"a":"{list}","z":1.50}],"after":{"list":"{list}"}}]`},
		{3, []string{"function_description", ""}, `[{"path":"tools[2].function.description","before":"Shows it."}]`},
		{4, []string{"mcp_allowed_tools", "b\r\nc"}, `[{"path":"tools[3].mcp.allowed_tools[0]","before":"a","after":"b"},{"path":"tools[3].mcp.allowed_tools[1]","before":"b","after":"c"}]`},
		{6, []string{"crm_lookup", "on", "crm_log_calls", ""}, `[{"path":"tools[5].crm.log_calls","after":false},{"path":"tools[5].crm.lookup","before":false}]`},
	} {
		s, a, at := functionSite(t)
		one := fmt.Sprintf("%s/%d", at, tt.no)
		fields := entries(s.Get(one).Body)
		for i := 0; i < len(tt.fields); i += 2 {
			fields = with(fields, tt.fields[i], tt.fields[i+1])
		}
		if w := s.Post(one, fields...); w.Status != http.StatusSeeOther {
			t.Errorf("%d %q: %d %s", tt.no, tt.fields, w.Status, html.UnescapeString(w.Body))
			continue
		}
		saved, err := s.DB.Agent(t.Context(), s.Account, a.ID)
		s.OK(err)
		changes, err := manage.Changes(a, saved)
		s.OK(err)
		if got, err := json.Marshal(changes); err != nil || string(got) != tt.want {
			t.Errorf("%d %q: %s, want %s", tt.no, tt.fields, got, tt.want)
		}
	}
}

// TestNewFunctions: one of each kind is created from its form, and one is deleted.
func TestNewFunctions(t *testing.T) {
	s := agentSite(t).SignIn()
	a := makeAgent(s, s.Account, store.Agent{Name: "Max", Voice: "M1", Language: "en"})
	at := "/app/agents/" + a.ID + "/functions"
	tools := func() (list []json.RawMessage) {
		now, err := s.DB.Agent(t.Context(), s.Account, a.ID)
		s.OK(err)
		s.OK(json.Unmarshal(now.Tools, &list))
		return list
	}
	for _, tt := range []struct {
		kind   string
		fields []string
		want   string
	}{
		{"http", []string{"name", "order", "description", "Finds it.", "parameters_name", "no", "parameters_kind", "", "parameters_needed", "on", "parameters_description", "Digits", "http_method", "POST",
			"http_url", "https://api.example.com/o"}, `{"type":"http","name":"order","description":"Finds it.","parameters":{"type":"object","properties":{"no":{"type":"string","description":"Digits"}},"required":["no"]},"http":{"method":"POST","url":"https://api.example.com/o"}}`},
		{"mcp", []string{"name", "files", "mcp_url", "https://mcp.example.com/"}, `{"type":"mcp","name":"files","mcp":{"url":"https://mcp.example.com/"}}`},
		{"function", []string{"function_name", "show"}, `{"type":"function","function":{"name":"show"}}`},
		{"web_search", nil, `{"type":"web_search"}`},
		{"crm", nil, `{"type":"crm"}`},
	} {
		fields := entries(s.Get(at + "/new?kind=" + tt.kind).Body)
		for i := 0; i < len(tt.fields); i += 2 {
			fields = with(fields, tt.fields[i], tt.fields[i+1])
		}
		if w := s.Post(at, fields...); w.Status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s\n%q", tt.kind, w.Status, html.UnescapeString(w.Body), fields)
		}
		if got := tools(); !sameJSON(t, got[len(got)-1], json.RawMessage(tt.want)) {
			t.Errorf("%s: %s, want %s", tt.kind, got[len(got)-1], tt.want)
		}
	}
	if w := s.Post(at+"/2/delete", "version", "6"); w.Status != http.StatusSeeOther || len(tools()) != 4 || !sameJSON(t, tools()[1], json.RawMessage(`{"type":"function","function":{"name":"show"}}`)) {
		t.Errorf("%d, left are %s", w.Status, tools())
	}
	for _, path := range []string{"/new?kind=magic", "/9", "/0", "/x"} {
		if w := s.Get(at + path); w.Status != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Status)
		}
	}
}

// TestWhatIsWrongWithFunctions stands beside its field, and a version that is not the last is not written over.
func TestWhatIsWrongWithFunctions(t *testing.T) {
	s, a, at := functionSite(t)
	fields := entries(s.Get(at + "/1").Body)
	for _, tt := range []struct{ name, value, at, says string }{
		{"http_url", "ftp://x", "http_url", "Must be an absolute https address."},
		{"http_headers", "nonsense", "http_headers", "Line 1: write it as"},
		{"http_body", "a: [", "http_body", "Line 1: "},
		{"parameters_name", "", "parameters_name_0", "Enter a name."},
	} {
		changed := with(fields, tt.name, tt.value)
		for _, where := range []string{at + "/1", at + "/1/check", at, at + "/check"} {
			w := s.Post(where, changed...)
			if page := html.UnescapeString(w.Body); !strings.Contains(page, `data-field="`+tt.at+`"`) || !strings.Contains(page, tt.says) || !strings.HasSuffix(where, "check") && w.Status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %s = %q: %d %s", where, tt.name, tt.value, w.Status, page)
			}
		}
	}
	changed := *a
	changed.Prompt = "Another."
	_, err := s.DB.UpdateAgent(t.Context(), s.Account, changed)
	s.OK(err)
	for _, where := range []string{at + "/1", at + "/1/delete"} {
		if w := s.Post(where, with(fields, "description", "Mine")...); w.Status != http.StatusUnprocessableEntity || !strings.Contains(w.Body, "Somebody else has saved this agent") {
			t.Errorf("%s: %d %s", where, w.Status, w.Body)
		}
	}
	now, err := s.DB.Agent(t.Context(), s.Account, a.ID)
	if err != nil || now.Version != 2 || !sameJSON(t, now.Tools, a.Tools) {
		t.Errorf("%+v %v", now, err)
	}
	if w := s.Get("/app/agents/ag_0/functions/1"); w.Status != http.StatusNotFound {
		t.Errorf("a foreign agent: %d", w.Status)
	}
}

// TestTryingFunctions: what is entered runs once, without being saved; owners alone may do that.
func TestTryingFunctions(t *testing.T) {
	s, a, at := functionSite(t)
	page := s.Get(at + "/1").Body
	if !strings.Contains(page, "order: \"\"\nsize: small\nn: 1\n") && !strings.Contains(html.UnescapeString(page), "order: \"\"\nsize: small\nn: 1\n") {
		t.Error("no arguments are suggested")
	}
	fields := with(entries(page), "http_url", "https://api.example.com/new/{order}")
	for _, tt := range []struct {
		path, arguments string
		want            []string
	}{
		{"/1", "order: \"42\"", []string{"Answered", "Status 201", "34 ms", "asked: order_status", "order: \"42\"", "https://api.example.com/new/{order}"}},
		{"/1", "", []string{"with: {}"}},
		{"/1", "order: \"404\"", []string{"Failed", "12 ms", "The service answered with status 404 <b>no</b>."}},
		{"/1", "order: slow", []string{"Too late", "8000 ms"}},
		{"/1", "order: [", []string{"Arguments: Line 1"}},
		{"", "order: \"42\"", []string{"Answered"}},
	} {
		w := s.Ask(s.Client, http.MethodPost, at+tt.path+"/try", encode(with(fields, "arguments", tt.arguments)), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "HX-Request", "true")
		shown := html.UnescapeString(w.Body)
		for _, want := range tt.want {
			if w.Status != http.StatusOK || !strings.Contains(shown, want) || strings.Contains(shown, "<html") || strings.Contains(w.Body, "<b>no") {
				t.Errorf("%q: %d, no %s in %s", tt.arguments, w.Status, want, shown)
			}
		}
	}
	if w := s.Post(at+"/1/try", with(fields, "arguments", "order: \"42\"")...); w.Status != http.StatusOK || !strings.Contains(w.Body, "Answered") || !strings.Contains(w.Body, "<html") {
		t.Errorf("without scripts: %d %s", w.Status, w.Body)
	}
	if now, err := s.DB.Agent(t.Context(), s.Account, a.ID); err != nil || now.Version != 1 {
		t.Errorf("it was saved: %+v %v", now, err)
	}
	member := s.NewUser("luis@example.com", people.RoleMember)
	s.OK(s.People.AddMember(t.Context(), s.Account, member, people.RoleMember))
	c := s.NewClient()
	s.SignInAs(c, member)
	if w := s.Ask(c, http.MethodGet, at+"/1", ""); w.Status != http.StatusOK || strings.Contains(w.Body, `id="try"`) {
		t.Errorf("a member: %d", w.Status)
	}
	if w := s.Ask(c, http.MethodPost, at+"/1/try", encode(fields), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"); w.Status != http.StatusForbidden {
		t.Errorf("a member tries it: %d", w.Status)
	}
}

// encode writes fields as browsers send them.
func encode(fields []string) string {
	v := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		v.Add(fields[i], fields[i+1])
	}
	return v.Encode()
}

// TestFunctionsFromTheEditor: the form of an agent leads to those of its functions, and is saved on the way.
func TestFunctionsFromTheEditor(t *testing.T) {
	s, a, at := functionSite(t)
	page := s.Get("/app/agents/" + a.ID).Body
	if !strings.Contains(page, `<a href="`+at+`/3">show_map</a>`) {
		t.Error("the form does not lead to a function")
	}
	w := s.Post("/app/agents/"+a.ID, append(with(entries(page), "prompt", "Another."), "then", "functions/new")...)
	if w.Status != http.StatusSeeOther || w.Header.Get("Location") != at+"/new" {
		t.Errorf("%d to %s", w.Status, w.Header.Get("Location"))
	}
	if w := s.Post("/app/agents", append(with(entries(s.Get("/app/agents/new").Body), "name", "Max"), "then", "https://evil.example")...); !strings.HasPrefix(w.Header.Get("Location"), "/app/agents/ag_") || strings.Contains(w.Header.Get("Location"), "evil") {
		t.Errorf("%d to %s", w.Status, w.Header.Get("Location"))
	}
}

func makesFunction(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#name")
	b.Press("find_table")
	b.TabTo("#parameters_name_0")
	b.Press("people")
	b.TabTo("#parameters_kind_0")
	b.Press("W") // Whole number
	b.TabTo("[data-more][value=parameters]")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.id === "parameters_name_1"`)
	b.Press("day")
	b.TabTo("#http_url")
	b.Press("ftp://x")
	b.Wait(`document.querySelector("#http_url-error")?.textContent.includes("absolute https address")`)
	b.Accessible()
	b.Shot("wrong")
	b.Fill("#http_url", "https://api.example.com/tables/{people}")
	b.Press(kb.Tab)
	b.Wait(`!document.querySelector("#http_url-error")`)
	b.TabTo("#arguments")
	b.Press("people: 4")
	b.TabTo("#try")
	b.Press(kb.Enter)
	b.Wait(`document.querySelector("#tried")?.textContent.includes("Status 201") && document.querySelector("#tried").textContent.includes("34 ms")`)
	b.Accessible()
	b.Shot("tried")
	b.TabTo(".savebar button")
	b.Press(kb.Enter)
	b.Says("find_table was saved")
	saved, err := w.DB.Agent(w.T.Context(), w.Account, w.ids["agent"])
	w.OK(err)
	if tools := strings.ReplaceAll(string(saved.Tools), " ", ""); !strings.Contains(tools, `{"http":{"method":"GET","url":"https://api.example.com/tables/{people}"},"name":"find_table","parameters":{"type":"object","properties":{"people":{"type":"integer"},"day":{"type":"string"}}}`) {
		w.T.Errorf("saved are %s", tools)
	}
}
