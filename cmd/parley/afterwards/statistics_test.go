package afterwards

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/store/history"
	"parley/store/jobs"
)

// TestCallsAreCounted: the job counts all that have ended.
func TestCallsAreCounted(t *testing.T) {
	d := newDesk(t)
	q := jobs.New(slog.New(slog.DiscardHandler))
	handleCounting(q, d.work.Calls)
	d.ok(q.Open(t.Context(), d.url))
	defer q.Close()
	for range 3 {
		d.analyzing("{}", booked, func(int, inference.Request) []enginetest.Step { return nil })
	}
	left := func() (n int) {
		t.Helper()
		d.ok(d.db.Pool().QueryRow(t.Context(), "select count(*) from calls_to_count").Scan(&n))
		return n
	}
	if left() == 0 {
		t.Fatal("no call is in line")
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- q.Run(ctx) }()
	defer func() { stop(); d.ok(<-done) }()
	d.ok(d.db.Tx(t.Context(), "ask for a round", func(tx pgx.Tx) error { return q.Insert(t.Context(), tx, countCalls{}) }))
	for until := time.Now().Add(20 * time.Second); left() > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d entries are in line", left())
		}
	}
	if st, err := d.work.Calls.Statistics(t.Context(), d.account, history.StatisticsOf{}); err != nil || st.Total.Calls != 3 || st.Total.Seconds > 3 || len(st.Agents) != 3 {
		t.Errorf("%+v, %v", st, err)
	}
}
