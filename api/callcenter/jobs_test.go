package callcenter_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/api"
	"parley/api/callcenter"
	"parley/sip/carrier"
	"parley/store/jobs"
	"parley/store/numbers"
	"parley/store/storetest"
)

// The queue's jobs are the desk's: one charges months, one turns to carriers.
func TestJobs(t *testing.T) {
	s := open(t)
	q := jobs.New(slog.New(slog.DiscardHandler))
	s.desk.Work(q)
	s.OK(q.Open(t.Context(), s.Database))
	defer q.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- q.Run(ctx) }()
	defer func() { stop(); s.OK(<-done) }()
	insert := func(job jobs.Args) {
		t.Helper()
		s.OK(s.DB.Tx(t.Context(), "queue a job", func(tx pgx.Tx) error { return q.Insert(t.Context(), tx, job) }))
	}

	long := time.Now().Add(-40 * 24 * time.Hour)
	left, err := numbers.New(s.DB).Order(storetest.At(t.Context(), long), numbers.Order{Account: s.A.Account, E164: s.ending(prompt), Country: "ES", Carrier: "simulated", Card: card})
	s.OK(err)
	_, err = s.sim.Order(t.Context(), carrier.Order{Reference: left.OrderRef, Number: left.E164})
	s.OK(err)
	insert(callcenter.CarrierJob)
	s.eventually("the order", func() bool { return s.list(s.A)[0].Status == "active" })
	insert(callcenter.MonthsJob)
	s.eventually("the second month", func() bool { return s.pots(s.A).Paid == 90*usd })
	s.Verified()
}

// A carrier's webhook leads to a look at the order, and to nothing else.
func TestHook(t *testing.T) {
	s := open(t)
	n := s.number(s.buy(s.A, s.ending("4")))
	order, err := numbers.New(s.DB).Number(t.Context(), s.A.Account, n.ID)
	s.OK(err)
	notify := func(reference string, notice error) int {
		t.Helper()
		desk := callcenter.New(*s.desk)
		desk.Carrier = notifier{s.rough, reference, notice}
		w := httptest.NewRecorder()
		h := s.routes(desk).Handler(api.Options{})
		h.ServeHTTP(w, httptest.NewRequest("POST", "/hooks/simulated", nil))
		return w.Code
	}
	if got := notify(order.OrderRef, nil); got != 204 || s.list(s.A)[0].Status != "pending" {
		t.Errorf("too early: %d, %+v", got, s.list(s.A))
	}
	s.clock.Add(int64(time.Minute))
	for reference, status := range map[string]int{"": 204, "num_x": 204} {
		if got := notify(reference, nil); got != status || s.list(s.A)[0].Status != "pending" {
			t.Errorf("%q: %d, %+v", reference, got, s.list(s.A))
		}
	}
	if got := notify(order.OrderRef, carrier.ErrSignature); got != 400 || s.list(s.A)[0].Status != "pending" {
		t.Errorf("unsigned: %d, %+v", got, s.list(s.A))
	}
	s.rough.set(&s.rough.lookup, away)
	if got := notify(order.OrderRef, nil); got != 503 {
		t.Errorf("while the carrier is away: %d", got)
	}
	s.rough.set(&s.rough.lookup, nil)
	if got := notify(order.OrderRef, nil); got != 204 || s.list(s.A)[0].Status != "active" {
		t.Errorf("%d, %+v", got, s.list(s.A))
	}
	s.Verified()
}
