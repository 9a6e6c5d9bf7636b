package dashboard_test

import (
	"parley/store/people"

	"bufio"
	"net/http"
	"strings"
	"testing"

	"parley/api/callcenter"
	"parley/api/wire"
)

// TestFollowingEndsWithTheCredential: who follows a call is told nothing more once the key is revoked, the sign-in has
// ended or its user has left the account.
func TestFollowingEndsWithTheCredential(t *testing.T) {
	x := newExchange(t)
	ctx := t.Context()
	luis, ana := x.NewUser("luis@example.com", people.RoleMember), x.NewUser("eva@example.com", people.RoleMember)
	for _, user := range []string{luis, ana} {
		x.OK(people.New(x.DB).AddMember(ctx, x.Account, user, people.RoleMember))
	}
	removed, left := x.NewClient(), x.NewClient()
	x.SignInAs(removed, luis)
	x.SignInAs(left, ana)
	key, secret, err := people.New(x.DB).MakeKey(ctx, people.NewKey{Account: x.Account, Name: "website", Role: people.RoleMember})
	x.OK(err)
	for _, tt := range []struct {
		name, secret string
		client       *http.Client
		end          func()
	}{
		{"a revoked key", secret, x.NewClient(), func() { x.OK(people.New(x.DB).RevokeKey(ctx, x.Account, key.ID)) }},
		{"a removed member", "", removed, func() { x.Post("/app/people/" + luis + "/remove") }},
		{"a sign-out", "", left, func() { x.Ask(left, "POST", "/app/sign-out", "", "Sec-Fetch-Site", "same-origin") }},
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.URL+"/v1/calls/"+x.lasts+"/events", nil)
		x.OK(err)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if tt.secret != "" {
			r.Header.Set("X-API-Key", tt.secret)
		}
		x.changes <- callcenter.Change{Kind: callcenter.Snapshot, State: wire.CallState{Status: "connected"}}
		x.changes <- callcenter.Change{Kind: callcenter.LineAdded, Line: wire.SpokenLine{Role: "user", Text: "before"}}
		resp, err := tt.client.Do(r)
		x.OK(err)
		body := bufio.NewReader(resp.Body)
		for line := ""; !strings.Contains(line, "before"); {
			line, err = body.ReadString('\n')
			x.OK(err)
		}
		tt.end()
		x.changes <- callcenter.Change{Kind: callcenter.LineAdded, Line: wire.SpokenLine{Role: "user", Text: "after"}}
		for err == nil {
			line := ""
			if line, err = body.ReadString('\n'); strings.Contains(line, "after") {
				t.Fatalf("%s: the stream goes on", tt.name)
			}
		}
		resp.Body.Close()
	}
}
