package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"parley/billing"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/numbers"
)

// The machine's numbers: four in the world, a carrier whose news come twice, late or
// never, a server that dies between its order and the answer, and months that pass.

// twinNumber is what the model knows of one.
type twinNumber struct {
	*numbers.Number
	acc       *twin
	state     numbers.State
	held      billing.Money
	period    int
	activated bool
	routed    bool
	next      *time.Time // month
	chargeAt  *time.Time
	grace     *time.Time
}

func (m *machine) numbers() map[string]func() {
	return map[string]func(){
		"order a number": m.orderNumber, "carrier says": m.carrierSays, "carrier says again": m.carrierSays, "carrier is asked": m.askCarrier,
		"release a number": m.releaseNumber, "charge numbers": m.chargeNumbers, "a month passes": m.month,
	}
}

// allNumbers are those of both accounts, lost ones too.
func (m *machine) allNumbers() (all []*twinNumber) {
	for _, a := range m.accounts {
		all = append(all, a.numbers...)
	}
	return all
}

// aNumber is one of the latest; nil when there is none.
func (m *machine) aNumber() *twinNumber {
	all := m.account().numbers
	if len(all) == 0 {
		return nil
	}
	return all[max(0, len(all)-1-rapid.IntRange(0, 2).Draw(m.t, "number"))]
}

// heldForNumbers is what first months hold of the paid pot.
func (a *twin) heldForNumbers() (held billing.Money) {
	for _, n := range a.numbers {
		held += n.held
	}
	return held
}

// credit moves the paid pot; where it grows unpaid months are tried again.
func (a *twin) credit(amount billing.Money) {
	if a.paid += amount; amount > 0 {
		a.retryMonths()
	}
}

func (a *twin) retryMonths() {
	for _, n := range a.numbers {
		if n.state == numbers.Grace {
			n.chargeAt = n.next
		}
	}
}

// orderNumber orders, and does not hear of it any more.
func (m *machine) orderNumber() {
	a := m.account()
	e164 := fmt.Sprintf("+34900%s%d", strings.ReplaceAll(m.run, "-", "0"), rapid.IntRange(0, 3).Draw(m.t, "e164"))
	m.expire()
	var want error
	switch {
	case slices.ContainsFunc(m.allNumbers(), func(n *twinNumber) bool { return n.E164 == e164 && n.state != numbers.Released }):
		want = store.ErrNumberTaken
	case a.suspended:
		want = store.ErrSuspended
	case a.frozen():
		want = store.ErrDisputed
	case !a.topup:
		want = store.ErrTopupRequired
	case a.pots().Balance() < 25*billing.Cent, a.pots().PaidLeft()-a.heldForNumbers() < monthly:
		want = store.ErrInsufficientBalance
	}
	n, err := m.db.Numbers.Order(m.ctx(), numbers.Order{Account: a.id, E164: e164, Country: "ES", Carrier: "model" + m.run, Card: card})
	if m.is(err, want); want != nil {
		return
	}
	a.held += monthly
	a.numbers = append(a.numbers, &twinNumber{Number: n, acc: a, state: numbers.Ordering, held: monthly})
}

func (m *machine) carrierSays() {
	if n := m.aNumber(); n != nil {
		m.settleNumber(n)
	}
}

// settleNumber has the carrier say anything of an order, in whatever state that is.
func (m *machine) settleNumber(n *twinNumber) {
	o := carrier.Ordered{Number: n.E164, State: rapid.SampledFrom([]carrier.State{carrier.Pending, carrier.Active, carrier.Active, carrier.Failed}).Draw(m.t, "order")}
	if o.State == carrier.Active {
		o.NumberID = "c-" + n.ID
	}
	var want error
	other := func(x *twinNumber) bool { return x != n && x.E164 == n.E164 && x.state != numbers.Released }
	if n.state == numbers.Released && !n.activated && o.State == carrier.Active && slices.ContainsFunc(m.allNumbers(), other) {
		want = store.ErrNumberTaken
	}
	_, err := m.db.Numbers.Reconcile(m.ctx(), n.Account, n.ID, o)
	m.is(err, want)
	m.settle(n.acc)
	if n.activated || want != nil {
		return
	}
	if n.state == numbers.Released { // it has failed; one that stands after all is given back
		if o.State == carrier.Active {
			n.activated, n.state = true, numbers.Releasing
		}
		return
	}
	n.acc.held -= n.held
	n.held = 0
	if o.State == carrier.Failed {
		if n.period > 0 {
			n.acc.credit(monthly)
		}
		n.lose(numbers.Released)
		return
	}
	if n.period == 0 {
		n.charge(m)
	}
	n.activated = o.State == carrier.Active
	switch {
	case n.state == numbers.Releasing:
		n.next = nil
	case n.activated:
		n.state, n.chargeAt = numbers.Owned, n.next
	default:
		n.state = numbers.Ordered
	}
}

