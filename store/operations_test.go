package store_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"parley/billing"
	"parley/store"
)

// The operations of the machine: each does one thing to the store and to the
// model, and compares the answers.

func (m *machine) account() *twin { return rapid.SampledFrom(m.accounts).Draw(m.t, "account") }

// session picks any session, closed and fenced ones too; nil when there is none.
func (m *machine) session() *twinSession {
	if len(m.sessions) == 0 {
		return nil
	}
	// The latest are the likeliest to be open.
	return m.sessions[max(0, len(m.sessions)-1-rapid.IntRange(0, 8).Draw(m.t, "session"))]
}

func (m *machine) start() {
	a := m.account()
	terms := rapid.SampledFrom([]billing.Terms{web, inboundES, outboundES, {Kind: billing.STT}}).Draw(m.t, "terms")
	node, fenced := rapid.SampledFrom(m.nodes).Draw(m.t, "node"), false
	if len(m.past) > 0 && rapid.IntRange(0, 9).Draw(m.t, "zombie") == 0 {
		node, fenced = rapid.SampledFrom(m.past).Draw(m.t, "past"), true
	}
	tariff, err := card.Tariff(terms)
	m.ok(err)
	m.expire() // now, for a refusal rolls back what it settled
	p := a.pots()
	limit := 3
	if a.topup {
		limit = 10
	}
	var want error
	switch {
	case a.disputed:
		want = store.ErrDisputed
	case terms.Kind == billing.Outbound && !a.topup:
		want = store.ErrTopupRequired
	case p.Spendable(terms.Kind.PaidOnly()) < 25*billing.Cent,
		terms.Kind.Phone() && p.Spendable(terms.Kind.PaidOnly())-a.held-tariff.LineMinute() < -2*usd:
		want = store.ErrInsufficientBalance
	case a.live >= limit:
		want = store.ErrConcurrency
	}
	s, err := m.db.StartSession(m.ctx(), store.Start{Node: node, Account: a.id, Terms: terms, Card: card}, m.now)
	if fenced {
		if err == nil {
			m.t.Fatal("a life that is over started a session")
		}
		return
	}
	if m.is(err, want); want != nil {
		return
	}
	x := &twinSession{Session: s, acc: a, open: true}
	if terms.Kind.Phone() {
		x.granted = 1
	}
	if terms.Kind == billing.Outbound {
		x.held = tariff.LineMinute()
	}
	a.held += x.held
	a.live++
	m.sessions = append(m.sessions, x)
}

// report draws a checkpoint of s, which may be late, repeated or lower than one before.
func (m *machine) report(s *twinSession) store.Checkpoint {
	c := store.Checkpoint{Session: s.Session, Seq: s.seq + int64(rapid.IntRange(-1, 2).Draw(m.t, "seq step")), Usage: s.used}
	if rapid.IntRange(0, 3).Draw(m.t, "started") > 0 {
		c.StartedAt = t0
	}
	for range rapid.IntRange(0, 3).Draw(m.t, "counters") {
		counter := rapid.IntRange(0, len(c.Usage)-1).Draw(m.t, "counter")
		c.Usage[counter] = max(0, c.Usage[counter]+int64(rapid.IntRange(-20, 100).Draw(m.t, "more")*1000))
	}
	return c
}

// take is what a checkpoint does to the model: nil, or ErrFenced.
func (m *machine) take(s *twinSession, c store.Checkpoint) error {
	if !s.open {
		return store.ErrFenced
	}
	if c.Seq <= s.seq {
		return nil
	}
	s.seq = c.Seq
	s.started = s.started || !c.StartedAt.IsZero()
	u := reckoned(s, !c.StartedAt.IsZero(), c.Usage)
	s.used = s.used.Max(u)
	accrued := &s.acc.any
	if s.Terms.Kind == billing.Outbound {
		accrued = &s.acc.paidBy
	}
	if amount := price(m.t, s.Terms, u); amount > s.amount {
		*accrued += amount - s.amount
		s.amount = amount
	}
	begun := billing.StartedMinutes(s.used[billing.LineTime])
	if held := s.Tariff.LineMinute() * billing.Money(max(0, s.granted-begun)); held < s.held {
		s.acc.held -= s.held - held
		s.held = held
	}
	return nil
}

// reckoned is the usage that counts.
func reckoned(s *twinSession, started bool, u billing.Usage) billing.Usage {
	if !started {
		return billing.Usage{}
	}
	if s.Terms.Kind.Phone() && u[billing.LineTime] == 0 {
		u[billing.LineTime] = 1
	}
	return u
}

func (m *machine) checkpoint() {
	s := m.session()
	if s == nil {
		return
	}
	c := m.report(s)
	pots, err := m.db.Checkpoint(m.ctx(), c, m.now)
	m.is(err, m.take(s, c))
	if pots != s.acc.pots() {
		m.t.Fatalf("the checkpoint saw %+v; want %+v", pots, s.acc.pots())
	}
}

