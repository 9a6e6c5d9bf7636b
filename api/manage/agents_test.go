package manage_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

const lola = `{"name":"Lola","voice":"esca_m2","language":"pt-BR","prompt":"Be kind.","first_message":"Hello! <3",
	"tools":[{"type":"function","function":{"name":"book","description":"Books.","parameters":{"type":"object","properties":{"z":{},"a":{}}}}}],
	"settings":{"idle_seconds":8,"goodbye":"Bye."},"version":77,"id":"ag_mine","unknown":true}`

func TestAgentLife(t *testing.T) {
	o := open(t)
	r := o.As(o.A, "POST", "/v1/agents", lola)
	o.Want("create", r, 201, "")
	agent := o.json(r)
	id := fmt.Sprint(agent["id"])
	if id == "ag_mine" || agent["version"] != 1.0 || r.Header.Get("ETag") != `"1"` || agent["voice"] != "M2" || agent["language"] != "pt" {
		t.Fatalf("created %v, ETag %s", agent, r.Header.Get("ETag"))
	}
	// The order of a function's parameters is the client's.
	if !strings.Contains(string(r.Body), `"properties":{"z":{},"a":{}}`) || !strings.Contains(string(r.Body), "Hello! <3") {
		t.Errorf("created %s", r.Body)
	}
	got := o.As(o.A, "GET", "/v1/agents/"+id, "")
	if string(got.Body) != string(r.Body) || got.Header.Get("ETag") != `"1"` {
		t.Errorf("read %s, ETag %s", got.Body, got.Header.Get("ETag"))
	}

	r = o.As(o.A, "PATCH", "/v1/agents/"+id, `{"first_message":"","voice":"f3","settings":{}}`)
	o.Want("change", r, 200, "")
	changed := o.json(r)
	if changed["first_message"] != "" || changed["voice"] != "F3" || changed["prompt"] != "Be kind." || changed["version"] != 2.0 ||
		r.Header.Get("ETag") != `"2"` || fmt.Sprint(changed["settings"]) != "map[]" || fmt.Sprint(changed["tools"]) != fmt.Sprint(agent["tools"]) {
		t.Errorf("changed %v", changed)
	}
	o.Want("change nothing", o.As(o.A, "PATCH", "/v1/agents/"+id, `{"prompt":null,"tools":null}`), 200, "")
	if got := o.json(o.As(o.A, "GET", "/v1/agents/"+id, "")); got["prompt"] != "Be kind." || fmt.Sprint(got["tools"]) != fmt.Sprint(agent["tools"]) {
		t.Errorf("changed nothing: %v", got)
	}
	o.Want("without a name", o.As(o.A, "POST", "/v1/agents", `{"name":null}`), 400, "validation.invalid_request_format")

	o.Want("delete", o.As(o.A, "DELETE", "/v1/agents/"+id, ""), 204, "")
	o.Want("delete again", o.As(o.A, "DELETE", "/v1/agents/"+id, ""), 404, "agent.not_found")
	o.Want("read", o.As(o.A, "GET", "/v1/agents/"+id, ""), 404, "agent.not_found")
}