func (n *twinNumber) charge(m *machine) {
	n.acc.paid -= monthly
	n.period++
	next := billing.Month(n.CreatedAt, n.period)
	n.next = &next
}

func (n *twinNumber) lose(to numbers.State) {
	n.state, n.next, n.chargeAt, n.grace = to, nil, nil, nil
}

func (m *machine) releaseNumber() {
	n := m.aNumber()
	if n == nil {
		return
	}
	m.expire()
	var want error
	if n.state == numbers.Releasing || n.state == numbers.Released {
		want = store.ErrNotFound
	}
	if m.is(m.db.Numbers.Release(m.ctx(), n.Account, n.ID), want); want == nil {
		n.lose(numbers.Releasing)
	}
}

// askCarrier is the round of a server, perhaps the successor of one that died: it takes
// up what is not done.
func (m *machine) askCarrier() {
	claimed, err := m.db.Numbers.Claim(m.ctx(), "model"+m.run, 3)
	m.ok(err)
	all := m.allNumbers()
	for _, c := range claimed {
		i := slices.IndexFunc(all, func(n *twinNumber) bool { return n.ID == c.ID })
		if i < 0 || all[i].state != c.State || all[i].routed && c.State != numbers.Releasing || c.State == numbers.Released && all[i].activated {
			m.t.Fatalf("claimed %+v", c)
		}
		switch n := all[i]; {
		case !n.activated:
			m.settleNumber(n)
		case n.state == numbers.Releasing:
			m.ok(m.db.Numbers.FinishRelease(m.ctx(), n.ID))
			n.state = numbers.Released
		default:
			m.ok(m.db.Numbers.Routed(m.ctx(), n.ID))
			n.routed = true
		}
	}
}

func (m *machine) month() {
	m.now = m.now.Add(time.Duration(rapid.IntRange(20, 40).Draw(m.t, "days")) * day)
}

// chargeNumbers is any node's round, twice: the second finds nothing.
func (m *machine) chargeNumbers() {
	_, err := m.db.Numbers.Charge(m.ctx(), card)
	m.ok(err)
	_, err = m.db.Numbers.Charge(m.ctx(), card)
	m.ok(err)
	due := slices.DeleteFunc(m.allNumbers(), func(n *twinNumber) bool { return n.chargeAt == nil || n.chargeAt.After(m.now) })
	slices.SortFunc(due, func(x, y *twinNumber) int {
		if d := x.chargeAt.Compare(*y.chargeAt); d != 0 {
			return d
		}
		return strings.Compare(x.ID, y.ID)
	})
	for _, n := range due {
		a := n.acc
		m.settle(a)
		for !n.next.After(m.now) && !a.frozen() && !a.suspended && a.pots().PaidLeft()-a.heldForNumbers() >= monthly {
			n.charge(m)
			n.state, n.grace, n.chargeAt = numbers.Owned, nil, n.next
		}
		until := n.next.Add(numbers.GraceTime)
		switch {
		case n.next.After(m.now):
		case m.now.Before(until):
			again := m.now.Add(day)
			if again.After(until) {
				again = until
			}
			n.state, n.grace, n.chargeAt = numbers.Grace, &until, &again
		default:
			n.lose(numbers.Releasing)
		}
	}
}

// handBack releases all, so that no later run charges them.
func (m *machine) handBack() {
	for _, n := range m.allNumbers() {
		if n.state != numbers.Releasing && n.state != numbers.Released {
			m.ok(m.db.Numbers.Release(m.ctx(), n.Account, n.ID))
		}
	}
}

// compareNumbers checks that each number is what the model says, for its owner and for
// who calls it.
func (m *machine) compareNumbers(after string) {
	for _, a := range m.accounts {
		if len(a.numbers) == 0 {
			continue
		}
		list, err := m.db.Numbers.Numbers(m.ctx(), a.id, store.Page{})
		m.ok(err)
		for _, n := range a.numbers {
			i := slices.IndexFunc(list, func(x numbers.Number) bool { return x.ID == n.ID })
			if lost := n.state == numbers.Releasing || n.state == numbers.Released; lost != (i < 0) {
				m.t.Fatalf("after %s: %s is listed: %v; the model says %s", after, n.ID, i >= 0, n.state)
			}
			if i >= 0 && (list[i].State != n.state || !sameTime(list[i].NextChargeAt, n.next) || !sameTime(list[i].GraceUntil, n.grace)) {
				m.t.Fatalf("after %s: %+v; the model says %s, next %v, grace %v", after, list[i], n.state, n.next, n.grace)
			}
		}
	}
}

func sameTime(x, y *time.Time) bool {
	if x == nil || y == nil {
		return x == y
	}
	return x.Equal(*y)
}
