package manage_test

import (
	"parley/store/people"

	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/api"
)

// route of those that tickets and management have; %s is an identifier.
type route struct{ method, path, body string }

func routes() []route {
	return []route{
		{"GET", "/v1/agents", ""},
		{"POST", "/v1/agents", `{"name":"Lola"}`},
		{"GET", "/v1/agents/ag_none", ""},
		{"PATCH", "/v1/agents/ag_none", `{"name":"Lola"}`},
		{"DELETE", "/v1/agents/ag_none", ""},
		{"GET", "/v1/keys", ""},
		{"POST", "/v1/keys", `{"name":"website"}`},
		{"DELETE", "/v1/keys/key_none", ""},
		{"GET", "/v1/secrets", ""},
		{"PUT", "/v1/secrets/KEY", `{"value":"x"}`},
		{"DELETE", "/v1/secrets/NONE", ""},
		{"GET", "/v1/members", ""},
		{"PATCH", "/v1/members/usr_none", `{"role":"owner"}`},
		{"DELETE", "/v1/members/usr_none", ""},
		{"GET", "/v1/invitations", ""},
		{"POST", "/v1/invitations", `{"email":"eva@example.com"}`},
		{"DELETE", "/v1/invitations/inv_none", ""},
		{"POST", "/v1/session-tickets", `{"agent_id":"ag_none"}`},
		{"POST", "/ws-ticket", ""},
	}
}

// people says whether a route is for owners only.
func (r route) people() bool {
	return strings.HasPrefix(r.path, "/v1/members") || strings.HasPrefix(r.path, "/v1/invitations")
}

// TestCredentials is every way to send every kind of credential to every route.
func TestCredentials(t *testing.T) {
	o := open(t)
	other, secret, err := people.New(o.db).MakeKey(t.Context(), people.NewKey{Account: o.a.account, Name: "revoked", Role: people.RoleMember})
	if err != nil {
		t.Fatal(err)
	}
	if err := people.New(o.db).RevokeKey(t.Context(), o.a.account, other.ID); err != nil {
		t.Fatal(err)
	}
	revoked := o.signer.Sign(api.Principal{Account: o.a.account, Key: other.ID, Ticket: &api.Ticket{Expires: time.Now().Add(time.Minute)}})
	foreign := o.signer.Sign(api.Principal{Account: o.b.account, Key: o.a.keyID, Ticket: &api.Ticket{Expires: time.Now().Add(time.Minute)}})
	operator := o.operator()
	kinds := []struct{ name, secret string }{
		{"key", o.a.key}, {"an owner's key", o.boss(o.a).key}, {"an operator's key", operator}, {"ticket", o.ticket(api.Ticket{})}, {"session ticket", o.ticket(api.Ticket{Agent: o.a.agent, MaxSessions: 1})},
		{"none", ""}, {"garbage", "sk_garbage"}, {"garbage of a ticket", "wst_garbage"}, {"an expired ticket", o.ticket(api.Ticket{Expires: time.Now()})},
		{"a revoked key", secret}, {"a revoked key's ticket", revoked}, {"a ticket whose key is another's", foreign},
	}
	for _, r := range routes() {
		for _, k := range kinds {
			for _, carrier := range []string{"Authorization", "X-API-Key", "api_key"} {
				target, header := r.path, []string{carrier, k.secret}
				switch {
				case carrier == "api_key":
					target, header = target+"?api_key="+k.secret, nil
				case carrier == "Authorization" && k.secret != "":
					header[1] = "Bearer " + k.secret
				}
				got := o.send(r.method, target, r.body, header...)
				status, code := expected(r, k.name, carrier)
				if p := problem(got.body); got.status != status || p != code {
					t.Errorf("%s %s with %s in %s: %d %s, want %d %s", r.method, r.path, k.name, carrier, got.status, p, status, code)
				}
			}
		}
	}
}

// expected says how a route answers a kind of credential.
func expected(r route, kind, carrier string) (int, string) {
	mints := r.path == "/ws-ticket"
	switch {
	case kind == "none", mints && carrier == "api_key":
		return 401, "auth.missing_key"
	case kind == "an operator's key", kind == "key" && r.people():
		return 403, "auth.role_not_allowed"
	case kind == "key", kind == "an owner's key":
		return whenAllowed(r)
	case kind == "ticket" && mints:
		return 200, ""
	case kind == "ticket", kind == "session ticket":
		return 403, "auth.ticket_not_allowed"
	}
	return 401, "auth.invalid_key"
}

func whenAllowed(r route) (int, string) {
	switch {
	case strings.HasPrefix(r.path, "/v1/agents/"), r.path == "/v1/session-tickets":
		return 404, "agent.not_found"
	case strings.HasPrefix(r.path, "/v1/keys/"), r.method == "DELETE" && strings.HasPrefix(r.path, "/v1/secrets/"):
		return 404, "request.not_found"
	case r.people() && strings.HasSuffix(r.path, "_none"):
		return 404, "request.not_found"
	case r.method == "POST" && r.path != "/ws-ticket":
		return 201, ""
	}
	return 200, ""
}

