package manage_test

import (
	"parley/store/people"

	"fmt"
	"slices"
	"strings"
	"testing"
)

// page is a part of a list: the items' identifiers, which are in a field of this name.
func (o *office) page(who owner, target, field string) (ids []string, next string) {
	o.Helper()
	r := o.As(who, "GET", target, "")
	o.Want(target, r, 200, "")
	out := o.json(r)
	for _, item := range out["data"].([]any) {
		ids = append(ids, item.(map[string]any)[field].(string))
	}
	next, more := out["next_cursor"].(string)
	if more != out["has_more"] {
		o.Errorf("%s: has_more %v, next_cursor %q", target, out["has_more"], next)
	}
	return ids, next
}

// pages are what all pages of a list hold together.
func (o *office) pages(who owner, path, field string, limit int) (all []string) {
	o.Helper()
	target := fmt.Sprintf("%s?limit=%d", path, limit)
	for next := "begin"; next != ""; {
		at := target
		if next != "begin" {
			at += "&cursor=" + next
		}
		var ids []string
		ids, next = o.page(who, at, field)
		if len(ids) > limit || len(ids) < limit && next != "" {
			o.Errorf("%s: %d items", at, len(ids))
		}
		all = append(all, ids...)
	}
	return all
}

// TestShortLists: lists that were answered whole before they had pages still are, and page
// for who asks; a page goes on where the one before ended, also when its last item is gone.
func TestShortLists(t *testing.T) {
	o := open(t)
	boss := o.boss(o.A)
	var owners, members, invitations, secrets, engines []string
	for i := range 24 {
		name := fmt.Sprintf("p%02d", i)
		if i%6 == 0 {
			owners = append(owners, o.member(o.A, name+"@example.com", people.RoleOwner))
		} else {
			members = append(members, o.member(o.A, name+"@example.com", people.RoleMember))
		}
		invitations = append(invitations, o.json(o.As(boss, "POST", "/v1/invitations", `{"email":"i`+name+`@example.com"}`))["id"].(string))
		secrets = append(secrets, strings.ToUpper(name))
		o.Want(name, o.As(boss, "PUT", "/v1/secrets/"+strings.ToUpper(name), `{"value":"x"}`), 200, "")
		engines = append(engines, name)
		o.vendor.Names = engines
		o.Want(name, o.As(boss, "PUT", "/v1/engine-keys/"+name, `{"key":"a-key-of-`+name+`"}`), 200, "")
	}
	slices.Sort(invitations)
	slices.Reverse(invitations)
	other := o.boss(o.B)
	for _, tt := range []struct {
		path, field string
		want        []string
	}{
		{"/v1/members", "user_id", append(owners, members...)},
		{"/v1/invitations", "id", invitations},
		{"/v1/secrets", "name", secrets},
		{"/v1/engine-keys", "engine", engines},
	} {
		for _, limit := range []int{1, 5, 23, 24, 100} {
			if all := o.pages(boss, tt.path, tt.field, limit); !slices.Equal(all, tt.want) {
				t.Errorf("%s by %d: %v, want %v", tt.path, limit, all, tt.want)
			}
		}
		if all, next := o.page(boss, tt.path, tt.field); !slices.Equal(all, tt.want) || next != "" {
			t.Errorf("%s without a limit: %v, next %q", tt.path, all, next)
		}
		_, next := o.page(boss, tt.path+"?limit=7", tt.field)
		if all, _ := o.page(other, tt.path+"?cursor="+next, tt.field); len(all) != 0 {
			t.Errorf("%s: another account reads on with %v", tt.path, all)
		}
		o.Want("remove", o.As(boss, "DELETE", tt.path+"/"+tt.want[6], ""), map[bool]int{true: 200, false: 204}[tt.field == "user_id"], "")
		if all, _ := o.page(boss, tt.path+"?cursor="+next, tt.field); !slices.Equal(all, tt.want[7:]) {
			t.Errorf("%s after what is gone: %v", tt.path, all)
		}
		for _, query := range []string{"?limit=0", "?limit=101", "?cursor=" + strings.Repeat("x", 401), "?cursor=%00"} {
			o.Want(tt.path+query, o.As(boss, "GET", tt.path+query, ""), 400, "validation.invalid_request_format")
		}
	}
	for _, cursor := range []string{"x", "AAAA", "b3duZXIgAA"} { // the last is "owner " and NUL
		o.Want(cursor, o.As(boss, "GET", "/v1/members?cursor="+cursor, ""), 400, "validation.invalid_request_format")
	}
}

