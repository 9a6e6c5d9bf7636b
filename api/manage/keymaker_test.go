package manage_test

import (
	"parley/store/people"
	"parley/store/storetest"

	"fmt"
	"net/http"
	"testing"
	"time"
)

// made is a key that an owner's request made.
func (o *office) made(by owner, body string) owner {
	o.Helper()
	r := o.As(by, "POST", "/v1/keys", body)
	o.Want("a key "+body, r, 201, "")
	k := o.json(r)
	return owner{Account: by.Account, Key: fmt.Sprint(k["api_key"]), KeyID: fmt.Sprint(k["id"])}
}

// TestMoneyIsGivenByOwners: the mark of a key comes from those who have it, and so does
// the role that could be used to give it.
func TestMoneyIsGivenByOwners(t *testing.T) {
	o := open(t)
	boss := o.boss(o.A)
	marked := o.made(boss, `{"name":"billing","money":true}`)
	if k := o.listed(boss, marked.KeyID); k["money"] != true || k["role"] != "member" || k["created_by"] != boss.KeyID || k["created_by_email"] != nil {
		t.Errorf("the key with the mark is %v", k)
	}
	plain := o.made(boss, `{"name":"people","role":"owner"}`)
	luis := o.member(o.A, "luis@example.com", people.RoleMember)
	refused := func(what string, r reply) {
		t.Helper()
		o.Want(what, r, http.StatusForbidden, "auth.role_not_allowed")
	}
	refused("a member gives the mark", o.As(o.A, "POST", "/v1/keys", `{"name":"x","money":true}`))
	refused("a key with the mark gives it", o.As(marked, "POST", "/v1/keys", `{"name":"x","money":true}`))
	refused("an owner's key without the mark gives it", o.As(plain, "POST", "/v1/keys", `{"name":"x","money":true}`))
	refused("it invites an owner", o.As(plain, "POST", "/v1/invitations", `{"email":"eva@example.com","role":"owner"}`))
	refused("it makes an owner", o.As(plain, "PATCH", "/v1/members/"+luis, `{"role":"owner"}`))
	refused("a member ends an owner's key", o.As(o.A, "DELETE", "/v1/keys/"+boss.KeyID, ""))
	refused("a member ends a key with the mark", o.As(o.A, "DELETE", "/v1/keys/"+marked.KeyID, ""))
	o.Want("it invites a member", o.As(plain, "POST", "/v1/invitations", `{"email":"eva@example.com"}`), 201, "")
	o.Want("a key ends itself", o.As(marked, "DELETE", "/v1/keys/"+marked.KeyID, ""), 204, "")
}

// listed is a key as the list shows it.
func (o *office) listed(by owner, id string) map[string]any {
	o.Helper()
	for _, k := range o.json(o.As(by, "GET", "/v1/keys?limit=100", ""))["data"].([]any) {
		if k := k.(map[string]any); k["id"] == id {
			return k
		}
	}
	o.Fatalf("no key %s in the list", id)
	return nil
}

// TestRemovalNamesKeys: whoever removes somebody learns which keys they made, also by one
// of their keys, and can end them.
func TestRemovalNamesKeys(t *testing.T) {
	for query, want := range map[string]int{"": 200, "?keys=keep": 200, "?keys=revoke": 401} {
		o := open(t)
		boss, at := o.boss(o.A), time.Now().Add(-time.Minute) // before the other keys, by any clock
		luis := o.member(o.A, "luis@example.com", people.RoleMember)
		k, secret, err := o.People.MakeKey(storetest.At(t.Context(), at), people.NewKey{Account: o.A.Account, Name: "by Luis", Role: people.RoleMember, Maker: luis})
		if err != nil {
			t.Fatal(err)
		}
		his := owner{Account: o.A.Account, Key: secret, KeyID: k.ID}
		second, other := o.made(his, `{"name":"by his key"}`), o.made(boss, `{"name":"by the boss"}`)
		if k := o.listed(boss, his.KeyID); k["created_by"] != luis || k["created_by_email"] != "luis@example.com" {
			t.Errorf("his key is %v", k)
		}
		r := o.As(boss, "DELETE", "/v1/members/"+luis+query, "")
		o.Want("removed", r, 200, "")
		var named []string
		for _, k := range o.json(r)["keys"].([]any) {
			k := k.(map[string]any)
			named = append(named, fmt.Sprint(k["id"]))
			if ended := k["revoked_at"] != nil; ended != (want == 401) {
				t.Errorf("%q: %v", query, k)
			}
		}
		if len(named) != 2 || named[0] != second.KeyID || named[1] != his.KeyID {
			t.Errorf("%q: the keys %v are named", query, named)
		}
		for who, status := range map[owner]int{his: want, second: want, other: 200, o.A: 200} {
			if r := o.As(who, "GET", "/v1/keys", ""); r.Status != status {
				t.Errorf("%q: a key is answered %d, want %d", query, r.Status, status)
			}
		}
	}
}

// TestListeningIsGivenByOwners: who may listen in on calls is for owners to say, of keys and of people, and it is nobody's before.
func TestListeningIsGivenByOwners(t *testing.T) {
	o := open(t)
	boss := o.boss(o.A)
	ear := o.made(boss, `{"name":"supervisor","listen":true}`)
	if k := o.listed(boss, ear.KeyID); k["listen"] != true || o.listed(boss, boss.KeyID)["listen"] != false {
		t.Errorf("the key is %v", k)
	}
	luis := o.member(o.A, "luis@example.com", people.RoleMember)
	o.Want("a member gives it", o.As(o.A, "POST", "/v1/keys", `{"name":"x","listen":true}`), http.StatusForbidden, "auth.role_not_allowed")
	o.Want("a key that has it gives it", o.As(ear, "POST", "/v1/keys", `{"name":"x","listen":true}`), http.StatusForbidden, "auth.role_not_allowed")
	o.Want("a member gives it to somebody", o.As(o.A, "PATCH", "/v1/members/"+luis, `{"listen":true}`), http.StatusForbidden, "auth.role_not_allowed")
	o.Want("nothing changes", o.As(boss, "PATCH", "/v1/members/"+luis, `{}`), http.StatusBadRequest, "validation.invalid_request_format")
	for _, may := range []bool{true, false} {
		now := o.json(o.As(boss, "PATCH", "/v1/members/"+luis, fmt.Sprintf(`{"listen":%v}`, may)))
		if now["listen"] != may || now["role"] != people.RoleMember {
			t.Errorf("%v: they are %v", may, now)
		}
	}
	for _, tt := range []struct {
		change         string
		listens, talks bool
	}{{`{"speak":true}`, true, true}, {`{"speak":false}`, true, false}, {`{"speak":true}`, true, true}, {`{"listen":false}`, false, false}} {
		if now := o.json(o.As(boss, "PATCH", "/v1/members/"+luis, tt.change)); now["listen"] != tt.listens || now["speak"] != tt.talks {
			t.Errorf("%s: they are %v", tt.change, now)
		}
	}
	mouth := o.made(boss, `{"name":"supervisor","speak":true}`)
	if k := o.listed(boss, mouth.KeyID); k["listen"] != true || k["speak"] != true {
		t.Errorf("the key is %v", k)
	}
	o.Want("a key that speaks gives it", o.As(mouth, "POST", "/v1/keys", `{"name":"x","speak":true}`), http.StatusForbidden, "auth.role_not_allowed")
	o.Want("one who is not there", o.As(boss, "PATCH", "/v1/members/usr_06er5bt0v9k1o7m2q3s4t5u6v0", `{"listen":true}`), http.StatusNotFound, "request.not_found")
}
