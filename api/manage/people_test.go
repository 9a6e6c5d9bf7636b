package manage_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"parley/store"
	"parley/store/people"
)

// boss is an account with a key that may change its people.
func (o *office) boss(of owner) owner {
	o.Helper()
	k, secret, err := o.People.FirstKey(o.Context(), of.Account, "boss", "")
	if err != nil {
		o.Fatal(err)
	}
	of.Key, of.KeyID = secret, k.ID
	return of
}

// operator is the secret of an operator's key.
func (o *office) operator() string {
	o.Helper()
	u, err := o.People.CreateUser(o.Context(), "operator@example.com", people.RoleOperator)
	if err != nil {
		o.Fatal(err)
	}
	_, secret, err := o.People.CreateOperatorKey(o.Context(), u.ID, "x")
	if err != nil {
		o.Fatal(err)
	}
	return secret
}

// member is a user who belongs to an account.
func (o *office) member(of owner, email, role string) string {
	o.Helper()
	u, err := o.People.CreateUser(o.Context(), email, people.RoleMember)
	if err != nil {
		o.Fatal(err)
	}
	if err := o.People.AddMember(o.Context(), of.Account, u.ID, role); err != nil {
		o.Fatal(err)
	}
	return u.ID
}

// TestMembers: an owner's key lists, promotes and removes people, and the last owner stays.
func TestMembers(t *testing.T) {
	o := open(t)
	boss := o.boss(o.A)
	ana, luis := o.member(o.A, "ana@example.com", people.RoleOwner), o.member(o.A, "luis@example.com", people.RoleMember)
	o.member(o.B, "eve@example.com", people.RoleOwner)
	text := string(o.As(boss, "GET", "/v1/members", "").Body)
	if strings.Count(text, `"user_id"`) != 2 || strings.Contains(text, "eve") || strings.Index(text, ana) > strings.Index(text, luis) {
		t.Errorf("the members are %s", text)
	}
	refused := func(what string, r reply, detail string) {
		t.Helper()
		o.Want(what, r, 400, "validation.invalid_request_format")
		if !bytes.Contains(r.Body, []byte(detail)) {
			t.Errorf("%s: %s", what, r.Body)
		}
	}
	refused("the last owner becomes a member", o.As(boss, "PATCH", "/v1/members/"+ana, `{"role":"member"}`), "at least one owner")
	refused("the last owner goes", o.As(boss, "DELETE", "/v1/members/"+ana, ""), "at least one owner")
	refused("no role", o.As(boss, "PATCH", "/v1/members/"+luis, `{"role":"operator"}`), "role")
	now := o.json(o.As(boss, "PATCH", "/v1/members/"+luis, `{"role":"owner"}`))
	if now["role"] != "owner" || now["email"] != "luis@example.com" || now["user_id"] != luis {
		t.Errorf("promoted: %v", now)
	}
	o.Want("the first owner goes", o.As(boss, "DELETE", "/v1/members/"+ana, ""), 200, "")
	o.Want("once more", o.As(boss, "DELETE", "/v1/members/"+ana, ""), 404, "request.not_found")
	list, err := o.People.Members(t.Context(), o.A.Account, store.Page{})
	if err != nil || len(list) != 1 || list[0].User != luis || list[0].Role != people.RoleOwner {
		t.Errorf("left are %+v, %v", list, err)
	}
}

