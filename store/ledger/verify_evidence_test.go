package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/storetest"
)

// talks stores a conversation of n replies that gave 10 million tokens together.
func (f *fixture) talks(account string, s *ledger.Session, n int) {
	f.T.Helper()
	c := history.Conversation{Transcript: []history.TranscriptLine{{Role: "agent", Text: "Hello"}}}
	for i := range n {
		c.Generations = append(c.Generations, store.Generation{Gen: i, Turn: i, Kind: "reply", Outcome: "committed",
			OutTokens: 10_000_000 / int64(n), Source: "provider"})
	}
	f.OK(history.New(f.DB).SaveConversation(f.Context(), account, s.ID, c))
}

// evident is a database with evidence of what is charged; it returns its URL.
func evident(t *testing.T) (*fixture, string) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	ended := func(s *ledger.Session, after time.Duration, u billing.Usage) {
		_, err := f.CloseSession(f.At(t0.Add(after)), s, ledger.Closing{Reason: "user_hangup", StartedAt: t0, Usage: u})
		f.OK(err)
	}
	bonus := func(account, key string, amount billing.Money, lasts time.Duration) {
		_, _, err := f.Credit(f.Context(), ledger.Credit{Account: account, Kind: ledger.Bonus, Amount: amount, Key: key, ExpiresAt: t0.Add(lasts)})
		f.OK(err)
	}
	acc := f.NewAccount(50 * usd)
	bonus(acc, "bonus:1", 2*usd, 30*24*time.Hour)
	bonus(acc, "bonus:2", usd, time.Hour)
	ended(f.Start(acc, web), 5*time.Minute, billing.Usage{billing.AgentTime: 300_000})
	ended(f.Start(acc, inboundES), 10*time.Minute+3*time.Second, billing.Usage{billing.AgentTime: 600_000, billing.LineTime: 600_000})
	call := f.Start(acc, outboundES)
	f.talks(acc, call, 100)
	for minute := range int64(10) {
		f.OK(f.LineMinute(f.Context(), call, minute+1))
	}
	ended(call, 10*time.Minute-2*time.Second, billing.Usage{billing.AgentTime: 598_000, billing.LineTime: 598_000, billing.ReplyOut: 10_000_000})
	lost := f.Start(acc, inboundES)
	f.talks(acc, lost, 2) // its last checkpoint knows less, in the customer's favour
	f.MustCheckpoint(lost, 1, billing.Usage{billing.AgentTime: 20_000, billing.LineTime: 20_000})
	young, _, err := f.RegisterNode(f.At(t0.Add(25*time.Second)), f.Node.ID, "127.0.0.1:1")
	f.OK(err)
	f.Node = young
	_, err = f.ExpireLots(f.At(t0.Add(time.Hour)))
	f.OK(err)
	f.Buy(acc, "+34911234500", t0)
	f.Begun(acc, 20*usd)
	f.MustCheckpoint(f.Start(acc, web), 1, billing.Usage{billing.AgentTime: 1000})
	f.OK(f.Heartbeat(f.Context(), f.Node))
	for _, v := range allViolations(t, url) {
		t.Error(v)
	}
	return f, url
}

