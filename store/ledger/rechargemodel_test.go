package ledger_test

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/payments"
)

// The machine's automatic recharges. Which transaction makes an attempt is left open;
// that each was wanted, that there is never a second one, and that a sweep leaves none
// unmade is not.

// processing is an attempt that somebody may have charged.
const processing payments.TopUpState = "processing"

// twinRecharge is what the model knows of an account's.
type twinRecharge struct {
	payments.Recharge
	declines  int
	notBefore time.Time
	paid      time.Time // when an attempt succeeded last
	attempts  []*twinAttempt
}

type twinAttempt struct {
	id, topup string
	amount    billing.Money
	made      time.Time
	state     payments.TopUpState
	truth     payments.TopUpState // at the provider; empty: not decided
	told      *payment.Payment    // its last answer
}

func (m *machine) recharges() map[string]func() {
	return map[string]func(){
		"set recharge": m.setRecharge, "set recharge again": m.setRecharge, "begin recharge": m.beginRecharge, "begin recharge again": m.beginRecharge,
		"answer recharge": m.answerRecharge, "answer recharge again": m.answerRecharge, "give up recharge": m.giveUpRecharge, "sweep recharges": m.sweepRecharges,
	}
}

// noticed is called for each attempt, within its transaction, which may still fail.
func (m *machine) noticed(_ context.Context, _ pgx.Tx, account, id string) error {
	m.attempts[account] = id
	return nil
}

func (a *twin) needsRecharge() bool {
	return a.recharge.Enabled && a.pots().Balance() < a.recharge.Threshold
}

func (r *twinRecharge) open() *twinAttempt {
	if i := slices.IndexFunc(r.attempts, func(t *twinAttempt) bool {
		return t.state == payments.TopUpPending || t.state == processing
	}); i >= 0 {
		return r.attempts[i]
	}
	return nil
}

// charged counts towards the cap of the month.
func (r *twinRecharge) charged(now time.Time) (sum billing.Money) {
	for _, t := range r.attempts {
		if t.made.Year() == now.Year() && t.made.Month() == now.Month() && t.state != payments.TopUpFailed && t.state != payments.TopUpCanceled {
			sum += t.amount
		}
	}
	return sum
}

// next is when an attempt may be made again: not soon after a charge.
func (r *twinRecharge) next() time.Time {
	next := r.notBefore
	if !r.paid.IsZero() && r.paid.Add(ledger.RechargePause).After(next) {
		next = r.paid.Add(ledger.RechargePause)
	}
	return next
}

// wantsRecharge says whether an attempt may be made, and is to be, unless one is open.
func (m *machine) wantsRecharge(a *twin) bool {
	r := a.recharge
	return a.needsRecharge() && !a.frozen() && !a.suspended && !m.now.Before(r.next()) && r.charged(m.now)+r.Amount <= r.MonthlyCap
}

func (m *machine) setRecharge() {
	a := m.account()
	to := payments.Recharge{Enabled: rapid.IntRange(0, 3).Draw(m.t, "enabled") > 0, Threshold: billing.Money(rapid.IntRange(0, 20).Draw(m.t, "threshold")) * usd,
		Amount: billing.Money(rapid.IntRange(0, 15).Draw(m.t, "amount")) * usd, MonthlyCap: billing.Money(rapid.IntRange(10, 60).Draw(m.t, "cap")) * usd}
	m.expire()
	var want error
	switch {
	case to.Amount == 0, to.Amount > to.MonthlyCap:
		want = store.ErrInvalid
	case to.Enabled && a.suspended:
		want = store.ErrSuspended
	case to.Enabled && a.frozen():
		want = store.ErrDisputed
	case to.Enabled && !slices.ContainsFunc(a.topups, func(t *twinTopUp) bool { return t.state == payments.TopUpSucceeded }):
		want = store.ErrTopupRequired
	}
	_, err := m.db.Payments.SetRecharge(m.ctx(), a.id, "sim", ledgertest.RechargeDefaults, func(r *payments.Recharge) error { *r = to; return nil })
	if m.is(err, want); want != nil {
		return
	}
	if to.Enabled && !a.recharge.Enabled {
		a.recharge.declines = 0
	}
	a.recharge.Recharge, a.recharged = to, true
	if t := a.recharge.open(); !to.Enabled && t != nil && t.state == payments.TopUpPending {
		t.state = payments.TopUpCanceled
	}
}

// anAttempt is one of the latest; nil when there is none.
func (m *machine) anAttempt() (*twin, *twinAttempt) {
	a := m.account()
	if len(a.recharge.attempts) == 0 {
		return a, nil
	}
	return a, a.recharge.attempts[max(0, len(a.recharge.attempts)-1-rapid.IntRange(0, 1).Draw(m.t, "attempt"))]
}

// beginRecharge is a server that takes an attempt on, and may die with it.
func (m *machine) beginRecharge() {
	a, t := m.anAttempt()
	if t == nil {
		return
	}
	got, err := m.db.Payments.BeginRecharge(m.ctx(), a.id, t.id)
	m.ok(err)
	m.settle(a)
	begun := false
	switch frozen := a.frozen() || a.suspended; {
	case t != a.recharge.open():
	case t.state == payments.TopUpPending && (frozen || !a.needsRecharge()):
		t.state = payments.TopUpCanceled
	case !frozen:
		t.state, begun = processing, true
	}
	if (got != nil) != begun || begun && (got.ID != t.id || got.Amount != t.amount) {
		m.t.Fatalf("begun %+v; the model says %v, %+v", got, begun, t)
	}
}

