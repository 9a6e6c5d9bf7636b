package topup_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/billing/payment"
	"parley/store/payments"
)

// unsteady is a provider that makes refunds and loses the answer, or refuses them.
type unsteady struct {
	payment.Provider
	lost    int   // answers
	refuses error // instead
	made    int   // calls that came through
}

func (u *unsteady) Refund(ctx context.Context, r payment.RefundRequest) (payment.Refund, error) {
	if u.refuses != nil {
		return payment.Refund{}, u.refuses
	}
	got, err := u.Provider.Refund(ctx, r)
	u.made++
	if u.lost > 0 {
		u.lost--
		return payment.Refund{}, payment.ErrUnknown
	}
	return got, err
}

// paidTopUp is a top-up of 20 dollars that was paid.
func (o *bank) paidTopUp() string {
	o.Helper()
	v := o.begin(o.A, "20")
	o.press(v, "pay")
	o.pass(0)
	if got := o.get(o.A, v.ID); got.State != "succeeded" || got.Paid != 20*usd {
		o.Fatalf("%+v", got)
	}
	return v.ID
}

// TestRefunds: what an operator asks for reaches the provider once, whatever happens
// to the answer and to the webhook; what fails comes back.
func TestRefunds(t *testing.T) {
	o := open(t)
	u := &unsteady{Provider: o.pays}
	o.desk.Provider = u
	id := o.paidTopUp()
	ask := func() *payments.Refund {
		t.Helper()
		r, err := payments.New(o.DB).RequestRefund(t.Context(), o.A.Account, id, 5*usd)
		o.OK(err)
		return r
	}
	wantState := func(r *payments.Refund, state payments.RefundState, code string) {
		t.Helper()
		if got, err := payments.New(o.DB).Refund(t.Context(), o.A.Account, r.ID); err != nil || got.State != state || got.Code != code {
			t.Errorf("%+v, %v; want %s %s", got, err, state, code)
		}
	}

	u.lost = 1
	r := ask()
	for range 2 { // the webhook comes before the answer does
		if err := o.desk.PayBack(t.Context()); u.made == 1 && !errors.Is(err, payment.ErrUnknown) {
			t.Errorf("the answer is lost: %v", err)
		}
		if paid := o.show(o.A).Pots.Paid; paid != 15*usd {
			t.Errorf("%v paid", paid)
		}
		o.pass(time.Second)
	}
	wantState(r, payments.RefundDone, "")
	o.OK(o.desk.PayBack(t.Context()))
	if got := o.get(o.A, id); u.made != 2 || got.Refunded != 5*usd || o.show(o.A).Pots.Paid != 15*usd {
		t.Errorf("asked %d times, %+v, %v paid", u.made, got, o.show(o.A).Pots.Paid)
	}

	u.refuses = payment.ErrRefused
	r = ask()
	o.OK(o.desk.PayBack(t.Context()))
	wantState(r, payments.RefundFailed, "refused")
	if paid := o.show(o.A).Pots.Paid; paid != 15*usd {
		t.Errorf("%v paid after a refusal", paid)
	}

	// One by Run, as a server does it.
	u.refuses = nil
	r = ask()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.desk.Run(ctx) }()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got, err := payments.New(o.DB).Refund(t.Context(), o.A.Account, r.ID)
		o.OK(err)
		if got.State == payments.RefundDone {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", got)
		}
	}
	stop()
	o.OK(<-ended)
	if paid := o.show(o.A).Pots.Paid; paid != 10*usd {
		t.Errorf("%v paid", paid)
	}
}

// TestDisputesAreTold, to whoever has the account's calls.
func TestDisputesAreTold(t *testing.T) {
	o := open(t)
	told := make(chan string, 10)
	o.desk.Disputed = func(account string) { told <- account }
	id := o.paidTopUp()
	top, err := payments.New(o.DB).TopUp(t.Context(), o.A.Account, id)
	o.OK(err)
	if len(told) != 0 {
		t.Error("there is no dispute")
	}
	_, err = o.pays.OpenDispute(top.Payment, 20*usd)
	o.OK(err)
	o.pass(0)
	if len(told) == 0 || <-told != o.A.Account || o.show(o.A).OpenDisputes != 1 {
		t.Errorf("%d told, %d disputes", len(told), o.show(o.A).OpenDisputes)
	}
}