func allViolations(t *testing.T, url string) []verify.Violation {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := verify.Whole(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return r.Violations
}

// The outbound call, and a server that has run for a day and a month since.
const (
	theCall = `(select id from sessions where kind = 'outbound')`
	theWeb  = `(select id from sessions where kind = 'web' and state = 'closed')`
	aDay    = `update nodes set started_at = '2026-03-01 12:00:25Z', heartbeat_at = '2026-03-03'`
	aMonth  = `update nodes set started_at = '2026-03-01 12:00:25Z', heartbeat_at = '2026-05-01'`
)

// Each stands by itself: it is the only one in its database.
var unevident = []damage{
	{9, "another card than was in force", `insert into rate_cards select '2020-01-01.1', body, sha256, added_at from rate_cards;
		update sessions set price_version = '2020-01-01.1' where id = ` + theCall + `;
		update ledger_transfers set price_version = '2020-01-01.1' where session_id = ` + theCall + `;
		update usage_records set price_version = '2020-01-01.1' where session_id = ` + theCall},
	{13, "a balance that was written lower than it was", `update sessions set start_balance_nano = start_balance_nano - 1 where id = ` + theWeb},
	{13, "an outbound call before anything was paid in", `update ledger_transfers set debit = 'sim', credit = 'bonus' where kind = 'topup'`},
	{26, "half of the time", `update session_usage set agent_ms = agent_ms / 2, line_ms = line_ms / 2 where not open`},
	{26, "four times the time", `update session_usage set agent_ms = agent_ms * 4, line_ms = line_ms * 4 where session_id = ` + theCall},
	{26, "an agent that talked for less than the line was open", `update session_usage set agent_ms = 1000 where session_id = ` + theCall},
	{26, "tokens that were not counted", `update session_usage set reply_out = 0 where session_id = ` + theCall},
	{26, "a summary that was not counted", `update call_generations set kind = 'summary' where ordinal = 1 and session_id = ` + theCall},
	{26, "tokens on an own key that were not counted", `update call_generations set own = true where ordinal = 1 and session_id = ` + theCall},
	{26, "a line that was not counted", `update session_usage set line_ms = 1, agent_ms = 0 where session_id = ` + theCall},
	{26, "minutes that were asked for and not counted", `update session_usage set line_granted = 12 where session_id = ` + theCall},
	{26, "an answer without a start", `update session_usage set started_at = null, amount_nano = 0, posted_nano = 0 where session_id = ` + theCall},
	{27, "money before credit", `update ledger_transfers set debit = 'paid' where debit = 'bonus' and session_id = ` + theWeb},
	{27, "the lot that ends last was used first", `with used as (select sum(granted_nano - remaining_nano) as n from credit_lots where granted_nano > 1000000000)
		update credit_lots set remaining_nano = granted_nano - case granted_nano when 5000000000 then (select n from used) else 0 end where granted_nano > 1000000000`},
	{27, "credit that ended early", `update credit_lots set expires_at = expires_at + interval '60 days' where source = 'bonus:2'`},
	{28, "credit that does not end", `update credit_lots set expires_at = '2026-03-01 12:00Z' where source = 'bonus:1'; ` + aDay},
	{28, "a month that nobody charged", `delete from sessions where state = 'live'; ` + aMonth},
	{28, "a payment that nobody looked after", `delete from numbers; delete from credit_lots; ` + aMonth},
	{28, "a refund that nobody sent", `delete from topups; insert into refunds select 'ref_late', account_id, 'top_0', 1, 1, 'asked', '', '2026-03-01', null from wallets; ` + aMonth},
	{28, "a session that nobody has", `delete from topups; delete from numbers; delete from credit_lots; ` + aDay},
}

// What the books say is compared with what is known otherwise.
func TestVerifyComparesWithEvidence(t *testing.T) {
	f, url := evident(t)
	f.Close() // a database is copied when nobody is connected
	for _, d := range unevident {
		t.Run(d.name, func(t *testing.T) {
			damaged := storetest.Copy(t, url)
			conn, err := pgx.Connect(t.Context(), damaged)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			if _, err := conn.Exec(t.Context(), "set session_replication_role = replica; alter table session_usage drop constraint session_usage_check1; "+d.sql); err != nil {
				t.Fatal(err)
			}
			found := allViolations(t, damaged)
			if !slices.ContainsFunc(found, func(v verify.Violation) bool { return v.Invariant == d.invariant }) {
				t.Errorf("no violation of %d; those there are: %v", d.invariant, found)
			}
		})
	}
}

// What was found in order is looked at once; what is new, and what was not in order, again.
func TestVerifyNew(t *testing.T) {
	f, url := evident(t)
	r, err := verify.Recent(f.Context(), f.DB)
	f.OK(err)
	if r.Whole || r.Transfers != 0 || r.Sessions != 1 || !r.OK() {
		t.Errorf("again: %+v; want the open session alone", r)
	}
	acc := f.NewAccount(20 * usd)
	_, err = f.CloseSession(f.At(t0.Add(time.Minute)), f.Start(acc, web), ledger.Closing{Reason: "user_hangup", StartedAt: t0, Usage: billing.Usage{billing.AgentTime: 60_000}})
	f.OK(err)
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "set session_replication_role = replica; update session_usage set agent_ms = 30000 where account_id = '"+acc+"'")
	f.OK(err)
	for range 2 {
		r, err = verify.Recent(f.Context(), f.DB)
		f.OK(err)
		if r.OK() || r.Accounts != 2 || r.Sessions != 2 || r.Violations[0].Subject == "" {
			t.Errorf("what is new and wrong: %+v", r)
		}
	}
	last, err := verify.Last(f.Context(), f.DB)
	f.OK(err)
	if last.Violations != len(r.Violations) || time.Since(last.EndedAt) > time.Hour {
		t.Errorf("the last one: %+v", last)
	}
}

// TestVerifyNightly: one process verifies, when a day has passed without, and not twice.
func TestVerifyNightly(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	f.NewAccount(10 * usd)
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())
	run := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		f.OK(err)
	}
	nightly := func(due bool) *verify.Report {
		t.Helper()
		r, err := verify.Nightly(f.Context(), f.DB)
		f.OK(err)
		if (r != nil) != due {
			t.Fatalf("report %+v; due %t", r, due)
		}
		return r
	}
	if r := nightly(true); !r.OK() || r.Whole || r.Accounts != 1 {
		t.Errorf("the first: %+v", r)
	}
	nightly(false)
	run("set session_replication_role = replica; update wallets set paid_nano = paid_nano + 1; update verifications set ended_at = ended_at - interval '27 hours'")
	run("select pg_advisory_lock(x'7061726c65790001'::bigint)")
	nightly(false) // another process does it
	run("select pg_advisory_unlock_all()")
	if r := nightly(true); r.OK() {
		t.Errorf("a wallet that is wrong: %+v", r)
	}
	nightly(false)
}

// TestVerifyTakesPortions: a hundred accounts are looked at on one snapshot, and noted as in
// order, whatever is found in the next ones.
func TestVerifyTakesPortions(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	last := ""
	for range 101 {
		last = max(last, f.NewAccount(0))
	}
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "set session_replication_role = replica")
	f.OK(err)
	_, err = conn.Exec(t.Context(), "update wallets set paid_nano = paid_nano + 1 where account_id = $1", last)
	f.OK(err)
	r, err := verify.Whole(f.Context(), f.DB)
	f.OK(err)
	if r.Accounts != 101 || r.OK() || slices.ContainsFunc(r.Violations, func(v verify.Violation) bool { return v.Subject != last }) {
		t.Errorf("%d accounts, %v; want 101, and violations of %s", r.Accounts, r.Violations, last)
	}
	var inOrder int
	f.OK(conn.QueryRow(t.Context(), "select count(*) from verified where account_id <> $1", last).Scan(&inOrder))
	if inOrder != 100 {
		t.Errorf("%d accounts are noted as in order, want those of the first portion", inOrder)
	}
}
