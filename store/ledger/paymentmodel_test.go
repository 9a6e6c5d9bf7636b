package ledger_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/payments"
)

// The machine's payments: a provider that knows what each payment is, looks at it
// that are settled late, twice and in any order, and events that come likewise.

// twinTopUp is what the model knows of a top-up, and what the provider does.
type twinTopUp struct {
	id       string
	acc      *twin
	amount   billing.Money
	made     time.Time
	state    payments.TopUpState
	paid     billing.Money
	refunded billing.Money
	looked   int64
	asked    *twinRefund // not settled yet
	disputes map[string]*twinDispute

	truth payment.Payment // at the provider
}

type twinRefund struct {
	*payments.Refund
	total billing.Money // refunded with it
}

type twinDispute struct {
	amount, held billing.Money
	withdrawn    bool
	decided      payment.Kind // won, lost or neither
	open         bool
}

// twinLook is what somebody saw of a payment, to be settled some time.
type twinLook struct {
	top  *twinTopUp
	n    int64
	seen payment.Payment
}

// frozen says whether a payment of the account is disputed.
func (a *twin) frozen() bool {
	if a.disputed {
		return true
	}
	for _, t := range a.topups {
		for _, d := range t.disputes {
			if d.open {
				return true
			}
		}
	}
	return false
}

func (m *machine) payments() map[string]func() {
	return map[string]func(){
		"begin top-up": m.beginTopUp, "look": m.look, "look again": m.look, "look once more": m.look, "settle": m.settleLook, "settle again": m.settleLook,
		"settle once more": m.settleLook, "dispute event": m.disputeEvent, "dispute event again": m.disputeEvent, "ask for a refund": m.askRefund,
		"ask again for a refund": m.askRefund, "end a refund": m.endRefund, "resolve all": m.resolveAll,
	}
}

func (m *machine) beginTopUp() {
	a := m.account()
	m.expire()
	amount := billing.Money(rapid.IntRange(1, 2000).Draw(m.t, "cents")) * billing.Cent
	var want error
	lately := 0
	for _, t := range a.topups {
		if t.made.After(m.now.Add(-time.Hour)) {
			lately++
		}
	}
	switch {
	case a.suspended:
		want = store.ErrSuspended
	case a.frozen():
		want = store.ErrDisputed
	case lately >= payments.MaxTopUps:
		want = store.ErrTopUps
	}
	top, err := m.db.Payments.CreateTopUp(m.ctx(), a.id, "sim", amount)
	if m.is(err, want); want != nil {
		return
	}
	_, err = m.db.Payments.OpenTopUp(m.ctx(), a.id, top.ID, payment.Checkout{ID: "cs_" + top.ID, URL: "http://pay.example/"})
	m.ok(err)
	a.topups = append(a.topups, &twinTopUp{id: top.ID, acc: a, amount: amount, made: m.now, state: payments.TopUpPending,
		disputes: map[string]*twinDispute{},
		truth:    payment.Payment{ID: "pi_" + top.ID, TopUp: top.ID, Account: a.id, Amount: amount, State: payment.Pending}})
}

// aTopUp is one of an account's latest; nil when there is none.
func (m *machine) aTopUp() *twinTopUp {
	a := m.account()
	if len(a.topups) == 0 {
		return nil
	}
	return a.topups[max(0, len(a.topups)-1-rapid.IntRange(0, 1).Draw(m.t, "top-up"))]
}

// firstTopUps gives each account one that is paid, for most operations need it.
func (m *machine) firstTopUps() {
	for len(m.accounts[0].topups) == 0 || len(m.accounts[1].topups) == 0 {
		m.beginTopUp()
	}
	for _, a := range m.accounts {
		a.topups[0].truth.State = payment.Succeeded
		m.settled(m.lookAt(a.topups[0]), payment.Event{}, nil, nil)
	}
}

// pay is the customer, or the bank, at the provider.
func (m *machine) pay(t *twinTopUp) {
	if t.truth.State != payment.Succeeded {
		t.truth.State = rapid.SampledFrom([]payment.State{payment.Succeeded, payment.Succeeded, payment.Processing, payment.Failed, payment.Canceled}).Draw(m.t, "state")
	}
}

// refundElsewhere gives money back by hand at the provider, or has a refund fail.
func (m *machine) refundElsewhere(t *twinTopUp) {
	if t.truth.State == payment.Succeeded {
		t.truth.Refunded = billing.Money(rapid.Int64Range(0, int64(t.amount/billing.Cent)).Draw(m.t, "refunded")) * billing.Cent
	}
}

// look sees a payment, of which there is news perhaps.
func (m *machine) look() {
	t := m.aTopUp()
	if t == nil {
		return
	}
	rapid.SampledFrom([]func(*twinTopUp){m.pay, m.refundElsewhere, func(*twinTopUp) {}}).Draw(m.t, "news")(t)
	m.lookAt(t)
}

func (m *machine) lookAt(t *twinTopUp) twinLook {
	n, err := m.db.Payments.NextReadVersion(m.ctx())
	m.ok(err)
	l := twinLook{t, n, t.truth}
	m.looks = append(m.looks, l)
	return l
}

// aLook is one of the latest.
func (m *machine) aLook() twinLook {
	return m.looks[max(0, len(m.looks)-1-rapid.IntRange(0, 5).Draw(m.t, "look"))]
}

// settleLook settles any look, again perhaps, with an event that may have come before.
func (m *machine) settleLook() {
	m.settled(m.aLook(), payment.Event{}, nil, nil)
}

