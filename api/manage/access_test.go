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
		{"GET", "/v1/account", ""},
		{"GET", "/v1/keys", ""},
		{"POST", "/v1/keys", `{"name":"website"}`},
		{"DELETE", "/v1/keys/key_none", ""},
		{"GET", "/v1/secrets", ""},
		{"PUT", "/v1/secrets/KEY", `{"value":"x"}`},
		{"DELETE", "/v1/secrets/NONE", ""},
		{"GET", "/v1/engine-keys", ""},
		{"PUT", "/v1/engine-keys/flux", `{"key":"a-key-of-deepgram"}`},
		{"DELETE", "/v1/engine-keys/none", ""},
		{"POST", "/v1/engine-keys/none/test", ""},
		{"POST", "/v1/functions/test", `{"tools":[],"name":"none"}`},
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

// people says whether a route is for owners only, as those of people are.
func (r route) people() bool {
	return r.path == "/v1/functions/test" || strings.HasPrefix(r.path, "/v1/members") || strings.HasPrefix(r.path, "/v1/invitations")
}

// TestCredentials is every way to send every kind of credential to every route.
func TestCredentials(t *testing.T) {
	o := open(t)
	other, secret, err := o.People.MakeKey(t.Context(), people.NewKey{Account: o.A.Account, Name: "revoked", Role: people.RoleMember})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.People.RevokeKey(t.Context(), o.A.Account, other.ID); err != nil {
		t.Fatal(err)
	}
	revoked := o.signer.Sign(api.Principal{Account: o.A.Account, Key: other.ID, Ticket: &api.Ticket{Expires: time.Now().Add(time.Minute)}})
	foreign := o.signer.Sign(api.Principal{Account: o.B.Account, Key: o.A.KeyID, Ticket: &api.Ticket{Expires: time.Now().Add(time.Minute)}})
	operator := o.operator()
	kinds := []struct{ name, secret string }{
		{"key", o.A.Key}, {"an owner's key", o.boss(o.A).Key}, {"an operator's key", operator}, {"ticket", o.ticket(api.Ticket{})}, {"session ticket", o.ticket(api.Ticket{Agent: o.A.Agent, MaxSessions: 1})},
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
				got := o.Send(r.method, target, r.body, header...)
				status, code := expected(r, k.name, carrier)
				if p := problem(got.Body); got.Status != status || p != code {
					t.Errorf("%s %s with %s in %s: %d %s, want %d %s", r.method, r.path, k.name, carrier, got.Status, p, status, code)
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
	case strings.HasPrefix(r.path, "/v1/keys/"), strings.HasPrefix(r.path, "/v1/engine-keys/none"), r.method == "DELETE" && strings.HasPrefix(r.path, "/v1/secrets/"):
		return 404, "request.not_found"
	case r.people() && strings.HasSuffix(r.path, "_none"):
		return 404, "request.not_found"
	case r.method == "POST" && r.path != "/ws-ticket" && r.path != "/v1/functions/test":
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
	o.Want("a key for an engine", o.As(o.A, "PUT", "/v1/engine-keys/flux", `{"key":"a-key-of-deepgram"}`), 200, "")
	for _, tt := range []struct{ method, path, body, mine, unknown string }{
		{"GET", "/v1/agents/%s", "", o.A.Agent, "ag_00000000000000000000000000"},
		{"PATCH", "/v1/agents/%s", `{"prompt":"Be rude."}`, o.A.Agent, "ag_00000000000000000000000000"},
		{"PATCH", "/v1/agents/%s", `{}`, o.A.KeyID, o.A.Account},
		{"DELETE", "/v1/agents/%s", "", o.A.Agent, "ag_00000000000000000000000000"},
		{"DELETE", "/v1/keys/%s", "", o.A.KeyID, "key_00000000000000000000000000"},
		{"POST", "/v1/session-tickets", `{"agent_id":"%s"}`, o.A.Agent, "ag_00000000000000000000000000"},
		{"GET", "/v1/agents/%s", "", o.A.Agent, "%00"},
		{"DELETE", "/v1/agents/%s", "", o.A.Agent, "%ff%00"},
		{"DELETE", "/v1/keys/%s", "", o.A.KeyID, "%00"},
		{"DELETE", "/v1/engine-keys/%s", "", "flux", "none"},
		{"POST", "/v1/engine-keys/%s/test", "", "flux", "none"},
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
				got := o.As(o.B, tt.method, path, body, header...)
				return got.Anonymous()
			}
			mine, unknown := answer(tt.mine), answer(tt.unknown)
			if mine.Status != unknown.Status || !bytes.Equal(mine.Body, unknown.Body) || fmt.Sprint(mine.Header) != fmt.Sprint(unknown.Header) {
				t.Errorf("%s %s, If-Match %s: %d %s %v; of nothing %d %s %v", tt.method, tt.path, version,
					mine.Status, mine.Body, mine.Header, unknown.Status, unknown.Body, unknown.Header)
			}
			if !strings.Contains(tt.path, "cursor") && mine.Status != 404 {
				t.Errorf("%s %s: %d", tt.method, tt.path, mine.Status)
			}
		}
	}
	for _, path := range []string{"/v1/agents", "/v1/keys"} {
		if text := string(o.As(o.B, "GET", path, "").Body); strings.Contains(text, o.A.Agent) || strings.Contains(text, o.A.KeyID) {
			t.Errorf("%s shows what is another's: %s", path, text)
		}
	}
	if a, err := o.DB.Agent(t.Context(), o.A.Account, o.A.Agent); err != nil || a.Version != 1 {
		t.Errorf("the agent was touched: %+v, %v", a, err)
	}
	o.Want("the key still works", o.As(o.A, "GET", "/v1/keys", ""), 200, "")
	o.Want("the engine's is there", o.As(o.A, "DELETE", "/v1/engine-keys/flux", ""), 204, "")
}

// TestNoSecretIsLogged: a server that logs everything logs no credential, and no
// list shows one.
func TestNoSecretIsLogged(t *testing.T) {
	o := open(t)
	secrets := []string{o.A.Key}
	created := o.json(o.As(o.A, "POST", "/v1/keys", `{"name":"website"}`))
	minted := o.json(o.As(o.A, "POST", "/ws-ticket", ""))
	session := o.json(o.As(o.A, "POST", "/v1/session-tickets", `{"agent_id":"`+o.A.Agent+`"}`))
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
			for _, got := range []reply{o.Send(r.method, r.path+"?api_key="+s, r.body), o.Send(r.method, r.path, r.body, "X-API-Key", s)} {
				if r.method == "GET" && bytes.Contains(got.Body, []byte("sk_")) {
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
