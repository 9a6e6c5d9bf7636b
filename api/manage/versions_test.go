package manage_test

import (
	"fmt"
	"testing"
)

// What an agent was can be read, and put back unless somebody else was faster; only by
// its owner.
func TestVersionsAndRestoring(t *testing.T) {
	o := open(t)
	first := o.json(o.As(o.A, "POST", "/v1/agents", lola))
	path := "/v1/agents/" + fmt.Sprint(first["id"])
	o.Want("change", o.As(o.A, "PATCH", path, `{"prompt":"Be brief.","settings":{}}`), 200, "")
	o.Want("change", o.As(o.A, "PATCH", path, `{"name":"Ana"}`), 200, "")

	r := o.As(o.A, "GET", path+"/versions?limit=2", "")
	o.Want("list", r, 200, "")
	page := o.json(r)
	data, _ := page["data"].([]any)
	if len(data) != 2 || page["has_more"] != true || page["next_cursor"] != "2" {
		t.Fatalf("versions are %s", r.Body)
	}
	r = o.As(o.A, "GET", path+"/versions?limit=2&cursor=2", "")
	rest, _ := o.json(r)["data"].([]any)
	if len(rest) != 1 || rest[0].(map[string]any)["version"] != 1.0 || o.json(r)["has_more"] != false {
		t.Errorf("the rest is %s", r.Body)
	}
	o.Want("a cursor of something else", o.As(o.A, "GET", path+"/versions?cursor=ag_1", ""), 400, "validation.invalid_request_format")

	was := o.As(o.A, "GET", path+"/versions/1", "")
	o.Want("read", was, 200, "")
	if was.Header.Get("ETag") != `"1"` || o.json(was)["prompt"] != "Be kind." {
		t.Errorf("the first is %s, ETag %s", was.Body, was.Header.Get("ETag"))
	}
	o.Want("restore over something newer", o.As(o.A, "PUT", path, string(was.Body), "If-Match", `"2"`), 412, "request.precondition_failed")
	r = o.As(o.A, "PUT", path, string(was.Body), "If-Match", `"3"`)
	o.Want("restore", r, 200, "")
	now := o.json(r)
	for _, field := range []string{"name", "voice", "language", "prompt", "first_message", "tools", "settings", "id", "created_at"} {
		if fmt.Sprint(now[field]) != fmt.Sprint(first[field]) {
			t.Errorf("%s is %v, was %v", field, now[field], first[field])
		}
	}
	if now["version"] != 4.0 || r.Header.Get("ETag") != `"4"` {
		t.Errorf("restored: %s", r.Body)
	}
	bare := o.json(o.As(o.A, "PUT", path, `{"name":"Bare"}`))
	if bare["prompt"] != "" || bare["voice"] != "F1" || fmt.Sprint(bare["tools"], bare["settings"]) != "[] map[]" {
		t.Errorf("replaced by a name: %v", bare)
	}

	for what, path := range map[string]string{"foreign": path, "unknown": "/v1/agents/ag_nobody"} {
		o.Want(what, o.As(o.B, "GET", path+"/versions", ""), 404, "agent.not_found")
		o.Want(what, o.As(o.B, "GET", path+"/versions/1", ""), 404, "agent.not_found")
		o.Want(what, o.As(o.B, "PUT", path, `{"name":"Mine"}`), 404, "agent.not_found")
	}
	o.Want("no such version", o.As(o.A, "GET", path+"/versions/9", ""), 404, "agent.not_found")
	o.Want("schema", o.As(o.B, "GET", "/v1/agents/schema", ""), 200, "")
}