func TestLists(t *testing.T) {
	o := open(t)
	for _, tt := range []struct{ path, first string }{{"/v1/agents", o.A.Agent}, {"/v1/keys", o.A.KeyID}} {
		want := []string{tt.first}
		for range 24 {
			want = append(want, o.json(o.As(o.A, "POST", tt.path, `{"name":"N"}`))["id"].(string))
		}
		// Identifiers of one millisecond have no order of their own.
		slices.Sort(want)
		slices.Reverse(want)
		for _, limit := range []int{1, 7, 24, 25, 100} {
			if all := o.pages(o.A, tt.path, "id", limit); !slices.Equal(all, want) {
				t.Errorf("%s by %d: %v", tt.path, limit, all)
			}
		}
		if ids, next := o.page(o.A, tt.path, "id"); len(ids) != 20 || next != ids[19] {
			t.Errorf("%s without a limit: %d items, next %q", tt.path, len(ids), next)
		}
		if ids, _ := o.page(o.A, tt.path+"?cursor="+want[24], "id"); len(ids) != 0 {
			t.Errorf("after the last: %v", ids)
		}
		for _, query := range []string{"?limit=0", "?limit=101", "?limit=x", "?limit=-1", "?cursor=" + strings.Repeat("x", 101), "?cursor=%00"} {
			o.Want(query, o.As(o.A, "GET", tt.path+query, ""), 400, "validation.invalid_request_format")
		}
	}
	if body := string(o.As(o.B, "GET", "/v1/agents?cursor=ag_0", "").Body); strings.TrimSpace(body) != `{"data":[],"has_more":false,"next_cursor":null}` {
		t.Errorf("an empty list: %s", body)
	}
}

func TestKeys(t *testing.T) {
	o := open(t)
	r := o.As(o.A, "POST", "/v1/keys", `{"name":"website"}`)
	o.Want("create", r, 201, "")
	made := o.json(r)
	secret, id := fmt.Sprint(made["api_key"]), fmt.Sprint(made["id"])
	if !strings.HasPrefix(secret, "sk_") || !strings.HasSuffix(secret, fmt.Sprint(made["last4"])) || made["name"] != "website" ||
		made["last_used_at"] != nil || made["revoked_at"] != nil || r.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("created %v", made)
	}
	made2 := owner{Key: secret}
	o.Want("use", o.As(made2, "GET", "/v1/agents/"+o.A.Agent, ""), 200, "")
	list := o.As(o.A, "GET", "/v1/keys", "")
	if strings.Contains(string(list.Body), secret) || strings.Contains(string(list.Body), "api_key") || !strings.Contains(string(list.Body), id) {
		t.Errorf("list %s", list.Body)
	}
	ticket := fmt.Sprint(o.json(o.As(made2, "POST", "/ws-ticket", ""))["ticket"])
	o.Want("a ticket of it", o.As(owner{Key: ticket}, "POST", "/ws-ticket", ""), 200, "")

	// The key in use may be revoked, and takes its tickets with it.
	o.Want("revoke", o.As(made2, "DELETE", "/v1/keys/"+id, ""), 204, "")
	o.Want("use it", o.As(made2, "GET", "/v1/keys", ""), 401, "auth.invalid_key")
	o.Want("use its ticket", o.As(owner{Key: ticket}, "POST", "/ws-ticket", ""), 401, "auth.invalid_key")
	o.Want("revoke again", o.As(o.A, "DELETE", "/v1/keys/"+id, ""), 204, "")
	keys := o.json(o.As(o.A, "GET", "/v1/keys?limit=1", ""))["data"].([]any)
	if k := keys[0].(map[string]any); k["id"] != id || k["revoked_at"] == nil || k["last_used_at"] == nil {
		t.Errorf("%v", k)
	}
	for _, body := range []string{`{}`, `{"name":""}`, `{"name":" "}`, `{"name":7}`, `{"name":"a\u0000"}`, `{"name":"` + strings.Repeat("é", 101) + `"}`, `[]`, ``} {
		r := o.As(o.A, "POST", "/v1/keys", body)
		o.Want(body, r, 400, "validation.invalid_request_format")
		if strings.HasPrefix(body, "{") && !strings.Contains(fmt.Sprint(o.json(r)["detail"]), "name") {
			t.Errorf("%s: %s", body, r.Body)
		}
	}
}
