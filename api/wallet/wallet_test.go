package wallet_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/billing"
	"parley/store/ledger"
	"parley/store/storetest"
)

// TestPagesWhileEntriesArrive: what was there at the first page comes once each,
// what comes later not at all.
func TestPagesWhileEntriesArrive(t *testing.T) {
	o := open(t)
	o.topup(o.A.Account, 100*billing.USD)
	session := func() {
		o.end(o.start(o.A.Account, "", billing.Terms{Kind: billing.STT}, began), billing.Usage{billing.STTTime: 1000}, began)
	}
	for range 10 {
		session()
	}
	for _, limit := range []int{1, 3, 12, 100} {
		before := o.entries(o.A, "")
		var got []int64
		for cursor := ""; ; {
			var p ledgerPage
			o.Read(o.A, fmt.Sprintf("/v1/ledger?limit=%d%s", limit, cursor), &p)
			for _, e := range p.Data {
				got = append(got, e.ID)
			}
			session()
			if !p.HasMore {
				break
			}
			cursor = "&cursor=" + *p.NextCursor
		}
		if len(got) != len(before) || got[0] != before[0].ID || got[len(got)-1] != 1 || !slices.IsSortedFunc(got, func(a, b int64) int { return int(b - a) }) || len(slices.Compact(got)) != len(before) {
			t.Errorf("by %d: %v of %d", limit, got, len(before))
		}
	}
	// Groups likewise: new sessions are newer than all.
	before, _, _ := o.groups(o.A, "call", "")
	var got []string
	for cursor := ""; ; {
		var p usagePage
		o.Read(o.A, "/v1/usage?group_by=call&limit=7"+cursor, &p)
		for _, g := range p.Data {
			got = append(got, *g.Key)
		}
		o.end(o.start(o.A.Account, "", billing.Terms{Kind: billing.STT}, began.Add(time.Hour)), billing.Usage{billing.STTTime: 1000}, began.Add(time.Hour))
		if !p.HasMore {
			break
		}
		cursor = "&cursor=" + *p.NextCursor
	}
	if len(got) != len(before) || got[0] != *before[0].Key || len(slices.Compact(got)) != len(before) {
		t.Errorf("%d sessions of %d", len(got), len(before))
	}
	o.Verified(26)
}

// TestDays puts usage around midnight UTC.
func TestDays(t *testing.T) {
	o := open(t)
	midnight := began.AddDate(0, 0, 3)
	stt := billing.Terms{Kind: billing.STT}
	for i, at := range []time.Time{midnight.Add(-time.Microsecond), midnight, midnight.Add(24*time.Hour - time.Microsecond), midnight.Add(24 * time.Hour)} {
		// Opened long before: the day of the posting counts.
		o.end(o.start(o.A.Account, "", stt, began), billing.Usage{billing.STTTime: int64(1000 * (1 + i))}, at)
	}
	day := func(n int) string { return midnight.AddDate(0, 0, n).Format(time.DateOnly) }
	for query, want := range map[string]string{
		"":                                      day(1) + ":4 " + day(0) + ":5 " + day(-1) + ":1",
		"&from=" + day(0):                       day(1) + ":4 " + day(0) + ":5",
		"&from=" + day(0) + "&to=" + day(1):     day(0) + ":5",
		"&to=" + day(0):                         day(-1) + ":1",
		"&from=" + day(0) + "T00:00:00.000001Z": day(1) + ":4 " + day(0) + ":3",
		"&from=" + day(0) + "T00:00:00%2B01:00": day(1) + ":4 " + day(0) + ":5 " + day(-1) + ":1",
		"&from=" + day(5):                       "",
	} {
		groups, total, _ := o.groups(o.A, "day", query)
		var got []string
		var sum billing.Money
		for _, g := range groups {
			got = append(got, fmt.Sprintf("%s:%d", *g.Key, g.Components[0].Quantity))
			sum += g.Amount
		}
		if strings.Join(got, " ") != want || sum != total {
			t.Errorf("%s: %v (%s of %s), want %s", query, got, sum, total, want)
		}
		var entries billing.Money
		for _, e := range o.entries(o.A, "&kind=usage"+query) {
			entries -= e.Amount
		}
		if entries != total {
			t.Errorf("%s: the ledger has %s, usage %s", query, entries, total)
		}
		if rows := o.table(o.A, "/v1/usage.csv?"+strings.TrimPrefix(query, "&")); len(rows) != len(groups) {
			t.Errorf("%s: %v in the file", query, rows)
		}
		if rows := o.table(o.A, "/v1/ledger.csv?kind=usage"+query); len(rows) == 0 && want != "" {
			t.Errorf("%s: an empty file", query)
		}
	}
}

