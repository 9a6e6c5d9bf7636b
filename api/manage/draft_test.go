package manage_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"parley/api"
	"parley/api/manage"
	"parley/store"
)

// A document is judged like one that is sent to be kept, and is not kept.
func TestDraftsAreJudgedAndNotKept(t *testing.T) {
	o := open(t)
	before := len(o.json(o.As(o.A, "GET", "/v1/agents", ""))["data"].([]any))
	for body, want := range map[string]string{
		lola: `{"changes":null,"mistakes":[],"valid":true}`,
		`{"name":"N","settings":{"goodbye":"forbidden"}}`: `{"changes":null,"mistakes":[{"path":"body","problem":"settings.goodbye: is forbidden"}],"valid":false}`,
	} {
		r := o.As(o.A, "POST", "/v1/agents/validate", body)
		o.Want("validate", r, 200, "")
		got, _ := json.Marshal(o.json(r)) // what was read can be written
		if string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	o.Want("what is no document", o.As(o.A, "POST", "/v1/agents/validate", `{`), 400, "validation.invalid_request_format")
	o.Want("a ticket", o.Send("POST", "/v1/agents/validate", lola, "Authorization", "Bearer "+o.ticket(api.Ticket{ID: "1"})), 403, "auth.ticket_not_allowed")
	if after := len(o.json(o.As(o.A, "GET", "/v1/agents", ""))["data"].([]any)); after != before {
		t.Errorf("there were %d agents, and are %d", before, after)
	}
}

// TestDraftsAreCompared: the check of a document lists what it would change of an agent, for the account of the agent alone.
func TestDraftsAreCompared(t *testing.T) {
	o := open(t)
	id := fmt.Sprint(o.json(o.As(o.A, "POST", "/v1/agents", `{"name":"Lola","prompt":"One.","first_message":"Hello!"}`))["id"])
	at := "/v1/agents/validate?agent_id=" + id
	for body, want := range map[string]string{
		`{"name":"Lola","prompt":"One.","first_message":"Hello!","id":"x","version":9}`: `{"changes":[],"mistakes":[],"valid":true}`,
		`{"name":"Lola","prompt":"Two."}`:                                               `{"changes":[{"after":"Two.","before":"One.","path":"prompt"},{"after":"","before":"Hello!","path":"first_message"}],"mistakes":[],"valid":true}`,
		`{"name":"N","prompt":"forbidden"}`:                                             `{"changes":null,"mistakes":[{"path":"body","problem":"settings.goodbye: is forbidden"}],"valid":false}`,
	} {
		r := o.As(o.A, "POST", at, body)
		o.Want("validate", r, 200, "")
		if got, _ := json.Marshal(o.json(r)); string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	o.Want("foreign", o.As(o.B, "POST", at, `{"name":"Lola"}`), 404, "agent.not_found")
	if prompt := o.json(o.As(o.A, "GET", "/v1/agents/"+id, ""))["prompt"]; prompt != "One." {
		t.Errorf("the prompt is %v", prompt)
	}
}

// What two versions differ in is told field by field, to the owner alone.
func TestVersionsAreCompared(t *testing.T) {
	o := open(t)
	path := "/v1/agents/" + fmt.Sprint(o.json(o.As(o.A, "POST", "/v1/agents", `{"name":"Lola","prompt":"One."}`))["id"])
	o.Want("change", o.As(o.A, "PATCH", path, `{"prompt":"Two.","settings":{"speed":1.5,"opt_out":false}}`), 200, "")
	o.Want("change", o.As(o.A, "PATCH", path, `{"settings":{"speed":1.5}}`), 200, "")
	for query, want := range map[string]string{
		"/3/diff":           `{"changes":[{"before":false,"path":"settings.opt_out"}],"from":2,"to":3}`,
		"/3/diff?against=1": `{"changes":[{"after":"Two.","before":"One.","path":"prompt"},{"after":1.5,"path":"settings.speed"}],"from":1,"to":3}`,
		"/1/diff?against=3": `{"changes":[{"after":"One.","before":"Two.","path":"prompt"},{"before":1.5,"path":"settings.speed"}],"from":3,"to":1}`,
		"/1/diff":           `{"changes":[{"after":"Lola","before":"","path":"name"},{"after":"One.","before":"","path":"prompt"}],"from":0,"to":1}`,
		"/2/diff?against=2": `{"changes":[],"from":2,"to":2}`,
	} {
		r := o.As(o.A, "GET", path+"/versions"+query, "")
		o.Want(query, r, 200, "")
		if got, _ := json.Marshal(o.json(r)); string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
	o.Want("foreign", o.As(o.B, "GET", path+"/versions/2/diff", ""), 404, "agent.not_found")
	o.Want("no such version", o.As(o.A, "GET", path+"/versions/9/diff", ""), 404, "agent.not_found")
	o.Want("compared with none", o.As(o.A, "GET", path+"/versions/2/diff?against=9", ""), 404, "agent.not_found")
	o.Want("not a version", o.As(o.A, "GET", path+"/versions/2/diff?against=x", ""), 400, "validation.invalid_request_format")
}

// Lists are gone into, entry by entry, and what changes its kind is whole.
func TestChanges(t *testing.T) {
	agent := func(tools, settings string) *store.Agent {
		return &store.Agent{Tools: json.RawMessage(tools), Settings: json.RawMessage(settings)}
	}
	for _, tt := range []struct {
		a, b *store.Agent
		want string
	}{
		{agent("", ""), agent("[]", "{}"), ``},
		{agent(`[{"type":"crm"},{"type":"http","name":"a","http":{"url":"x"}}]`, ""), agent(`[{"type":"crm"},{"type":"http","name":"a","http":{"url":"y"}}]`, ""), `tools[1].http.url x y`},
		{agent(`[{"type":"crm"}]`, ""), agent(`[]`, ""), `tools[0] map[type:crm] <nil>`},
		{agent(`[]`, ""), agent(`[7]`, ""), `tools[0] <nil> 7`},
		{agent("", `{"a":{"b":1}}`), agent("", `{"a":[1]}`), `settings.a map[b:1] [1]`},
		{agent("", `{"a":[1]}`), agent("", `{"a":true}`), `settings.a [1] true`},
		{agent("", `{"n":12345678901234567890}`), agent("", `{"n":12345678901234567891}`), `settings.n 12345678901234567890 12345678901234567891`},
	} {
		changes, err := manage.Changes(tt.a, tt.b)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			got = append(got, fmt.Sprint(c.Path, " ", c.Before, " ", c.After))
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s %s to %s %s: %q, want %q", tt.a.Tools, tt.a.Settings, tt.b.Tools, tt.b.Settings, got, tt.want)
		}
	}
}