// TestInvitations: the link that the answer holds lets the person in, with the role.
func TestInvitations(t *testing.T) {
	o := open(t)
	boss, ctx := o.boss(o.A), t.Context()
	o.member(o.A, "ana@example.com", people.RoleOwner)
	r := o.As(boss, "POST", "/v1/invitations", `{"email":" Luis@Example.com ","role":"owner"}`)
	o.Want("an invitation", r, 201, "")
	made := o.json(r)
	link, _ := made["url"].(string)
	address, token, _ := strings.Cut(link, "token=")
	if address != "https://voice.example.com/app/invitation?" || len(token) < 40 || made["email"] != "luis@example.com" || made["role"] != "owner" ||
		made["invited_by"] != nil || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("made: %v, %v", made, r.Header)
	}
	text := string(o.As(boss, "GET", "/v1/invitations", "").Body)
	if !strings.Contains(text, fmt.Sprint(made["id"])) || strings.Contains(text, token) || strings.Contains(text, `"url"`) {
		t.Errorf("the list: %s", text)
	}
	user, err := o.People.AcceptInvitation(ctx, token, "", "$hash")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(o.As(boss, "GET", "/v1/members", "").Body); !strings.Contains(text, user) {
		t.Errorf("who accepted is no member: %s", text)
	}
	if text := string(o.As(boss, "GET", "/v1/invitations", "").Body); !strings.HasPrefix(text, `{"data":[],"has_more":false,"next_cursor":null}`) {
		t.Errorf("what was accepted is still there: %s", text)
	}
	for body, what := range map[string]string{
		`{"email":"nonsense"}`:                                 "email: ",
		`{"email":"ana@example.com"}`:                          "email: ana@example.com belongs to the account already",
		`{"email":"eva@example.com","role":"operator"}`:        "role",
		`{"role":"member"}`:                                    "email",
		`{"email":"` + strings.Repeat("a", 260) + `@x.com"}`:   "email",
		`{"email":"eva@example.com\u0000"}`:                    "email: ",
		`{"email":"eva@example.com","role":"owner\u0000"}`:     "role",
		`{"email":"Eva <eva@example.com>","role":"member"}`:    "email: ",
		`{"email":"eva@example.com, x@example.com","role":""}`: "role",
	} {
		r := o.As(boss, "POST", "/v1/invitations", body)
		o.Want(body, r, 400, "validation.invalid_request_format")
		if !bytes.Contains(r.Body, []byte(what)) {
			t.Errorf("%s: %s", body, r.Body)
		}
	}
	second := o.json(o.As(boss, "POST", "/v1/invitations", `{"email":"eva@example.com"}`))
	if second["role"] != "member" {
		t.Errorf("without a role: %v", second)
	}
	at := "/v1/invitations/" + fmt.Sprint(second["id"])
	o.Want("taken back", o.As(boss, "DELETE", at, ""), 204, "")
	o.Want("once more", o.As(boss, "DELETE", at, ""), 404, "request.not_found")
	_, token, _ = strings.Cut(fmt.Sprint(second["url"]), "token=")
	if _, err := o.People.AcceptInvitation(ctx, token, "", "$hash"); err == nil {
		t.Error("the link of what was taken back opens the account")
	}
	if strings.Contains(o.log.String(), token) {
		t.Error("the log holds the link")
	}
}

// TestForeignPeopleAreUnknown: people of another account are answered, byte for byte, as
// if there were nobody.
func TestForeignPeopleAreUnknown(t *testing.T) {
	o := open(t)
	boss := o.boss(o.B)
	ana := o.member(o.A, "ana@example.com", people.RoleOwner)
	inv, _, err := o.People.Invite(t.Context(), o.A.Account, "luis@example.com", people.RoleMember, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ method, path, body, theirs string }{
		{"PATCH", "/v1/members/%s", `{"role":"member"}`, ana},
		{"DELETE", "/v1/members/%s", "", ana},
		{"DELETE", "/v1/invitations/%s", "", inv.ID},
	} {
		for _, unknown := range []string{"usr_00000000000000000000000000", "%00", "%ff", o.A.Account} {
			foreign, nothing := o.As(boss, tt.method, fmt.Sprintf(tt.path, tt.theirs), tt.body), o.As(boss, tt.method, fmt.Sprintf(tt.path, unknown), tt.body)
			if foreign.Status != 404 || nothing.Status != 404 || !bytes.Equal(foreign.Anonymous().Body, nothing.Anonymous().Body) {
				t.Errorf("%s %s: %d %s; of %s %d %s", tt.method, tt.path, foreign.Status, foreign.Body, unknown, nothing.Status, nothing.Body)
			}
		}
	}
	if list, err := o.People.Members(t.Context(), o.A.Account, store.Page{}); err != nil || len(list) != 1 || list[0].Role != people.RoleOwner {
		t.Errorf("their people were touched: %+v, %v", list, err)
	}
}

// TestNoKeyRaisesItself: a member's key makes no owner's.
func TestNoKeyRaisesItself(t *testing.T) {
	o := open(t)
	for _, tt := range []struct {
		who    owner
		body   string
		status int
		role   any
	}{
		{o.A, `{"name":"x"}`, 201, "member"},
		{o.A, `{"name":"x","role":"owner"}`, 403, nil},
		{o.A, `{"name":"x","role":"operator"}`, 400, nil},
		{o.boss(o.A), `{"name":"x"}`, 201, "member"},
		{o.boss(o.A), `{"name":"x","role":"owner"}`, 201, "owner"},
		{o.boss(o.A), `{"name":"x","role":"operator"}`, 400, nil},
	} {
		r := o.As(tt.who, "POST", "/v1/keys", tt.body)
		made := o.json(r)
		if r.Status != tt.status || made["role"] != tt.role {
			t.Errorf("%s: %d %s", tt.body, r.Status, r.Body)
		}
		if r.Status != 201 {
			continue
		}
		want := map[any]int{"member": 403, "owner": 200}[tt.role]
		if got := o.Send("GET", "/v1/members", "", "Authorization", "Bearer "+fmt.Sprint(made["api_key"])).Status; got != want {
			t.Errorf("the key that %s made is answered %d", tt.body, got)
		}
	}
}