func (m *machine) disputeEvent() {
	l := m.aLook()
	e := payment.Event{
		ID: fmt.Sprintf("evt_%s_%s_%d", m.run, l.top.id, rapid.IntRange(0, 9).Draw(m.t, "event")),
		Kind: rapid.SampledFrom([]payment.Kind{payment.DisputeOpened, payment.DisputeFundsWithdrawn, payment.DisputeFundsWithdrawn,
			payment.DisputeWon, payment.DisputeWon, payment.DisputeLost}).Draw(m.t, "kind"),
		Dispute: payment.Dispute{Ref: fmt.Sprintf("dp_%s_%d", l.top.id, rapid.IntRange(0, 1).Draw(m.t, "dispute")),
			Amount: billing.Money(rapid.IntRange(1, 2500).Draw(m.t, "disputed")) * billing.Cent},
	}
	m.settled(l, e, nil, nil)
}

// settled settles a look in the store and in the model.
func (m *machine) settled(l twinLook, e payment.Event, refund *payments.Refund, want error) {
	t := l.top
	_, err := m.db.Payments.ReconcilePayment(m.ctx(), payments.PaymentRead{Provider: "sim", Version: l.n, Payment: l.seen, Event: e, Refund: refund})
	if m.is(err, want); want != nil {
		return
	}
	m.settle(t.acc)
	if refund != nil {
		t.asked = nil
	}
	if l.n > t.looked {
		t.looked = l.n
		t.agree(l.seen)
	}
	if e.ID != "" && !m.events[e.ID] {
		m.events[e.ID] = true
		t.dispute(e)
	}
}

// agree is what a look that counts does.
func (t *twinTopUp) agree(seen payment.Payment) {
	switch seen.State {
	case payment.Succeeded:
		if t.state != payments.TopUpSucceeded {
			t.state, t.paid, t.acc.topup = payments.TopUpSucceeded, seen.Amount, true
			t.acc.credit(seen.Amount)
			t.acc.recharge.declines, t.acc.recharge.notBefore = 0, time.Time{}
		}
		total := seen.Refunded
		if t.asked != nil {
			total = max(total, t.asked.total)
		}
		t.acc.credit(t.refunded - total)
		t.acc.refunded(total - t.refunded)
		t.refunded = total
	case payment.Failed, payment.Canceled:
		if t.state.Open() {
			t.state = payments.TopUpState(seen.State)
		}
	}
}

func (t *twinTopUp) dispute(e payment.Event) {
	d := t.disputes[e.Dispute.Ref]
	if d == nil {
		d = &twinDispute{amount: min(e.Dispute.Amount, t.paid), open: true}
		t.disputes[e.Dispute.Ref] = d
	}
	if d.decided == payment.DisputeWon {
		return
	}
	switch e.Kind {
	case payment.DisputeFundsWithdrawn:
		if !d.withdrawn {
			d.withdrawn, d.held = true, d.amount
			t.acc.paid -= d.held
		}
	case payment.DisputeWon:
		if d.decided == "" {
			t.acc.credit(d.held)
			if d.open {
				t.acc.retryMonths()
			}
			d.decided, d.held, d.open = e.Kind, 0, false
		}
	case payment.DisputeLost:
		d.decided = e.Kind
	}
}

// askRefund is an operator, who may ask for anything.
func (m *machine) askRefund() {
	t := m.aTopUp()
	if t == nil {
		return
	}
	amount := billing.Money(rapid.IntRange(0, 800).Draw(m.t, "cents")) * billing.Cent
	m.expire()
	p := t.acc.pots()
	var want error
	switch {
	case amount == 0:
		want = store.ErrInvalid
	case t.acc.frozen():
		want = store.ErrDisputed
	case t.asked != nil, amount > t.paid-t.refunded:
		want = store.ErrInvalid
	case amount > p.PaidLeft()-t.acc.held:
		want = store.ErrInsufficientBalance
	}
	r, err := m.db.Payments.RequestRefund(m.ctx(), t.acc.id, t.id, amount)
	if m.is(err, want); want != nil {
		return
	}
	t.refunded += amount
	t.acc.paid -= amount
	t.acc.refunded(amount)
	t.asked = &twinRefund{r, t.refunded}
}

// endRefund is the server that has told the provider, which made the refund or not.
func (m *machine) endRefund() {
	t := m.aTopUp()
	if t == nil || t.asked == nil {
		return
	}
	r := *t.asked.Refund
	r.State = rapid.SampledFrom([]payments.RefundState{payments.RefundDone, payments.RefundFailed}).Draw(m.t, "outcome")
	if r.State == payments.RefundDone {
		t.truth.Refunded = min(t.amount, t.truth.Refunded+r.Amount)
	}
	i := slices.IndexFunc(m.looks, func(l twinLook) bool { return l.top == t })
	if i >= 0 && m.looks[i].n <= t.looked && rapid.Bool().Draw(m.t, "stale") {
		m.settled(m.looks[i], payment.Event{}, &r, store.ErrStaleRead)
	}
	m.settled(m.lookAt(t), payment.Event{}, &r, nil)
}

// resolveAll is an operator who ends all disputes of an account.
func (m *machine) resolveAll() {
	a := m.account()
	m.settle(a)
	a.disputed = false
	for _, t := range a.topups {
		for _, d := range t.disputes {
			d.open = false
		}
	}
	m.ok(m.db.ResolveDispute(m.ctx(), a.id, ""))
	a.retryMonths()
}

// comparePayments checks that each top-up is what the model says.
func (m *machine) comparePayments(after string) {
	for _, a := range m.accounts {
		for _, t := range a.topups {
			got, err := m.db.Payments.TopUp(m.ctx(), a.id, t.id)
			m.ok(err)
			if got.State != t.state || got.Paid != t.paid || got.Refunded != t.refunded {
				m.t.Fatalf("after %s: %+v; the model says %s, %s paid, %s refunded", after, got, t.state, t.paid, t.refunded)
			}
		}
	}
}