// answerRecharge has the provider say what became of an attempt that was taken on; it
// says so twice perhaps, and stays with it.
func (m *machine) answerRecharge() {
	a, t := m.anAttempt()
	if t == nil || t.state == payments.TopUpPending || t.state == payments.TopUpCanceled {
		return
	}
	if t.truth == "" {
		t.truth = rapid.SampledFrom([]payments.TopUpState{"", payments.TopUpSucceeded, payments.TopUpSucceeded, payments.TopUpFailed, payments.TopUpFailed}).Draw(m.t, "truth")
		t.told = &payment.Payment{ID: "pi_" + t.id, Key: t.id, Account: a.id, Customer: "cus_" + a.id, Amount: t.amount, State: payment.Processing}
		if t.truth != "" {
			t.told.State = payment.State(t.truth)
		}
		if t.truth == payments.TopUpFailed {
			t.told.Code = rapid.SampledFrom([]string{"card_declined", payment.CodeAuthentication}).Draw(m.t, "code")
		}
	}
	for range rapid.IntRange(1, 2).Draw(m.t, "times") {
		n, err := m.db.Payments.NextReadVersion(m.ctx())
		m.ok(err)
		_, err = m.db.Payments.ReconcilePayment(m.ctx(), payments.PaymentRead{Provider: "sim", Version: n, Payment: *t.told})
		m.ok(err)
	}
	m.settle(a)
	switch {
	case t.truth == payments.TopUpSucceeded && t.state != payments.TopUpSucceeded:
		t.state, a.topup = payments.TopUpSucceeded, true
		a.recharge.declines, a.recharge.notBefore, a.recharge.paid = 0, time.Time{}, m.now
		a.credit(t.amount)
	case t.truth == payments.TopUpFailed && t.state == processing:
		m.failedRecharge(a, t, t.told.Code == payment.CodeAuthentication, t.told.Code == "card_declined")
	}
}

func (m *machine) failedRecharge(a *twin, t *twinAttempt, off, declined bool) {
	r := &a.recharge
	t.state = payments.TopUpFailed
	if declined {
		r.declines++
	}
	off = off || r.declines >= payments.MaxDeclines
	wait := time.Hour
	if off || r.declines > 1 {
		wait = day
	}
	r.notBefore, r.Enabled = m.now.Add(wait), r.Enabled && !off
}

// giveUpRecharge is a provider that refuses the charge: no money comes of it.
func (m *machine) giveUpRecharge() {
	a, t := m.anAttempt()
	if t == nil {
		return
	}
	m.ok(m.db.Payments.FailRecharge(m.ctx(), a.id, t.id, payments.RechargeRefused, ""))
	m.settle(a)
	if t == a.recharge.open() {
		t.truth = payments.TopUpFailed
		t.told = &payment.Payment{ID: "pi_" + t.id, Key: t.id, Account: a.id, Customer: "cus_" + a.id, Amount: t.amount, State: payment.Failed, Code: "card_declined"}
		m.failedRecharge(a, t, false, false)
	}
}

// refunded ends recharging where money that went back left the balance below the threshold.
func (a *twin) refunded(amount billing.Money) {
	if amount > 0 && a.needsRecharge() {
		a.recharge.Enabled = false
	}
}

func (m *machine) sweepRecharges() {
	m.expire() // a sweep does it where it finds something to do
	_, err := m.db.Payments.SweepRecharges(m.ctx(), m.noticed)
	m.ok(err)
	m.compareRecharges("sweep")
	for _, a := range m.accounts {
		if m.wantsRecharge(a) && a.recharge.open() == nil {
			m.t.Fatalf("swept, and nobody recharges %s: %+v", a.id, a.recharge)
		}
	}
}

// compareRecharges checks that settings and attempts are what the model says.
func (m *machine) compareRecharges(after string) {
	for _, a := range m.accounts {
		if !a.recharged {
			continue
		}
		r := &a.recharge
		s, err := m.db.Payments.Recharge(m.ctx(), a.id, "sim", ledgertest.RechargeDefaults)
		m.ok(err)
		t := r.open()
		if t == nil && s.Open != "" {
			id := m.attempts[a.id]
			if !m.wantsRecharge(a) || slices.ContainsFunc(r.attempts, func(x *twinAttempt) bool { return x.id == id || x.topup == s.Open }) {
				m.t.Fatalf("after %s: nobody wants %s; the model says %+v, balance %s", after, id, r, a.pots().Balance())
			}
			t = &twinAttempt{id: id, topup: s.Open, amount: r.Amount, made: m.now, state: payments.TopUpPending}
			r.attempts = append(r.attempts, t)
		}
		var open string
		if t != nil {
			open = t.topup
		}
		notBefore := s.NotBefore == nil && !r.next().After(m.now) || s.NotBefore != nil && s.NotBefore.Equal(r.next())
		if s.Recharge != r.Recharge || s.Open != open || s.Charged != r.charged(m.now) || !notBefore {
			m.t.Fatalf("after %s: %+v; the model says %+v, open %q, charged %s", after, s, r, open, r.charged(m.now))
		}
		for _, t := range r.attempts {
			if got, err := m.db.Payments.TopUp(m.ctx(), a.id, t.topup); err != nil || got.State.Open() != (t == r.open()) || !t.isState(got.State) {
				m.t.Fatalf("after %s: %+v, %v; the model says %+v", after, got, err, t)
			}
		}
	}
}

// isState compares how a top-up ended.
func (t *twinAttempt) isState(s payments.TopUpState) bool {
	return s.Open() || s == t.state
}