func TestAgents(t *testing.T) {
	o := open(t)
	o.end(o.start(o.A.Account, o.A.Agent, kinds[0], began), billing.Usage{billing.AgentTime: 60_000}, began)
	o.end(o.start(o.A.Account, "", kinds[0], began), billing.Usage{billing.AgentTime: 30_000}, began)
	o.end(o.start(o.A.Account, "", billing.Terms{Kind: billing.TTS}, began), billing.Usage{billing.TTSChars: 1_000}, began)
	groups, _, _ := o.groups(o.A, "agent", "")
	if len(groups) != 2 || groups[0].Key == nil || *groups[0].Key != o.A.Agent || groups[0].Amount != 8*billing.Cent ||
		groups[1].Key != nil || len(groups[1].Components) != 2 || groups[1].Components[0].Component != "agent" {
		t.Errorf("%+v", groups)
	}
}

// TestForeign: what is somebody else's answers as what does not exist.
func TestForeign(t *testing.T) {
	o := open(t)
	s := o.start(o.A.Account, o.A.Agent, kinds[0], began)
	o.end(s, billing.Usage{billing.AgentTime: 60_000}, began)
	foreign, unknown := o.get(o.B, "/v1/calls/"+s.ID+"/receipt"), o.get(o.B, "/v1/calls/ses_unknown/receipt")
	if foreign.Status != http.StatusNotFound || foreign.Body != unknown.Body || fmt.Sprint(foreign.Header) != fmt.Sprint(unknown.Header) {
		t.Errorf("foreign %v, unknown %v", foreign, unknown)
	}
	for _, id := range []string{"%00", "%FF", "ses_%00"} {
		if r := o.get(o.B, "/v1/calls/"+id+"/receipt"); r.Status != http.StatusNotFound || r.Body != unknown.Body {
			t.Errorf("%s: %v", id, r)
		}
	}
	if entries := o.entries(o.B, ""); len(entries) != 1 || entries[0].Kind != "welcome" {
		t.Errorf("%+v", entries)
	}
	for _, by := range []string{"day", "agent", "call", "component"} {
		if groups, total, _ := o.groups(o.B, by, ""); len(groups) != 0 || total != 0 {
			t.Errorf("by %s: %+v", by, groups)
		}
		if rows := o.table(o.B, "/v1/usage.csv?group_by="+by); len(rows) != 0 {
			t.Errorf("by %s: %v", by, rows)
		}
	}
	if r := o.get(o.B, "/v1/usage?group_by=call&cursor="+s.ID+"z"); strings.Contains(r.Body, s.ID) {
		t.Error(r.Body)
	}
	ticket := owner{Key: o.signer.Sign(api.Principal{Account: o.A.Account, Key: o.A.KeyID, Ticket: &api.Ticket{ID: "t", Expires: time.Now().Add(time.Minute)}})}
	for _, path := range []string{"/v1/balance", "/v1/ledger", "/v1/ledger.csv", "/v1/usage", "/v1/usage.csv", "/v1/calls/" + s.ID + "/receipt"} {
		if r := o.get(ticket, path); r.Status != http.StatusForbidden {
			t.Errorf("%s with a ticket: %v", path, r)
		}
		if r := o.get(owner{Key: "sk_wrong"}, path); r.Status != http.StatusUnauthorized {
			t.Errorf("%s with a wrong key: %v", path, r)
		}
	}
}

