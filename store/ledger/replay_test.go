package ledger_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/payments"
	"parley/store/storetest"
)

// TestReplayChangesNothing: everything that comes from outside comes again, all
// webhooks, the last checkpoint of each session, closings and credits, in the order
// it came and in the opposite one; every table stays as it was.
func TestReplayChangesNothing(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())

	var again []func() error
	do := func(action func() error) {
		t.Helper()
		f.OK(action())
		again = append(again, action)
	}
	events := 0
	settle := func(top *payments.TopUp, p payment.Payment, kind payment.Kind, dispute payment.Dispute) {
		t.Helper()
		events++
		s := payments.PaymentRead{Provider: "sim", Version: f.Look(), Payment: p, Event: payment.Event{ID: fmt.Sprint("evt_", events), Kind: kind, Dispute: dispute}}
		do(func() error { _, err := f.Payments.ReconcilePayment(f.Context(), s); return err })
	}
	checkpoint := func(s *ledger.Session, seq int64, u billing.Usage) {
		t.Helper()
		c := ledger.Checkpoint{Session: s, Seq: seq, StartedAt: t0, Usage: u}
		do(func() error {
			_, err := f.Checkpoint(f.Context(), c)
			if errors.Is(err, store.ErrFenced) { // closed meanwhile
				err = nil
			}
			return err
		})
	}
	used := billing.Usage{billing.AgentTime: 61_000, billing.LineTime: 61_000, billing.ReplyIn: 100}
	acc, other := f.NewAccount(0), f.NewAccount(3*usd)
	top, won, lost := f.Begun(acc, 20*usd), f.Begun(acc, 30*usd), f.Begun(other, 10*usd)
	settle(top, ledgertest.Told(top, payment.Pending, 0), payment.PaymentFailed, payment.Dispute{})
	for _, x := range []*payments.TopUp{top, won, lost} {
		settle(x, ledgertest.Told(x, payment.Succeeded, 0), payment.PaymentSucceeded, payment.Dispute{})
	}
	live, done := f.Start(acc, inboundES), f.Start(acc, web)
	checkpoint(done, 1, used)
	do(func() error {
		_, err := f.CloseSession(f.Context(), done, ledger.Closing{Reason: "user_hangup", StartedAt: t0, Usage: used})
		return err
	})
	checkpoint(live, 1, used)
	do(func() error { return f.LineMinute(f.Context(), live, 2) })
	checkpoint(live, 2, used.Max(billing.Usage{billing.LineTime: 62_000}))
	r, err := f.Payments.RequestRefund(f.Context(), acc, top.ID, 2*usd)
	f.OK(err)
	r.State = payments.RefundDone
	settle(top, ledgertest.Told(top, payment.Succeeded, 2*usd), payment.Refunded, payment.Dispute{})
	ended := payments.PaymentRead{Provider: "sim", Version: f.Look(), Payment: ledgertest.Told(top, payment.Succeeded, 2*usd), Refund: r}
	_, err = f.Payments.ReconcilePayment(f.Context(), ended)
	f.OK(err)
	again = append(again, func() error {
		if _, err := f.Payments.ReconcilePayment(f.Context(), ended); !errors.Is(err, store.ErrStaleRead) {
			return fmt.Errorf("a refund ended by an old look: %w", err)
		}
		return nil
	})
	for _, kind := range []payment.Kind{payment.DisputeOpened, payment.DisputeFundsWithdrawn, payment.DisputeWon} {
		settle(won, ledgertest.Told(won, payment.Succeeded, 0), kind, payment.Dispute{Ref: "dp_won", Amount: 30 * usd})
	}
	for _, kind := range []payment.Kind{payment.DisputeFundsWithdrawn, payment.DisputeLost, payment.DisputeOpened} {
		settle(lost, ledgertest.Told(lost, payment.Succeeded, 0), kind, payment.Dispute{Ref: "dp_lost", Amount: 4 * usd})
	}
	settle(top, ledgertest.Told(top, payment.Succeeded, 7*usd), payment.Refunded, payment.Dispute{})
	bonus := ledger.Credit{Account: other, Kind: ledger.Bonus, Amount: usd, Key: "promo:1", ExpiresAt: t0.Add(time.Hour)}
	do(func() error { _, _, err := f.Credit(f.Context(), bonus); return err })

	var stored int
	f.OK(conn.QueryRow(t.Context(), "select count(*) from payment_events").Scan(&stored))
	if stored != events {
		t.Fatalf("%d events are stored, %d came", stored, events)
	}
	before := contents(f, conn)
	if len(before) < 10 {
		t.Fatalf("only these tables: %v", slices.Sorted(maps.Keys(before)))
	}
	backwards := slices.Clone(again)
	slices.Reverse(backwards)
	for i, action := range slices.Concat(again, backwards) {
		if err := action(); err != nil {
			t.Errorf("action %d of %d again: %v", i, len(again), err)
		}
	}
	for table, now := range contents(f, conn) {
		if now != before[table] {
			t.Errorf("%s has changed:\n%s\nwas\n%s", table, now, before[table])
		}
	}
	f.Verified()
}

// contents are all rows of all tables, as text.
func contents(f *fixture, conn *pgx.Conn) map[string]string {
	f.T.Helper()
	rows, err := conn.Query(f.Context(), "select tablename from pg_tables where schemaname = 'public'")
	f.OK(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	f.OK(err)
	all := map[string]string{}
	for _, table := range tables {
		var text string
		f.OK(conn.QueryRow(f.Context(), "select coalesce(string_agg(x::text, E'\\n' order by x::text), '') from "+pgx.Identifier{table}.Sanitize()+" x").Scan(&text))
		all[table] = text
	}
	return all
}
