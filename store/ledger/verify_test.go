package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"parley/billing"
	"parley/billing/payment"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/ledger/verify"
	"parley/store/storetest"
)

// lived is a database where a bit of everything has happened; it returns its URL.
func lived(t *testing.T) (*fixture, string) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	acc := f.NewAccount(20 * usd)
	used := billing.Usage{billing.AgentTime: 61_000, billing.LineTime: 61_000, billing.ReplyIn: 100, billing.WebSearches: 3}
	f.CloseWith(f.Start(acc, web), used)
	f.CloseWith(f.Start(acc, outboundES), used)
	_, err := f.CloseSession(f.Context(), f.Start(acc, outboundES), ledger.Closing{Reason: "busy"})
	f.OK(err)
	f.OK(f.OpenDispute(f.Context(), acc, "pi_9"))
	f.OK(f.ResolveDispute(f.Context(), acc, "pi_9"))
	f.MustCheckpoint(f.Start(acc, inboundES), 1, used)
	s := f.Start(acc, outboundES)
	f.MustCheckpoint(s, 1, billing.Usage{billing.AgentTime: 100})
	f.OK(f.LineMinute(f.Context(), s, 2))
	f.Submit(acc, 300)
	f.OK(f.Tasks.Complete(f.Context(), f.Claim(f.Submit(acc, 300), f.Node, t0), time.Second, 0))
	top := f.Begun(acc, 20*usd)
	f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{})
	_, err = f.Payments.RequestRefund(f.Context(), acc, top.ID, usd)
	f.OK(err)
	f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 5*usd), payment.Event{ID: "evt_1", Kind: payment.DisputeFundsWithdrawn,
		Dispute: payment.Dispute{Ref: "dp_1", Amount: 3 * usd}})
	caller := f.NewAccount(20 * usd)
	id := f.batch(caller, 2, t0)
	for i, r := range f.claimRows(f.Node, t0) {
		call, err := f.dialRow(f.Node, r, t0)
		f.OK(err)
		if i == 0 {
			f.CloseWith(call, used)
		}
	}
	f.wantCounts(caller, id, "running 0/1/1/0")
	poor, l := f.Recharging(ledgertest.On)
	for i := range 2 {
		now := t0.Add(time.Duration(i) * ledger.RechargePause)
		f.AdjustAt(poor, 1*usd, now)
		f.Answered(poor, l.Last(), ledgertest.On.Amount, payment.Succeeded, "", now)
	}
	f.Verified()
	return f, url
}

// damage is something that Verify must notice.
type damage struct {
	invariant int
	name, sql string
}

// Sessions of the lived database.
const (
	closedWeb = `(select id from sessions where kind = 'web')`
	liveCall  = `(select id from sessions where kind = 'inbound')`
	paidCall  = `(select min(session_id) from ledger_transfers where session_id in (select id from sessions where kind = 'outbound'))`
	missed    = `(select id from sessions where end_reason = 'busy')`
	waiting   = `(select session_id from tts_tasks where status = 'pending')`
)

