package operator_test

import (
	"parley/store/people"

	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestUsers: an operator's key disables, demotes and deletes people, and learns which
// keys they leave behind. It makes no operator.
func TestUsers(t *testing.T) {
	d := open(t)
	ctx, at := t.Context(), "/v1/operator/users"
	u, err := people.New(d.db).CreateUser(ctx, "luis@example.com", people.RoleOperator)
	d.ok(err)
	_, his, err := people.New(d.db).CreateOperatorKey(ctx, u.ID, "x")
	d.ok(err)
	k, secret, err := people.New(d.db).MakeKey(ctx, people.NewKey{Account: d.account, Name: "by Luis", Role: people.RoleMember, Maker: u.ID})
	d.ok(err)
	type person struct {
		ID, Role string
		Disabled *time.Time `json:"disabled_at"`
		Keys     []struct {
			ID      string
			Revoked *time.Time `json:"revoked_at"`
		}
	}
	send := func(want int, method, path, body string) (p person) {
		t.Helper()
		status, text := d.ask(d.key, method, path, body)
		if status != want {
			t.Fatalf("%s %s: %d %s, want %d", method, path, status, text, want)
		}
		if want == 200 {
			d.ok(json.Unmarshal([]byte(text), &p))
		}
		return p
	}
	if _, text := d.ask(d.key, "GET", at+"?limit=1", ""); !strings.Contains(text, u.ID) || !strings.Contains(text, `"has_more":true`) {
		t.Errorf("the list is %s", text)
	}
	if p := send(200, "PATCH", at+"/"+u.ID, `{"role":"member"}`); p.Role != "member" || p.Disabled != nil {
		t.Errorf("demoted: %+v", p)
	}
	if status, _ := d.ask(his, "GET", at, ""); status != 401 {
		t.Errorf("the key of somebody who is no operator is answered %d", status)
	}
	send(400, "PATCH", at+"/"+u.ID, `{"role":"operator"}`)
	if p := send(200, "PATCH", at+"/"+u.ID, `{"disabled":true}`); p.Disabled == nil || len(p.Keys) != 1 || p.Keys[0].ID != k.ID || p.Keys[0].Revoked != nil {
		t.Errorf("disabled: %+v", p)
	}
	if p := send(200, "PATCH", at+"/"+u.ID, `{"disabled":false}`); p.Disabled != nil || len(p.Keys) != 0 {
		t.Errorf("enabled: %+v", p)
	}
	if p := send(200, "DELETE", at+"/"+u.ID+"?keys=revoke", ""); len(p.Keys) != 1 || p.Keys[0].Revoked == nil {
		t.Errorf("deleted: %+v", p)
	}
	if _, err := people.New(d.db).Authenticate(ctx, secret); err == nil {
		t.Error("the key of somebody who was deleted is good")
	}
	for _, id := range []string{u.ID, "usr_none", "%00"} {
		send(404, "DELETE", at+"/"+id, "")
		send(404, "PATCH", at+"/"+id, `{"disabled":true}`)
	}
	if status, text := d.ask(d.owner, "GET", at, ""); status != 404 {
		t.Errorf("an account's key is answered %d %s", status, text)
	}
}