func (m *machine) batch() {
	var cs []store.Checkpoint
	var want []error
	for _, s := range m.sessions[max(0, len(m.sessions)-6):] {
		c := m.report(s)
		cs = append(cs, c)
		want = append(want, m.take(s, c))
	}
	rs, err := m.db.Checkpoints(m.ctx(), cs, m.now)
	m.ok(err)
	for i, r := range rs {
		m.is(r.Err, want[i])
	}
}

func (m *machine) close() {
	s := m.session()
	if s == nil {
		return
	}
	c := m.report(s)
	amount, err := m.db.CloseSession(m.ctx(), s.Session, store.Closing{Reason: "user_hangup", StartedAt: c.StartedAt, Usage: c.Usage}, m.now)
	m.is(err, nil)
	m.settle(s.acc)
	m.end(s, !c.StartedAt.IsZero(), c.Usage)
	if amount != s.amount {
		m.t.Fatalf("closed for %s; want %s", amount, s.amount)
	}
}

func (m *machine) end(s *twinSession, started bool, u billing.Usage) {
	if !s.open {
		return
	}
	s.started = s.started || started
	s.used = s.used.Max(reckoned(s, s.started, u))
	m.post(s)
	s.acc.held -= s.held
	s.acc.live--
	s.open, s.held = false, 0
}

func (m *machine) minute() {
	s := m.session()
	if s == nil || !s.Terms.Kind.Phone() {
		return
	}
	minute := s.granted + int64(rapid.IntRange(0, 1).Draw(m.t, "next"))
	m.expire() // as for start
	err := m.db.LineMinute(m.ctx(), s.Session, minute, m.now)
	if s.open && minute > s.granted {
		price := s.Tariff.LineMinute()
		if s.acc.pots().Spendable(s.Terms.Kind.PaidOnly())-s.acc.held-price < -2*usd {
			m.is(err, store.ErrInsufficientBalance)
			return
		}
		s.granted, s.held = minute, s.held+price
		s.acc.held += price
	}
	if !s.open {
		m.is(err, store.ErrFenced)
		return
	}
	m.is(err, nil)
}

func (m *machine) credit() {
	a := m.account()
	m.keys++
	c := store.Credit{Account: a.id, Key: fmt.Sprintf("model:%d:%d", m.run, m.keys), Source: "sim",
		Kind:   rapid.SampledFrom([]store.TransferKind{store.Topup, store.Bonus, store.Adjustment}).Draw(m.t, "kind"),
		Amount: billing.Money(rapid.Int64Range(1, 3*int64(usd)).Draw(m.t, "amount"))}
	if c.Kind == store.Adjustment && rapid.Bool().Draw(m.t, "negative") {
		c.Amount = -c.Amount
	}
	c.ExpiresAt = m.now.Add(time.Duration(rapid.IntRange(1, 600).Draw(m.t, "lasts")) * time.Minute)
	m.settle(a)
	switch c.Kind {
	case store.Bonus:
		a.lots = append(a.lots, twinLot{c.Amount, c.ExpiresAt})
	case store.Topup:
		a.topup = true
		a.paid += c.Amount
	default:
		a.paid += c.Amount
	}
	m.creditIs(c, true, a)
	m.credits = append(m.credits, c)
}

func (m *machine) creditIs(c store.Credit, applied bool, a *twin) {
	pots, got, err := m.db.Credit(m.ctx(), c, m.now)
	m.ok(err)
	if got != applied || pots != a.pots() {
		m.t.Fatalf("applied %v, %+v; want %v, %+v", got, pots, applied, a.pots())
	}
}

func (m *machine) repeatCredit() {
	if len(m.credits) == 0 {
		return
	}
	c := rapid.SampledFrom(m.credits).Draw(m.t, "credit")
	if c.Kind == store.Bonus {
		c.ExpiresAt = m.now.Add(time.Hour) // not part of what makes it the same
	}
	a := m.accounts[slices.IndexFunc(m.accounts, func(a *twin) bool { return a.id == c.Account })]
	m.settle(a)
	m.creditIs(c, false, a)
}

func (m *machine) dispute() {
	a := m.account()
	m.settle(a)
	if a.disputed {
		m.ok(m.db.ResolveDispute(m.ctx(), a.id, "p", m.now))
	} else {
		m.ok(m.db.OpenDispute(m.ctx(), a.id, "p", m.now))
	}
	a.disputed = !a.disputed
}

// crash ends a node's life; its sessions stay in the list, as zombies have them.
func (m *machine) crash() {
	i := rapid.IntRange(0, len(m.nodes)-1).Draw(m.t, "node")
	old := m.nodes[i]
	want := 0
	for _, s := range m.sessions {
		if s.open && s.Node == old {
			m.settle(s.acc)
		}
	}
	for _, s := range m.sessions {
		if s.open && s.Node == old {
			m.end(s, false, billing.Usage{})
			want++
		}
	}
	n, closed, err := m.db.RegisterNode(m.ctx(), old.ID, "", m.now)
	m.ok(err)
	if closed != want {
		m.t.Fatalf("closed %d lost sessions; want %d", closed, want)
	}
	m.nodes[i], m.past = n, append(m.past, old)
}

func (m *machine) expire() {
	_, err := m.db.ExpireLots(m.ctx(), m.now)
	m.ok(err)
	for _, a := range m.accounts {
		m.settle(a)
	}
}