var damages = []damage{
	{1, "money from nowhere", `update wallets set paid_nano = paid_nano + 1`},
	{1, "a deleted transfer", `delete from ledger_transfers where kind = 'topup'`},
	{2, "a fatter bonus", `update wallets set bonus_nano = bonus_nano + 1`},
	{2, "a fatter lot", `update credit_lots set remaining_nano = remaining_nano + 1 where remaining_nano < granted_nano`},
	{2, "a forgotten expiry", `update wallets set bonus_expires_at = null`},
	{3, "forgotten usage", `update wallets set accrued_any_nano = 0`},
	{3, "forgotten paid usage", `update wallets set accrued_paid_nano = 0`},
	{3, "usage in the other class", `update session_usage set paid_only = true where session_id = ` + liveCall},
	{4, "a lost hold", `update wallets set held_nano = 0`},
	{4, "a closed hold", `update session_usage set held_nano = 1 where session_id = ` + closedWeb},
	{5, "a wrong live count", `update wallets set live_sessions = live_sessions - 1 where live_sessions > 0`},
	{5, "one session too many", `update sessions set start_live = 11 where id = ` + closedWeb},
	{5, "a task that counts", `update sessions set counted = true where id = ` + waiting},
	{5, "a half-closed session", `update session_usage set open = true where session_id = ` + closedWeb},
	{6, "a lower amount", `update session_usage set amount_nano = amount_nano - 1, posted_nano = posted_nano - 1 where session_id = ` + closedWeb},
	{6, "more usage than was charged", `update session_usage set agent_ms = agent_ms + 1000 where session_id = ` + closedWeb},
	{6, "a fatter receipt", `update usage_records set amount_nano = amount_nano + 1 where session_id = ` + closedWeb},
	{6, "a receipt for something else", `update usage_records set component = 'tts' where component = 'agent' and session_id = ` + closedWeb},
	{6, "a missing transfer", `delete from ledger_transfers where session_id = ` + closedWeb + ` and credit = 'revenue:agent'`},
	{6, "a dearer open session", `update session_usage set amount_nano = amount_nano + 1 where session_id = ` + liveCall},
	{6, "another country's price", `update sessions set country = 'JM' where id = ` + liveCall},
	{7, "a gap", `update ledger_transfers set seq = seq + 1 where seq >= 2 and seq = (select max(seq) from ledger_transfers)`},
	{7, "a wrong balance", `update ledger_transfers set balance_after_nano = balance_after_nano + 1 where seq = 2`},
	{7, "a wrong last number", `update wallets set last_seq = last_seq + 5`},
	{8, "outbound on bonus", `update ledger_transfers set debit = 'bonus' where session_id = ` + paidCall},
	{9, "another version", `update ledger_transfers set price_version = '2020-01-01.1' where session_id = ` + closedWeb},
	{9, "another version on the receipt", `update usage_records set price_version = '2020-01-01.1' where session_id = ` + closedWeb},
	{9, "another price on the card", `update rate_cards set body = replace(body::text, '0.08', '0.07')::json`},
	{10, "a payment twice", `drop index ledger_transfers_once; insert into ledger_transfers
			(account_id, seq, idem, leg, debit, credit, amount_nano, kind, balance_after_nano, created_at)
			select account_id, 1000 + seq, idem, leg, debit, credit, amount_nano, kind, 0, created_at from ledger_transfers where kind = 'topup'`},
	{11, "revenue of another thing", `update ledger_transfers set credit = 'revenue:line' where credit = 'revenue:agent' and session_id = ` + closedWeb},
	{11, "a session that a payment pays", `update ledger_transfers set kind = 'topup' where session_id = ` + closedWeb},
	{11, "money between two pots", `update ledger_transfers set debit = 'bonus' where kind = 'topup'`},
	{11, "a transfer to itself", `alter table ledger_transfers drop constraint ledger_transfers_check;
			update ledger_transfers set credit = debit where kind = 'topup'`},
	{12, "a charge before the answer", `alter table session_usage drop constraint session_usage_check1;
			update session_usage set started_at = null where session_id = ` + paidCall},
	{12, "a charge for a missed call", `insert into usage_records select ` + missed + `, 1, 'agent', 1, 1, 1, price_version, opened_at from sessions limit 1`},
	{13, "a start without balance", `update sessions set start_balance_nano = 249999999 where id = ` + closedWeb},
	{13, "a start on more than was posted", `update sessions set start_balance_nano = 1000000000000 where id = ` + closedWeb},
	{13, "a start in a dispute", `update disputes set resolved_after = resolved_after + 1`},
	{13, "a miscounted dispute", `update wallets set open_disputes = 7`},
	{13, "a start outside the count", `update wallets set admissions = admissions - 1`},
	{14, "a recharge with a page", `update topups set automatic = false where id in (select topup_id from recharge_attempts where no = 1)`},
	{14, "a recharge past the cap", `update recharge_attempts set cap_nano = 39999999999 where no = 2`},
	{14, "a recharge in another month", `update recharge_attempts set month = '2026-02-01' where no = 1`},
	{14, "a recharge that came to something else", `update recharge_attempts set state = 'failed' where no = 1`},
	{14, "a recharge of another amount", `update recharge_attempts set amount_nano = amount_nano - 1 where no = 2`},
	{14, "a charge that nobody asked for", `delete from recharge_attempts where no = 2`},
	{14, "two recharges at once", `drop index recharge_attempts_one; update recharge_attempts set state = 'pending', ended_at = null;
			insert into recharge_attempts select 'rch_2', account_id, 7, 'top_2', month, 1, cap_nano, state, created_at, look_at, null from recharge_attempts`},
	{14, "a threshold that nobody set", `update wallets set recharge_below_nano = recharge_below_nano + 1`},
	{14, "a threshold that was not taken back", `update recharges set enabled = false`},
	{15, "a counter that fell", `update session_usage set agent_ms = 1000 where session_id = ` + closedWeb},
	{15, "a counter that may fall", `alter table session_usage disable trigger session_usage_counters_grow`},
	{21, "a task that ended without its session", `update tts_tasks set ended_at = created_at, status = 'failed', body = '', error_code = 'x'
			where session_id = ` + waiting},
	{21, "a task that was charged for less", `update tts_tasks set chars = chars + 1 where status = 'completed'`},
	{21, "a session that lost its task", `delete from tts_tasks where status = 'failed'`},
	{21, "too many tasks", `insert into tts_tasks select 'copy' || n, account_id, 'copy' || n, 'pending', voice, language, format, speed, steps, body, chars
			, 0, null, null, 0, 0, created_at, touched_at from tts_tasks, generate_series(1, 6) n where status = 'completed'`},
	{22, "a payment that says more than was credited", `update topups set paid_nano = paid_nano + 1`},
	{22, "a refund that was not posted", `update topups set refunded_nano = refunded_nano + 1`},
	{22, "a dispute that holds less", `update disputes set held_nano = held_nano - 1 where provider is not null`},
	{22, "a dispute that was won and goes on", `update disputes set state = 'won' where provider is not null`},
	{22, "a refund of no payment", `update ledger_transfers set idem = 'x' || id where kind = 'refund'`},
	{16, "a session that went on below the floor", `update ledger_transfers set balance_after_nano = -2500000000 where session_id = ` + closedWeb},
	{22, "a refund on its way that was not posted", `update refunds set total_nano = 90000000000`},
	{25, "a row that was dialled and says it was not", `alter table campaign_rows drop constraint campaign_rows_check; update campaign_rows set session_id = null where status = 'sent'`},
	{25, "a call of a row that is not there", `update sessions set row_id = 'row_0' where id = (select session_id from campaign_rows where status = 'dialing')`},
	{25, "a row with the call of another number", `update campaign_rows set to_number = '+34612345699' where status = 'dialing'`},
	{25, "a call again before the first has ended", `insert into campaign_rows (id, account_id, campaign_id, no, to_number, from_number, agent_id, zones, status, since, due_at, attempt, retry_of)
			select 'row_0', account_id, campaign_id, 99, to_number, from_number, agent_id, zones, 'pending', since, due_at, 2, id from campaign_rows where status = 'dialing'`},
	{25, "a row that outlives its call", `update campaign_rows set status = 'dialing', ended_at = null where status = 'sent';
			update campaign_rows set status = 'sent', ended_at = due_at where session_id is not null`},
	{19, "a ledger that changes", `alter table ledger_transfers disable trigger ledger_transfers_fixed`},
	{19, "receipts that change", `drop trigger usage_records_fixed on usage_records`},
	{19, "prices that change", `alter table rate_cards disable trigger all`},
}