func TestAgentDefaults(t *testing.T) {
	o := open(t)
	agent := o.json(o.As(o.A, "POST", "/v1/agents", `{"name":"N"}`))
	for field, want := range map[string]string{"voice": "F1", "language": "en", "prompt": "", "first_message": "", "tools": "[]", "settings": "map[]"} {
		if got := fmt.Sprint(agent[field]); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
}

func TestIfMatch(t *testing.T) {
	o := open(t)
	path := "/v1/agents/" + o.A.Agent
	version := 1
	for _, tt := range []struct {
		tag  string
		done bool
	}{
		{`"1"`, true}, {`"1"`, false}, {`"2"`, true}, {`*`, true}, {`"3", "4"`, true}, {`W/"5"`, false}, {`5`, false}, {`"five"`, false}, {`""`, false}, {"", true},
	} {
		r := o.As(o.A, "PATCH", path, fmt.Sprintf(`{"prompt":"%d"}`, version), "If-Match", tt.tag)
		if tt.done {
			version++
			o.Want(tt.tag, r, 200, "")
			if r.Header.Get("ETag") != fmt.Sprintf("%q", fmt.Sprint(version)) {
				t.Errorf("%s: ETag %s", tt.tag, r.Header.Get("ETag"))
			}
		} else {
			o.Want(tt.tag, r, 412, "request.precondition_failed")
		}
	}
	o.Want("delete another version", o.As(o.A, "DELETE", path, "", "If-Match", `"1"`), 412, "request.precondition_failed")
	o.Want("delete", o.As(o.A, "DELETE", path, "", "If-Match", fmt.Sprintf("%q", fmt.Sprint(version))), 204, "")
	o.Want("change what is gone", o.As(o.A, "PATCH", path, `{}`, "If-Match", `"1"`), 404, "agent.not_found")
}

// Changes of different fields at the same time all stay; of those that name a
// version one is done.
func TestConcurrentChanges(t *testing.T) {
	o := open(t)
	path := "/v1/agents/" + o.A.Agent
	bodies := []string{`{"metadata":{"a":"1"}}`, `{"metadata":{"b":"2"}}`, `{"metadata":{"c":"3"}}`, `{"name":"x"}`, `{"prompt":"x"}`, `{"first_message":"x"}`, `{"voice":"M1"}`, `{"language":"de"}`, `{"settings":{"ring_ms":1}}`}
	var wg sync.WaitGroup
	for _, body := range bodies {
		wg.Go(func() { o.Want(body, o.As(o.A, "PATCH", path, body), 200, "") })
	}
	wg.Wait()
	got := o.json(o.As(o.A, "GET", path, ""))
	if got["name"] != "x" || got["prompt"] != "x" || got["first_message"] != "x" || got["voice"] != "M1" || got["language"] != "de" ||
		fmt.Sprint(got["settings"], got["metadata"]) != "map[ring_ms:1] map[a:1 b:2 c:3]" || got["version"] != 7.0 {
		t.Errorf("%v", got)
	}
	statuses := make([]int, 8)
	for i := range statuses {
		wg.Go(func() { statuses[i] = o.As(o.A, "PATCH", path, `{"prompt":"y"}`, "If-Match", `"7"`).Status })
	}
	wg.Wait()
	if n := strings.Count(fmt.Sprint(statuses), "200"); n != 1 || strings.Count(fmt.Sprint(statuses), "412") != 7 {
		t.Errorf("%v", statuses)
	}
}

// What the definition refuses changes nothing, whichever way it comes.
func TestRefusedAgents(t *testing.T) {
	o := open(t)
	for _, tt := range []struct{ body, field string }{
		{`{"name":"N","settings":{"goodbye":"forbidden"}}`, "settings.goodbye: is forbidden"},
		{`{"name":"N","prompt":"forbidden","prompt":"x"}`, "is forbidden"}, {`{"name":"N","settings":{"goodbye":"forbidden","goodbye":null}}`, "is forbidden"}, // as it was written {`[]`, "body"}, {`{"name":`, ""}, {``, "body"},
		{`{"name":"  "}`, "name"}, {`{"name":"a\u0000b"}`, "name"}, {`{"name":"N","settings":[]}`, "settings"}, {`{"name":"N","tools":{}}`, "tools"},
	} {
		for _, r := range []route{{"PATCH", "/v1/agents/" + o.A.Agent, tt.body}, {"PUT", "/v1/agents/" + o.A.Agent, tt.body}, {"POST", "/v1/agents", tt.body}} {
			got := o.As(o.A, r.method, r.path, r.body)
			o.Want(fmt.Sprintf("%s %.80s", r.method, r.body), got, 400, "validation.invalid_request_format")
			var p struct{ Detail string }
			if err := json.Unmarshal(got.Body, &p); err != nil || !strings.Contains(p.Detail, tt.field) || strings.Contains(p.Detail, "Go ") {
				t.Errorf("%s %.80s: detail %q does not name %s", r.method, r.body, p.Detail, tt.field)
			}
		}
	}
	huge := `{"prompt":"` + strings.Repeat("x", 2<<20) + `"}`
	o.Want("huge", o.As(o.A, "PATCH", "/v1/agents/"+o.A.Agent, huge), 413, "request.too_large")
	if a, err := o.DB.Agent(t.Context(), o.A.Account, o.A.Agent); err != nil || a.Version != 1 {
		t.Errorf("the agent was touched: %+v, %v", a, err)
	}
}

// A member that is null says the same as none, and is not shown as something else
// than the document allows.
func TestAgentNulls(t *testing.T) {
	o := open(t)
	agent := o.json(o.As(o.A, "POST", "/v1/agents", `{"name":"N","settings":{"goodbye":null,"ring_ms":1},
		"tools":[{"type":"function","x":null,"function":{"name":"a","description":null,"parameters":{"type":"object","properties":{"b":{"enum":[null,1],"default":null}}}}}]}`))
	if got := fmt.Sprint(agent["settings"]); got != "map[ring_ms:1]" {
		t.Errorf("settings are %s", got)
	}
	want := "[map[function:map[name:a parameters:map[properties:map[b:map[default:<nil> enum:[<nil> 1]]] type:object]] type:function]]"
	if got := fmt.Sprint(agent["tools"]); got != want {
		t.Errorf("tools are %s", got)
	}
}
