package ledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/storetest"
	"parley/store/webhook"
)

// A webhook with very many deliveries is deleted while sessions of its account begin and
// end: they wait for no part of it. Somebody who holds one of the deliveries stands for
// the time that a million of them take.
func TestDeletedWebhookHoldsUpNoSession(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	h := f.webhooks()
	acc := f.NewAccount(10 * usd)
	w, _ := f.hooked(h, acc)
	conn, err := pgx.Connect(f.Context(), url)
	f.OK(err)
	defer conn.Close(context.WithoutCancel(f.Context()))
	const told = 25_000
	_, err = conn.Exec(f.Context(), `insert into webhook_deliveries (webhook_id, event_id, account_id, kind, about, created_at, next_at)
		select $1, 'evt_' || n, $2, 'webhook.test', 'evt_' || n, $3, $3 from generate_series(1, $4::int) n`, w.ID, acc, t0, told)
	f.OK(err)
	tx, err := conn.Begin(f.Context())
	f.OK(err)
	_, err = tx.Exec(f.Context(), "select 1 from webhook_deliveries where event_id = 'evt_7' for update")
	f.OK(err)

	session := func() {
		t.Helper()
		s := f.Start(acc, web)
		f.MustCheckpoint(s, 1, billing.Usage{billing.AgentTime: 1000})
		f.CloseWith(s, billing.Usage{billing.AgentTime: 2000})
	}
	deleted := make(chan error, 1)
	go func() { deleted <- h.Delete(f.Context(), acc, w.ID) }()
	session()
	f.OK(<-deleted)
	session()
	if list, err := h.List(f.Context(), acc, store.Page{}); err != nil || len(list) != 0 {
		t.Errorf("%d are there, %v", len(list), err)
	}
	_, err = h.Claim(f.At(t0.Add(time.Hour)))
	f.Is(err, store.ErrNotFound)
	f.Is(h.Delete(f.Context(), acc, w.ID), store.ErrNotFound)
	for range webhook.Max {
		f.hooked(h, acc)
	}

	purge := func() (all int64) {
		for {
			n, err := h.Purge(f.Context())
			if f.OK(err); n == 0 {
				return all
			}
			if n > 10_001 {
				t.Errorf("%d rows at once", n)
			}
			all += n
			session()
		}
	}
	// What began before the deletion may have been entered meanwhile.
	if all := purge(); all < told-1 || all > told+5 {
		t.Errorf("%d rows were removed beside the one that is held", all)
	}
	f.OK(tx.Commit(f.Context()))
	if all := purge(); all != 2 {
		t.Errorf("%d rows were removed at last; want the delivery and the webhook", all)
	}
	f.Verified()
}