func TestBadQueries(t *testing.T) {
	o := open(t)
	for _, target := range []string{
		"/v1/ledger?limit=0", "/v1/ledger?limit=101", "/v1/ledger?cursor=x", "/v1/ledger?cursor=-1", "/v1/ledger?cursor=99999999999999999999",
		"/v1/ledger?from=yesterday", "/v1/ledger?to=2026-13-01", "/v1/ledger?from=2026-03-01&to=2026-03-01", "/v1/ledger?kind=Top-up", "/v1/ledger?kind=%00",
		"/v1/ledger.csv?from=x", "/v1/ledger.csv?kind==1", "/v1/usage?group_by=hour", "/v1/usage?cursor=%00", "/v1/usage?from=2026-03-02&to=2026-03-01",
		"/v1/usage.csv?group_by=hour", "/v1/usage.csv?to=x",
	} {
		if r := o.get(o.A, target); r.Status != 400 || !strings.Contains(r.Body, "validation.invalid_request_format") {
			t.Errorf("%s: %d %s", target, r.Status, r.Body)
		}
	}
	for _, target := range []string{"/v1/ledger?from=0000-01-01&to=9999-12-31", "/v1/usage?from=0000-01-01&to=9999-12-31", "/v1/ledger?kind=nothing", "/v1/usage?cursor=%22'--"} {
		if r := o.get(o.A, target); r.Status != 200 {
			t.Errorf("%s: %d %s", target, r.Status, r.Body)
		}
	}
}

// TestBalance has the wallet in its states, and the banner that goes with each.
func TestBalance(t *testing.T) {
	o := open(t)
	now := time.Now()
	adjust := func(amount billing.Money, key string) {
		o.credit(ledger.Credit{Account: o.A.Account, Kind: ledger.Adjustment, Amount: amount, Key: key}, now)
	}
	want := func(what string, amount billing.Money, codes ...string) (b balance) {
		t.Helper()
		o.Read(o.A, "/v1/balance", &b)
		var got []string
		for _, w := range b.Warnings {
			got = append(got, w.Kind)
		}
		if b.Balance != amount || !slices.Equal(got, codes) || b.Balance != b.Paid+b.Bonus {
			t.Errorf("%s: %+v; want %s and %v", what, b, amount, codes)
		}
		return b
	}
	if b := want("new", 5*billing.USD); len(b.BonusLots) != 1 || b.BonusLots[0].Left != b.Bonus || b.FirstTopup != nil || b.Concurrency.Limit != 3 {
		t.Errorf("%+v", b)
	}
	adjust(-1, "a")
	if b := want("a nano-dollar below the threshold", 4_999_999_999, "balance.low"); b.Warnings[0].Message != "The balance is 4.99 USD: top up soon." {
		t.Errorf("%+v", b.Warnings)
	}
	adjust(-4_750_000_000, "b")
	want("a nano-dollar below the minimum", 249_999_999, "balance.exhausted")
	o.credit(ledger.Credit{Account: o.A.Account, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "top"}, now)
	if b := want("topped up", 20_249_999_999); b.Concurrency.Limit != 10 || b.FirstTopup == nil {
		t.Errorf("%+v", b)
	}
	// Lots are used soonest expiry first; sessions in progress have done so already.
	o.credit(ledger.Credit{Account: o.A.Account, Kind: ledger.Bonus, Amount: billing.USD, Key: "bonus", ExpiresAt: now.Add(48 * time.Hour)}, now)
	s := o.start(o.A.Account, "", kinds[4], now)
	o.use(s, 1, billing.Usage{billing.TTSChars: 20_000}, now) // 0.30
	b := want("in progress", 20_949_999_999, "bonus.expiring")
	if b.Accrued != 300_000_000 || b.Concurrency.Live != 1 || len(b.BonusLots) != 2 || b.BonusLots[0].Left != 700_000_000 || b.BonusLots[0].Granted != billing.USD ||
		b.BonusLots[0].Left+b.BonusLots[1].Left != b.Bonus {
		t.Errorf("%+v", b)
	}
	suspend := true
	o.OK(o.Ledger.ChangeAccount(t.Context(), o.A.Account, ledger.AccountChange{Suspended: &suspend}))
	o.OK(o.Ledger.OpenDispute(t.Context(), o.A.Account, "p"))
	if b := want("suspended and disputed", 20_949_999_999, "account.suspended", "dispute.opened", "bonus.expiring"); !b.Suspended || !b.Disputed {
		t.Errorf("%+v", b)
	}
	o.end(s, billing.Usage{}, now)
	o.Verified(26)
}

