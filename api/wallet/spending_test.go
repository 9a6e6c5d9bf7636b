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
	r, err := http.NewRequestWithContext(o.Context(), http.MethodPatch, o.Server.URL+"/v1/spending-limits/"+id, strings.NewReader(body))
	o.OK(err)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	out, err := http.DefaultClient.Do(r)
	o.OK(err)
	defer out.Body.Close()
	b, err := io.ReadAll(out.Body)
	o.OK(err)
	return out.StatusCode, string(b)
}

func TestSpendingLimits(t *testing.T) {
	o := open(t)
	_, money, err := o.People.MakeKey(storetest.At(t.Context(), began), people.NewKey{Account: o.A.Account, Name: "boss", Role: people.RoleMember, Money: true})
	o.OK(err)
	// Whoever may not change what is paid reads limits and sets none.
	if status, body := o.patchLimit(o.A.Key, "account", `{"daily_limit": 100}`); status != 403 || !strings.Contains(body, "auth.role_not_allowed") {
		t.Errorf("a member's key sets a limit: %d %s", status, body)
	}
	for _, tt := range []struct {
		id, body string
		status   int
	}{
		{"account", `{"daily_limit": 20}`, 200}, {o.A.Account, `{"daily_limit": 20.5}`, 200}, {o.A.KeyID, `{"daily_limit": 0}`, 200}, {o.A.Agent, `{"daily_limit": 7}`, 200},
		{"account", `{}`, 400}, {"account", `{"daily_limit": -1}`, 400}, {"account", `{"daily_limit": 1000001}`, 400}, {"account", `{"daily_limit": "a"}`, 400},
		{o.B.Account, `{"daily_limit": 1}`, 404}, {o.B.KeyID, `{"daily_limit": 1}`, 404}, {o.B.Agent, `{"daily_limit": 1}`, 404}, {"no%00thing", `{"daily_limit": 1}`, 404},
	} {
		if status, body := o.patchLimit(money, tt.id, tt.body); status != tt.status {
			t.Errorf("%s %s: %d %s; want %d", tt.id, tt.body, status, body, tt.status)
		}
	}
	// A session of the agent that spends at this moment shows.
	o.topup(o.A.Account, 100*billing.USD)
	now := time.Now()
	s := o.start(o.A.Account, o.A.Agent, billing.Terms{Kind: billing.Web}, now)
	o.use(s, 1, billing.Usage{billing.AgentTime: 600_000}, now)
	read := func() (list struct{ Data []wire.SpendingLimit }) {
		r := o.get(o.A, "/v1/spending-limits")
		o.OK(json.Unmarshal([]byte(r.Body), &list))
		return list
	}
	got := read().Data
	if len(got) != 3 || got[0].ID != o.A.KeyID || *got[0].DailyLimit.Amount != 0 || got[1].ID != o.A.Agent || got[1].Spent != wire.USD(80*billing.Cent) ||
		got[2].ID != o.A.Account || *got[2].DailyLimit.Amount != 2050*billing.Cent || got[2].Name != "A" {
		t.Errorf("the limits are %+v", got)
	}
	if r := o.get(o.A, "/v1/spending-limits?limit=1"); !strings.Contains(r.Body, `"has_more":true`) || !strings.Contains(r.Body, o.A.KeyID) {
		t.Errorf("a page of one is %s", r.Body)
	}
	for _, id := range []string{"account", o.A.KeyID, o.A.Agent} {
		if status, body := o.patchLimit(money, id, `{"daily_limit": null}`); status != 200 || !strings.Contains(body, `"daily_limit":null`) {
			t.Errorf("%s: %d %s", id, status, body)
		}
	}
	if got := read().Data; len(got) != 1 || got[0].ID != o.A.Account || got[0].DailyLimit.Amount != nil || got[0].Spent != wire.USD(80*billing.Cent) {
		t.Errorf("without limits: %+v", got)
	}
}