// problem is the code of an error's body.
func problem(body []byte) string {
	_, rest, ok := bytes.Cut(body, []byte(`{"code":"`))
	if !ok {
		return ""
	}
	code, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(code)
}

// TestForeignIsUnknown: whatever B tries on A's identifiers is answered, byte for
// byte, as if there were no such thing, and leaves A's things alone.
func TestForeignIsUnknown(t *testing.T) {
	o := open(t)
	for _, tt := range []struct{ method, path, body, mine, unknown string }{
		{"GET", "/v1/agents/%s", "", o.a.agent, "ag_00000000000000000000000000"},
		{"PATCH", "/v1/agents/%s", `{"prompt":"Be rude."}`, o.a.agent, "ag_00000000000000000000000000"},
		{"PATCH", "/v1/agents/%s", `{}`, o.a.keyID, o.a.account},
		{"DELETE", "/v1/agents/%s", "", o.a.agent, "ag_00000000000000000000000000"},
		{"DELETE", "/v1/keys/%s", "", o.a.keyID, "key_00000000000000000000000000"},
		{"POST", "/v1/session-tickets", `{"agent_id":"%s"}`, o.a.agent, "ag_00000000000000000000000000"},
		{"GET", "/v1/agents/%s", "", o.a.agent, "%00"},
		{"DELETE", "/v1/agents/%s", "", o.a.agent, "%ff%00"},
		{"DELETE", "/v1/keys/%s", "", o.a.keyID, "%00"},
		{"GET", "/v1/agents?cursor=%s", "", "ag_00000000000000000000000000", "ag_"},
	} {
		for _, version := range []string{"", `"1"`, `"9"`, "*"} {
			answer := func(id string) reply {
				path, body := tt.path, tt.body
				if strings.Contains(path, "%s") {
					path = fmt.Sprintf(path, id)
				} else {
					body = fmt.Sprintf(body, id)
				}
				var header []string
				if version != "" {
					header = []string{"If-Match", version}
				}
				got := o.as(o.b, tt.method, path, body, header...)
				got.header.Del("Date")
				return got
			}
			mine, unknown := answer(tt.mine), answer(tt.unknown)
			if mine.status != unknown.status || !bytes.Equal(mine.body, unknown.body) || fmt.Sprint(mine.header) != fmt.Sprint(unknown.header) {
				t.Errorf("%s %s, If-Match %s: %d %s %v; of nothing %d %s %v", tt.method, tt.path, version,
					mine.status, mine.body, mine.header, unknown.status, unknown.body, unknown.header)
			}
			if !strings.Contains(tt.path, "cursor") && mine.status != 404 {
				t.Errorf("%s %s: %d", tt.method, tt.path, mine.status)
			}
		}
	}
	for _, path := range []string{"/v1/agents", "/v1/keys"} {
		if text := string(o.as(o.b, "GET", path, "").body); strings.Contains(text, o.a.agent) || strings.Contains(text, o.a.keyID) {
			t.Errorf("%s shows what is another's: %s", path, text)
		}
	}
	if a, err := o.db.Agent(t.Context(), o.a.account, o.a.agent); err != nil || a.Version != 1 {
		t.Errorf("the agent was touched: %+v, %v", a, err)
	}
	o.want("the key still works", o.as(o.a, "GET", "/v1/keys", ""), 200, "")
}

// TestNoSecretIsLogged: a server that logs everything logs no credential, and no
// list shows one.
func TestNoSecretIsLogged(t *testing.T) {
	o := open(t)
	secrets := []string{o.a.key}
	created := o.json(o.as(o.a, "POST", "/v1/keys", `{"name":"website"}`))
	minted := o.json(o.as(o.a, "POST", "/ws-ticket", ""))
	session := o.json(o.as(o.a, "POST", "/v1/session-tickets", `{"agent_id":"`+o.a.agent+`"}`))
	for _, s := range []any{created["api_key"], minted["ticket"], session["ticket"]} {
		if s, ok := s.(string); ok && len(s) > 20 {
			secrets = append(secrets, s)
		}
	}
	if len(secrets) != 4 {
		t.Fatalf("answers %v, %v, %v", created, minted, session)
	}
	for _, r := range routes() {
		for _, s := range append(secrets, "sk_garbage", "wst_garbage") {
			for _, got := range []reply{o.send(r.method, r.path+"?api_key="+s, r.body), o.send(r.method, r.path, r.body, "X-API-Key", s)} {
				if r.method == "GET" && bytes.Contains(got.body, []byte("sk_")) {
					t.Errorf("%s shows a secret", r.path)
				}
			}
		}
	}
	text := o.log.String()
	if strings.Count(text, "msg=request") < 40 {
		t.Fatalf("too little was logged to look at:\n%s", text)
	}
	for _, s := range append(secrets, "sk_", "wst_", "op_", "token=") {
		if strings.Contains(text, s) {
			t.Errorf("the log holds %.8s…", s)
		}
	}
}