// TestExpiredCredit is not shown, also when nobody has settled it.
func TestExpiredCredit(t *testing.T) {
	o := open(t)
	past := time.Now().Add(-time.Hour)
	o.credit(ledger.Credit{Account: o.A.Account, Kind: ledger.Bonus, Amount: 7 * billing.USD, Key: "gone", ExpiresAt: past}, past.Add(-time.Hour))
	var b balance
	o.Read(o.A, "/v1/balance", &b)
	if b.Balance != 5*billing.USD || len(b.BonusLots) != 1 {
		t.Errorf("%+v", b)
	}
	if e := o.entries(o.A, ""); e[0].Kind != "expiry" || e[0].Amount != -7*billing.USD || e[0].Pot != "bonus" {
		t.Errorf("%+v", e)
	}
	o.Verified(26)
}

// TestOneMomentInAFile exports more than a batch while sessions end.
func TestOneMomentInAFile(t *testing.T) {
	o := open(t)
	o.topup(o.A.Account, 500*billing.USD)
	r := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		o.end(o.start(o.A.Account, "", kinds[5], began), billing.Usage{billing.STTTime: 1 + r.Int64N(9_000)}, began)
	}
	done := make(chan error)
	go func() {
		for range 50 {
			s, err := o.Ledger.StartSession(storetest.At(t.Context(), began), ledger.Start{Node: o.node, Account: o.A.Account, Terms: kinds[5], Card: card})
			if err == nil {
				_, err = o.Ledger.CloseSession(storetest.At(t.Context(), began), s, ledger.Closing{Reason: "user_hangup", StartedAt: began, Usage: billing.Usage{billing.STTTime: 1000}})
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 4 {
		rows := o.table(o.A, "/v1/ledger.csv")
		sum := billing.Money(0)
		for i := len(rows) - 1; i >= 0; i-- {
			if sum += o.money(rows[i]["amount"]); sum != o.money(rows[i]["balance_after"]) || rows[i]["id"] != fmt.Sprint(len(rows)-i) {
				t.Fatalf("line %d: %v, the sum is %s", i, rows[i], sum)
			}
		}
		calls := o.table(o.A, "/v1/usage.csv?group_by=call")
		if len(rows) < 602 || len(calls) < 600 {
			t.Errorf("%d entries, %d sessions", len(rows), len(calls))
		}
	}
	o.OK(<-done)
}

// TestEvents: warnings are listed newest first, page by page, to their account only.
func TestEvents(t *testing.T) {
	o := open(t)
	type page struct {
		Data []struct {
			ID, Kind, Message string
			Data              struct{ Dispute string }
			CreatedAt         time.Time  `json:"created_at"`
			ClearedAt         *time.Time `json:"cleared_at"`
		}
		more
	}
	var none page
	o.Read(o.A, "/v1/events", &none)
	if len(none.Data) != 0 || none.HasMore || none.NextCursor != nil {
		t.Errorf("%+v", none)
	}
	for i, ref := range []string{"dp_1", "dp_2", "dp_3"} {
		o.OK(o.Ledger.OpenDispute(storetest.At(t.Context(), began.Add(time.Duration(i)*time.Second)), o.A.Account, ref))
	}
	o.OK(o.Ledger.ResolveDispute(storetest.At(t.Context(), began.Add(time.Hour)), o.A.Account, "dp_2"))
	var refs []string
	for cursor := ""; ; {
		var p page
		o.Read(o.A, "/v1/events?limit=2"+cursor, &p)
		for _, e := range p.Data {
			refs = append(refs, e.Data.Dispute)
			if e.Kind != "dispute.opened" || e.Message == "" || !strings.HasPrefix(e.ID, "evt_") || (e.ClearedAt != nil) != (e.Data.Dispute == "dp_2") {
				t.Errorf("%+v", e)
			}
		}
		if !p.HasMore {
			break
		}
		cursor = "&cursor=" + *p.NextCursor
	}
	if !slices.Equal(refs, []string{"dp_3", "dp_2", "dp_1"}) {
		t.Errorf("%v", refs)
	}
	o.Read(o.B, "/v1/events", &none)
	if len(none.Data) != 0 {
		t.Errorf("somebody else's: %+v", none)
	}
	if r := o.get(o.A, "/v1/events?cursor=%00"); r.Status != http.StatusBadRequest {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
