package manage_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestMetadataOfAgents: they change name by name, stand beside the document and its versions, and pick agents of a list.
func TestMetadataOfAgents(t *testing.T) {
	o := open(t)
	r := o.As(o.A, "POST", "/v1/agents", `{"name":"Lola","metadata":{"team":"sales","old":"x"}}`)
	o.Want("create", r, 201, "")
	agent := o.json(r)
	path := "/v1/agents/" + fmt.Sprint(agent["id"])
	if fmt.Sprint(agent["metadata"]) != "map[old:x team:sales]" {
		t.Fatalf("created %s", r.Body)
	}
	for body, want := range map[string]string{
		`{"metadata":{"old":null,"order":"42"}}`: "map[order:42 team:sales]",
		`{"metadata":null}`:                      "map[order:42 team:sales]",
		`{"metadata":{}}`:                        "map[order:42 team:sales]",
	} {
		o.Want("the first", o.As(o.A, "PATCH", path, `{"metadata":{"old":null,"order":"42"}}`, "If-Match", `"1"`), 200, "")
		if r := o.As(o.A, "PATCH", path, body); fmt.Sprint(o.json(r)["metadata"]) != want || r.Header.Get("ETag") != `"1"` {
			t.Errorf("%s: %s, ETag %s, want metadata %s", body, r.Body, r.Header.Get("ETag"), want)
		}
	}
	if versions, _ := o.json(o.As(o.A, "GET", path+"/versions", ""))["data"].([]any); len(versions) != 1 || versions[0].(map[string]any)["metadata"] != nil {
		t.Errorf("versions are %v", versions)
	}
	o.Want("change the document", o.As(o.A, "PATCH", path, `{"prompt":"x","metadata":{"team":"support"}}`), 200, "")
	first := o.As(o.A, "GET", path+"/versions/1", "")
	if r = o.As(o.A, "PUT", path, string(first.Body)); fmt.Sprint(o.json(r)["prompt"], o.json(r)["metadata"]) != "map[order:42 team:support]" {
		t.Errorf("restored %s", r.Body)
	}
	if r = o.As(o.A, "PUT", path, `{"name":"Lola","metadata":{"team":"sales"}}`); fmt.Sprint(o.json(r)["metadata"]) != "map[team:sales]" {
		t.Errorf("replaced %s", r.Body)
	}
	o.Want("another's", o.As(o.B, "PATCH", path, `{"metadata":{"team":"mine"}}`), 404, "agent.not_found")

	for query, want := range map[string]int{"": 2, "metadata[team]=sales": 1, "metadata[team]=sale": 0, "metadata[team]=sales&metadata[order]=42": 0} {
		if data, _ := o.json(o.As(o.A, "GET", "/v1/agents?"+query, ""))["data"].([]any); len(data) != want {
			t.Errorf("%s: %d agents, want %d", query, len(data), want)
		}
	}
	if data, _ := o.json(o.As(o.B, "GET", "/v1/agents?metadata[team]=sales", ""))["data"].([]any); len(data) != 0 {
		t.Errorf("another's: %v", data)
	}
	for _, query := range []string{"metadata[a%20b]=c", "metadata[a]=" + strings.Repeat("a", 501), "metadata[a]=%00"} {
		o.Want(query, o.As(o.A, "GET", "/v1/agents?"+query, ""), 400, "validation.invalid_request_format")
	}
}
