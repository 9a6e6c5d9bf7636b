package topup_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/billing/payment"
	"parley/store/payments"
)

// asked counts the look-ups at a provider.
type asked struct {
	payment.Provider
	n atomic.Int32
}

func (a *asked) Payment(ctx context.Context, id string) (payment.Payment, error) {
	a.n.Add(1)
	return a.Provider.Payment(ctx, id)
}

// age has every top-up be older, and due at once if it was due within that time.
func (o *bank) age(by string) {
	o.Helper()
	conn, err := pgx.Connect(o.Context(), o.Database)
	o.OK(err)
	defer conn.Close(context.WithoutCancel(o.Context()))
	_, err = conn.Exec(o.Context(), "update topups set created_at = created_at - $1::interval, look_at = look_at - $1::interval", by)
	o.OK(err)
}

// stored is a top-up as the books have it; nobody asks the provider.
func (o *bank) stored(who owner, v view) payments.TopUp {
	o.Helper()
	t, err := payments.New(o.DB).TopUp(o.Context(), who.Account, v.ID)
	o.OK(err)
	return *t
}

// A customer pays and closes the page, and the webhook never comes: the money is credited
// all the same, once, also when the webhook comes after all.
func TestPaidTopUpWithoutWebhookIsCredited(t *testing.T) {
	o := open(t)
	o.deaf = true
	provider := &asked{Provider: o.desk.Provider}
	o.desk.Provider = provider
	look := func(want int32) {
		t.Helper()
		before := provider.n.Load()
		o.OK(o.desk.LookForPaid(t.Context()))
		if got := provider.n.Load() - before; got != want {
			t.Errorf("the provider was asked %d times; want %d", got, want)
		}
	}
	paid, left := o.begin(o.A, "25"), o.begin(o.B, "40")
	o.press(paid, "pay")
	o.pass(0)
	look(0) // the webhook has its time
	if got := o.show(o.A).Pots.Paid; got != 0 {
		t.Errorf("%s without any news", got)
	}
	o.age("6 minutes")
	look(2)
	if got := o.show(o.A).Pots.Paid; got != 25*usd {
		t.Errorf("paid %s; want 25", got)
	}
	if got := o.stored(o.B, left); got.State != payments.TopUpPending {
		t.Errorf("nobody has paid: %+v", got)
	}
	look(0)
	// The longer nothing happens, the more seldom somebody asks.
	o.age("7 minutes")
	look(1)
	o.age("7 minutes")
	look(0)
	o.age("7 minutes")
	look(1)
	for _, h := range o.heard {
		o.post(h)
	}
	o.deaf = false
	for _, h := range o.heard {
		o.post(h)
	}
	o.press(left, "pay") // long after
	o.age("1 day")
	look(1)
	if a, b := o.show(o.A).Pots.Paid, o.show(o.B).Pots.Paid; a != 25*usd || b != 40*usd {
		t.Errorf("%s and %s were credited; want 25 and 40", a, b)
	}
	o.age("1 day")
	look(0)
}

// A provider that does not answer is asked again later, and no more than one question of a
// round waits for it.
func TestLooksWaitForTheProvider(t *testing.T) {
	o := open(t)
	o.deaf = true
	down := errors.New("down")
	away := &faulty{Provider: o.desk.Provider, down: down}
	o.desk.Provider = away
	first, second := o.begin(o.A, "25"), o.begin(o.B, "40")
	o.press(first, "pay")
	o.press(second, "pay")
	o.age("6 minutes")
	if err := o.desk.LookForPaid(t.Context()); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
	away.down = nil
	o.OK(o.desk.LookForPaid(t.Context()))
	o.age("7 minutes")
	o.OK(o.desk.LookForPaid(t.Context()))
	if a, b := o.show(o.A).Pots.Paid, o.show(o.B).Pots.Paid; a != 25*usd || b != 40*usd {
		t.Errorf("%s and %s were credited; want 25 and 40", a, b)
	}
}

// The webhook, rounds of two nodes and the customer's own page come at once.
func TestWebhookAndLooksAtOnce(t *testing.T) {
	o := open(t)
	o.deaf = true
	const topups = 6
	var all []view
	for range topups {
		v := o.begin(o.A, "10")
		o.press(v, "pay")
		all = append(all, v)
	}
	o.pass(0)
	o.age("6 minutes")
	o.deaf = false
	heard := o.heard
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := o.desk.LookForPaid(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	for i, h := range heard {
		wg.Go(func() {
			if status := o.post(h); status != 204 {
				t.Errorf("webhook %d: %d", i, status)
			}
		})
	}
	for _, v := range all {
		wg.Go(func() { o.get(o.A, v.ID) })
	}
	wg.Wait()
	if got := o.show(o.A).Pots.Paid; got != topups*10*usd {
		t.Errorf("%s were credited; want %d", got, topups*10)
	}
}
