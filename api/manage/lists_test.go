package manage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// page is a part of either list.
func (o *office) page(target string) (ids []string, next string) {
	o.Helper()
	r := o.as(o.a, "GET", target, "")
	o.want(target, r, 200, "")
	out := o.json(r)
	for _, item := range out["data"].([]any) {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	next, more := out["next_cursor"].(string)
	if more != out["has_more"] {
		o.Errorf("%s: has_more %v, next_cursor %q", target, out["has_more"], next)
	}
	return ids, next
}

func TestLists(t *testing.T) {
	o := open(t)
	for _, tt := range []struct{ path, first string }{{"/v1/agents", o.a.agent}, {"/v1/keys", o.a.keyID}} {
		want := []string{tt.first}
		for range 24 {
			want = append(want, o.json(o.as(o.a, "POST", tt.path, `{"name":"N"}`))["id"].(string))
		}
		// Identifiers of one millisecond have no order of their own.
		slices.Sort(want)
		slices.Reverse(want)
		for _, limit := range []int{1, 7, 24, 25, 100} {
			var all []string
			for next := "begin"; next != ""; {
				target := fmt.Sprintf("%s?limit=%d", tt.path, limit)
				if next != "begin" {
					target += "&cursor=" + next
				}
				var ids []string
				ids, next = o.page(target)
				if len(ids) > limit || len(ids) < limit && next != "" {
					t.Errorf("%s: %d items", target, len(ids))
				}
				all = append(all, ids...)
			}
			if !slices.Equal(all, want) {
				t.Errorf("%s by %d: %v", tt.path, limit, all)
			}
		}
		if ids, next := o.page(tt.path); len(ids) != 20 || next != ids[19] {
			t.Errorf("%s without a limit: %d items, next %q", tt.path, len(ids), next)
		}
		if ids, _ := o.page(tt.path + "?cursor=" + want[24]); len(ids) != 0 {
			t.Errorf("after the last: %v", ids)
		}
		for _, query := range []string{"?limit=0", "?limit=101", "?limit=x", "?limit=-1", "?cursor=" + strings.Repeat("x", 101), "?cursor=%00"} {
			o.want(query, o.as(o.a, "GET", tt.path+query, ""), 400, "validation.invalid_request_format")
		}
	}
	if body := string(o.as(o.b, "GET", "/v1/agents?cursor=ag_0", "").body); strings.TrimSpace(body) != `{"data":[],"has_more":false,"next_cursor":null}` {
		t.Errorf("an empty list: %s", body)
	}
}

func TestKeys(t *testing.T) {
	o := open(t)
	r := o.as(o.a, "POST", "/v1/keys", `{"name":"website"}`)
	o.want("create", r, 201, "")
	made := o.json(r)
	secret, id := fmt.Sprint(made["api_key"]), fmt.Sprint(made["id"])
	if !strings.HasPrefix(secret, "sk_") || !strings.HasSuffix(secret, fmt.Sprint(made["last4"])) || made["name"] != "website" ||
		made["last_used_at"] != nil || made["revoked_at"] != nil || r.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("created %v", made)
	}
	made2 := owner{key: secret}
	o.want("use", o.as(made2, "GET", "/v1/agents/"+o.a.agent, ""), 200, "")
	list := o.as(o.a, "GET", "/v1/keys", "")
	if strings.Contains(string(list.body), secret) || strings.Contains(string(list.body), "api_key") || !strings.Contains(string(list.body), id) {
		t.Errorf("list %s", list.body)
	}
	ticket := fmt.Sprint(o.json(o.as(made2, "POST", "/ws-ticket", ""))["ticket"])
	o.want("a ticket of it", o.as(owner{key: ticket}, "POST", "/ws-ticket", ""), 200, "")

	// The key in use may be revoked, and takes its tickets with it.
	o.want("revoke", o.as(made2, "DELETE", "/v1/keys/"+id, ""), 204, "")
	o.want("use it", o.as(made2, "GET", "/v1/keys", ""), 401, "auth.invalid_key")
	o.want("use its ticket", o.as(owner{key: ticket}, "POST", "/ws-ticket", ""), 401, "auth.invalid_key")
	o.want("revoke again", o.as(o.a, "DELETE", "/v1/keys/"+id, ""), 204, "")
	keys := o.json(o.as(o.a, "GET", "/v1/keys?limit=1", ""))["data"].([]any)
	if k := keys[0].(map[string]any); k["id"] != id || k["revoked_at"] == nil || k["last_used_at"] == nil {
		t.Errorf("%v", k)
	}
	for _, body := range []string{`{}`, `{"name":""}`, `{"name":" "}`, `{"name":7}`, `{"name":"a\u0000"}`, `{"name":"` + strings.Repeat("é", 101) + `"}`, `[]`, ``} {
		r := o.as(o.a, "POST", "/v1/keys", body)
		o.want(body, r, 400, "validation.invalid_request_format")
		if strings.HasPrefix(body, "{") && !strings.Contains(fmt.Sprint(o.json(r)["detail"]), "name") {
			t.Errorf("%s: %s", body, r.body)
		}
	}
}