// Each check must notice its kind of damage, done by someone who can switch off
// every trigger and constraint.
func TestVerifyNoticesTampering(t *testing.T) {
	f, whole := lived(t)
	f.Close() // a database is copied when nobody is connected
	byInvariant := map[int][]damage{}
	for _, d := range damages {
		byInvariant[d.invariant] = append(byInvariant[d.invariant], d)
	}
	for invariant, some := range byInvariant {
		t.Run(fmt.Sprint(invariant), func(t *testing.T) {
			url := storetest.Copy(t, whole)
			conn, err := pgx.Connect(t.Context(), url)
			f.OK(err)
			defer conn.Close(t.Context())
			_, err = conn.Exec(t.Context(), "set session_replication_role = replica") // no triggers, no foreign keys
			f.OK(err)
			db := storetest.Open(t, url)
			known := map[string]bool{} // what earlier damage to this database caused
			for _, d := range some {
				_, err = conn.Exec(t.Context(), d.sql)
				f.OK(err)
				if fresh := newViolations(t, db, known); !slices.Contains(fresh, invariant) {
					t.Errorf("%s: no new violation of %d; new are those of %v", d.name, invariant, fresh)
				}
			}
		})
	}
}

// newViolations lists the invariants that have a violation not known yet.
func newViolations(t *testing.T, db verify.Database, known map[string]bool) (fresh []int) {
	r, err := verify.Whole(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Violations {
		if !known[v.String()] {
			fresh = append(fresh, v.Invariant)
		}
		known[v.String()] = true
	}
	return fresh
}

// The database itself refuses what history must never see, from anybody who has
// not switched it off.
func TestHistoryRefusesChanges(t *testing.T) {
	f, url := lived(t)
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())
	for _, sql := range []string{
		`update ledger_transfers set amount_nano = 1`, `delete from ledger_transfers`, `truncate ledger_transfers`,
		`update usage_records set qty = 0`, `delete from usage_records`, `truncate usage_records`,
		`update rate_cards set body = '{}'`, `delete from rate_cards`, `truncate rate_cards cascade`,
		`update session_usage set agent_ms = agent_ms - 1`, `update session_usage set amount_nano = 0, posted_nano = 0`,
		`insert into ledger_transfers (account_id, seq, idem, leg, debit, credit, amount_nano, kind, balance_after_nano, created_at)
			select account_id, 1000, idem, leg, debit, credit, amount_nano, kind, 0, created_at from ledger_transfers limit 1`,
		`insert into ledger_transfers (account_id, seq, idem, leg, debit, credit, amount_nano, kind, balance_after_nano, created_at)
			select account_id, 1000, 'new', 0, debit, credit, 0, kind, 0, created_at from ledger_transfers limit 1`,
		`update wallets set bonus_nano = -1`, `update session_usage set posted_nano = amount_nano + 1`,
	} {
		_, err := conn.Exec(t.Context(), sql)
		if pe, ok := errors.AsType[*pgconn.PgError](err); !ok || !strings.HasPrefix(pe.Code, "23") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	f.Verified()
}
