package wallet_test

import (
	"parley/store/people"
	"parley/store/storetest"

	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/api/wire"
	"parley/billing"
)

func (o *bank) patchLimit(key, id, body string) (status int, answer string) {
	o.Helper()
	r, err := http.NewRequestWithContext(o.Context(), http.MethodPatch, o.server.URL+"/v1/spending-limits/"+id, strings.NewReader(body))
	o.ok(err)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	out, err := http.DefaultClient.Do(r)
	o.ok(err)
	defer out.Body.Close()
	b, err := io.ReadAll(out.Body)
	o.ok(err)
	return out.StatusCode, string(b)
}

func TestSpendingLimits(t *testing.T) {
	o := open(t)
	_, money, err := people.New(o.db).MakeKey(storetest.At(t.Context(), began), people.NewKey{Account: o.a.account, Name: "boss", Role: people.RoleMember, Money: true})
	o.ok(err)
	// Whoever may not change what is paid reads limits and sets none.
	if status, body := o.patchLimit(o.a.key, "account", `{"daily_limit": 100}`); status != 403 || !strings.Contains(body, "auth.role_not_allowed") {
		t.Errorf("a member's key sets a limit: %d %s", status, body)
	}
	for _, tt := range []struct {
		id, body string
		status   int
	}{
		{"account", `{"daily_limit": 20}`, 200}, {o.a.account, `{"daily_limit": 20.5}`, 200}, {o.a.keyID, `{"daily_limit": 0}`, 200}, {o.a.agent, `{"daily_limit": 7}`, 200},
		{"account", `{}`, 400}, {"account", `{"daily_limit": -1}`, 400}, {"account", `{"daily_limit": 1000001}`, 400}, {"account", `{"daily_limit": "a"}`, 400},
		{o.b.account, `{"daily_limit": 1}`, 404}, {o.b.keyID, `{"daily_limit": 1}`, 404}, {o.b.agent, `{"daily_limit": 1}`, 404}, {"no%00thing", `{"daily_limit": 1}`, 404},
	} {
		if status, body := o.patchLimit(money, tt.id, tt.body); status != tt.status {
			t.Errorf("%s %s: %d %s; want %d", tt.id, tt.body, status, body, tt.status)
		}
	}
	// A session of the agent that spends at this moment shows.
	o.topup(o.a.account, 100*billing.USD)
	now := time.Now()
	s := o.start(o.a.account, o.a.agent, billing.Terms{Kind: billing.Web}, now)
	o.use(s, 1, billing.Usage{billing.AgentTime: 600_000}, now)
	read := func() (list struct{ Data []wire.SpendingLimit }) {
		r := o.get(o.a, "/v1/spending-limits")
		o.ok(json.Unmarshal([]byte(r.body), &list))
		return list
	}
	got := read().Data
	if len(got) != 3 || got[0].ID != o.a.keyID || *got[0].DailyLimit.Amount != 0 || got[1].ID != o.a.agent || got[1].Spent != wire.USD(80*billing.Cent) ||
		got[2].ID != o.a.account || *got[2].DailyLimit.Amount != 2050*billing.Cent || got[2].Name != "A" {
		t.Errorf("the limits are %+v", got)
	}
	if r := o.get(o.a, "/v1/spending-limits?limit=1"); !strings.Contains(r.body, `"has_more":true`) || !strings.Contains(r.body, o.a.keyID) {
		t.Errorf("a page of one is %s", r.body)
	}
	for _, id := range []string{"account", o.a.keyID, o.a.agent} {
		if status, body := o.patchLimit(money, id, `{"daily_limit": null}`); status != 200 || !strings.Contains(body, `"daily_limit":null`) {
			t.Errorf("%s: %d %s", id, status, body)
		}
	}
	if got := read().Data; len(got) != 1 || got[0].ID != o.a.account || got[0].DailyLimit.Amount != nil || got[0].Spent != wire.USD(80*billing.Cent) {
		t.Errorf("without limits: %+v", got)
	}
}
