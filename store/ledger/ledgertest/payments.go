package ledgertest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/payments"
)

// RechargeDefaults are those of the built-in card.
var RechargeDefaults = payments.DefaultRecharge(Card)

// On is automatic recharge, enabled.
var On = payments.Recharge{Enabled: true, Threshold: 10 * billing.USD, Amount: 20 * billing.USD, MonthlyCap: 50 * billing.USD}

// Begun makes a top-up with a page.
func (f *Fixture) Begun(account string, amount billing.Money) *payments.TopUp {
	f.T.Helper()
	t, err := f.Payments.CreateTopUp(f.Context(), account, "sim", amount)
	f.OK(err)
	t, err = f.Payments.OpenTopUp(f.Context(), account, t.ID, payment.Checkout{ID: "cs_" + t.ID, URL: "http://pay.example/" + t.ID, Customer: "cus_" + account})
	f.OK(err)
	return t
}

// Look is the version of the next read of a payment.
func (f *Fixture) Look() int64 {
	f.T.Helper()
	n, err := f.Payments.NextReadVersion(f.Context())
	f.OK(err)
	return n
}

// Told is what the provider says of a top-up.
func Told(t *payments.TopUp, state payment.State, refunded billing.Money) payment.Payment {
	return payment.Payment{ID: "pi_" + t.ID, TopUp: t.ID, Account: t.Account, Customer: "cus_" + t.Account, Amount: t.Amount, Refunded: refunded, State: state}
}

// Settle applies what the provider says.
func (f *Fixture) Settle(look int64, p payment.Payment, e payment.Event) *payments.TopUp {
	f.T.Helper()
	t, err := f.Payments.ReconcilePayment(f.Context(), payments.PaymentRead{Provider: "sim", Version: look, Payment: p, Event: e})
	f.OK(err)
	return t
}

// InLine notes the attempts that are put in line.
type InLine struct {
	mu  sync.Mutex
	IDs []string
}

// Put puts one in line.
func (l *InLine) Put(_ context.Context, _ pgx.Tx, _, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.IDs = append(l.IDs, id)
	return nil
}

// Made is how many different ones there were.
func (l *InLine) Made() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(slices.Compact(slices.Sorted(slices.Values(l.IDs))))
}

// Last is the latest; empty: there was none.
func (l *InLine) Last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.IDs) == 0 {
		return ""
	}
	return l.IDs[len(l.IDs)-1]
}

// Recharging is an account with a saved card and this setting, its balance at 12 USD.
func (f *Fixture) Recharging(r payments.Recharge) (account string, l *InLine) {
	f.T.Helper()
	acc := f.NewAccount(0)
	f.Settle(f.Look(), Told(f.Begun(acc, 10*billing.USD), payment.Succeeded, 0), payment.Event{})
	f.Adjust(acc, 12*billing.USD)
	l = &InLine{}
	Enqueue(f.DB, store.ChargeRecharge, l.Put)
	f.SetRecharge(acc, r, T0)
	return acc, l
}

// SetRecharge changes the setting of an account.
func (f *Fixture) SetRecharge(account string, r payments.Recharge, now time.Time) *payments.RechargeState {
	f.T.Helper()
	s, err := f.Payments.SetRecharge(f.At(now), account, "sim", RechargeDefaults, func(to *payments.Recharge) error { *to = r; return nil })
	f.OK(err)
	return s
}

// Answered settles an attempt as the provider's answer to its charge would.
func (f *Fixture) Answered(account, id string, amount billing.Money, state payment.State, code string, now time.Time) {
	f.T.Helper()
	_, err := f.Payments.ReconcilePayment(f.At(now), payments.PaymentRead{Provider: "sim", Version: f.Look(), Payment: payment.Payment{
		ID: "pi_" + id, Key: id, Account: account, Customer: "cus_" + account, Amount: amount, State: state, Code: code}})
	f.OK(err)
}
