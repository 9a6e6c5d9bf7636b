package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/billing/payment"
	"parley/billing/payment/simulated"
)

func TestWebhookIsRepeatedUntilAccepted(t *testing.T) {
	b := newBench(t, nil)
	b.Pay(t, b.page(t, "topup", 10*billing.USD))
	b.answer(http.StatusFound) // a redirect is not followed and no success
	var waits []time.Duration
	last := b.clock()
	for range 600 {
		if before := len(b.got); b.Deliver(t.Context()) == 0 && len(b.got) > before {
			waits = append(waits, b.clock().Sub(last))
			last = b.clock()
		}
		b.advance(time.Second)
	}
	want := "[0s 1s 2s 4s 8s 16s 32s 1m4s 2m8s 4m16s]"
	if got := fmt.Sprint(waits); got != want {
		t.Errorf("tried after %s, want %s", got, want)
	}
	b.advance(5 * time.Minute)
	b.answer(http.StatusNoContent)
	b.got = nil
	if n := b.Deliver(t.Context()); n != 1 || b.Deliver(t.Context()) != 0 {
		t.Errorf("%d accepted", n)
	}
	// Each try is signed anew, so one that comes late is fresh.
	if _, err := b.Event(b.got[0].Header, b.got[0].Body, b.got[0].At); err != nil {
		t.Error(err)
	}
}

func TestWebhookIsGivenUpAfterThreeDays(t *testing.T) {
	b := newBench(t, nil)
	b.Pay(t, b.page(t, "topup", 10*billing.USD))
	b.answer(http.StatusInternalServerError)
	for range 71 {
		b.Deliver(t.Context())
		b.advance(time.Hour)
	}
	if b.Dropped() != 0 {
		t.Error("given up within three days")
	}
	b.advance(time.Hour)
	b.Deliver(t.Context())
	b.answer(http.StatusOK)
	b.advance(time.Hour)
	if b.Dropped() != 1 || b.Deliver(t.Context()) != 0 {
		t.Errorf("%d dropped", b.Dropped())
	}
}

func TestFullOutboxDropsTheOldest(t *testing.T) {
	b := newBench(t, nil)
	r := payment.ChargeRequest{Account: "acct", Customer: b.saved(t), Amount: 10 * billing.USD}
	var ids []string
	for i := range 1003 {
		r.Key = fmt.Sprint("attempt ", i)
		p, err := b.Charge(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, p.ID)
	}
	if n := b.Deliver(t.Context()); n != 1000 || b.Dropped() != 3 {
		t.Errorf("%d delivered, %d dropped", n, b.Dropped())
	}
	if e, err := b.Event(b.got[0].Header, b.got[0].Body, b.got[0].At); err != nil || e.Payment != ids[3] {
		t.Errorf("first: %+v, %v; want %s", e, err, ids[3])
	}
}

func TestFailingWebhookDoesNotHoldUpOthers(t *testing.T) {
	b := newBench(t, nil)
	b.Pay(t, b.page(t, "first", 10*billing.USD))
	b.answer(http.StatusInternalServerError)
	b.Deliver(t.Context())
	b.answer(http.StatusOK)
	b.Pay(t, b.page(t, "second", 10*billing.USD))
	if n := b.Deliver(t.Context()); n != 1 {
		t.Errorf("%d delivered at once, want the younger", n)
	}
	b.advance(time.Second)
	if n := b.Deliver(t.Context()); n != 1 {
		t.Errorf("%d delivered later, want the older", n)
	}
}

// pipe answers requests in memory, so that time can be simulated.
type pipe struct{ http.Handler }

func (p pipe) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var came []time.Duration
		begin := time.Now()
		status := http.StatusServiceUnavailable
		p, err := simulated.New(simulated.Config{
			PageURL: "/simulated/", WebhookURL: "http://parley.example/hooks/simulated", WebhookSecret: secret,
			Client: &http.Client{Transport: pipe{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				came = append(came, time.Since(begin))
				w.WriteHeader(status)
				status = http.StatusOK
			})}},
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		synctest.Wait()
		page, err := p.Checkout(ctx, payment.CheckoutRequest{TopUp: "t", Account: "a", Amount: 10*billing.USD + 10*billing.Cent})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Pay(page.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // simulated
		synctest.Wait()
		// Paid (refused once), opened, withdrawn, won.
		if got := fmt.Sprint(came); got != "[0s 1s 2s 3s 10s]" {
			t.Errorf("webhooks after %s", got)
		}
		cancel(stop)
		if err := <-done; !errors.Is(err, stop) {
			t.Errorf("Run returned %v", err)
		}
	})
}

// A clock that jumps is noticed, because Run looks once a second while something waits.
func TestRunFollowsAnInjectedClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), status: http.StatusOK}
		b.config = simulated.Config{
			PageURL: "/simulated/", WebhookURL: "http://parley.example/hooks/simulated", WebhookSecret: secret,
			Now: b.clock, Client: &http.Client{Transport: pipe{b}},
		}
		b.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.Run(ctx) }()
		b.Pay(t, b.page(t, "topup", 10*billing.USD+5*billing.Cent))
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(b.got) != 0 {
			t.Error("its clock stands still, yet the late webhook came")
		}
		b.advance(time.Minute)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(b.got) != 1 {
			t.Errorf("%d webhooks after the clock jumped", len(b.got))
		}
		cancel()
		<-done
	})
}
