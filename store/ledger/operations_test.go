package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/storetest"
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
	ask := ledger.Start{Node: node, Account: a.id, Terms: terms, Card: card}
	ask.Ticket = rapid.SampledFrom([]string{"", "", "one", "two"}).Draw(m.t, "ticket")
	ask.TicketLimit = 2
	if terms.Kind == billing.STT {
		ask.Expect[billing.STTTime] = rapid.SampledFrom([]int64{0, 60_000, 100 * 3_600_000}).Draw(m.t, "expect")
	}
	expected := price(m.t, terms, ask.Expect)
	m.settle(a) // also by a refusal
	p := a.pots()
	var want error
	switch {
	case ask.Ticket != "" && m.startedBy(a, ask.Ticket) >= ask.TicketLimit:
		want = store.ErrTicketUsed
	case a.suspended:
		want = store.ErrSuspended
	case a.frozen():
		want = store.ErrDisputed
	case terms.Kind == billing.Outbound && !a.topup:
		want = store.ErrTopupRequired
	case p.Spendable(terms.Kind.PaidOnly()) < 25*billing.Cent,
		terms.Kind.Phone() && p.Spendable(terms.Kind.PaidOnly())-a.held-tariff.LineMinute() < -2*usd:
		want = store.ErrInsufficientBalance
	case expected > 0 && p.Spendable(false)-a.held-expected < -2*usd:
		want = store.ErrInsufficientBalance
	case a.live >= a.limit():
		want = store.ErrConcurrency
	}
	s, err := m.db.StartSession(m.ctx(), ask)
	if fenced {
		if err == nil {
			m.t.Fatal("a life that is over started a session")
		}
		return
	}
	if m.is(err, want); want != nil {
		return
	}
	x := &twinSession{Session: s, acc: a, open: true, ticket: ask.Ticket, held: expected}
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

// limit is how many sessions a may have at once.
func (a *twin) limit() int {
	switch {
	case a.override > 0:
		return a.override
	case a.topup:
		return 10
	}
	return 3
}

// startedBy counts what a ticket has started and was not given up.
func (m *machine) startedBy(a *twin, ticket string) (n int) {
	for _, s := range m.sessions {
		if s.acc == a && s.ticket == ticket && (s.open || s.started) {
			n++
		}
	}
	return n
}

// report draws a checkpoint of s, which may be late, repeated or lower than one before.
func (m *machine) report(s *twinSession) ledger.Checkpoint {
	c := ledger.Checkpoint{Session: s.Session, Seq: s.seq + int64(rapid.IntRange(-1, 2).Draw(m.t, "seq step")), Usage: s.used}
	if rapid.IntRange(0, 3).Draw(m.t, "started") > 0 {
		c.StartedAt = t0
	}
	for range rapid.IntRange(0, 3).Draw(m.t, "counters") {
		counter := rapid.IntRange(0, len(c.Usage)-1).Draw(m.t, "counter")
		more := int64(rapid.IntRange(-20, 100).Draw(m.t, "more"))
		if c := billing.Component(counter); c == billing.CRMCalls || c == billing.WebSearches {
			more /= 20 // each costs a cent or two: an account should last for several sessions
		} else {
			more *= 1000
		}
		c.Usage[counter] = max(0, c.Usage[counter]+more)
	}
	return c
}

// take is what a checkpoint does to the model: nil, or ErrFenced.
func (m *machine) take(s *twinSession, c ledger.Checkpoint) error {
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
	held := s.held
	if amount := price(m.t, s.Terms, u); amount > s.amount {
		*accrued += amount - s.amount
		held = max(0, held-(amount-s.amount))
		s.amount = amount
	}
	if s.granted > 0 {
		held = s.Tariff.LineMinute() * billing.Money(max(0, s.granted-billing.StartedMinutes(s.used[billing.LineTime])))
	}
	if held < s.held {
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
	pots, err := m.db.Checkpoint(m.ctx(), c)
	m.is(err, m.take(s, c))
	if pots != s.acc.pots() {
		m.t.Fatalf("the checkpoint saw %+v; want %+v", pots, s.acc.pots())
	}
	m.expire() // as a checkpoint does that finds the balance low
}

// batch is a node's round: reports of several sessions at once, some twice, some
// that no price is for; and a round of a node that is cut off stores nothing.
func (m *machine) batch() {
	var cs []ledger.Checkpoint
	var want []error
	lost := rapid.IntRange(0, 9).Draw(m.t, "cut off") == 0
	for _, s := range m.sessions[max(0, len(m.sessions)-6):] {
		for range 1 + rapid.IntRange(0, 4).Draw(m.t, "twice")/4 {
			c := m.report(s)
			if rapid.IntRange(0, 19).Draw(m.t, "bad") == 0 {
				c.StartedAt, c.Usage = t0, billing.Usage{billing.AgentTime: -1}
				cs, want = append(cs, c), append(want, store.ErrInvalid)
				continue
			}
			cs = append(cs, c)
			if !lost {
				want = append(want, m.take(s, c))
			}
		}
	}
	ctx, cancel := context.WithCancel(m.ctx())
	defer cancel()
	if lost {
		cancel()
	}
	rs, err := m.db.Checkpoints(storetest.At(ctx, m.now), cs)
	if lost && len(m.sessions) > 0 {
		if err == nil && slices.ContainsFunc(rs, func(r ledger.CheckpointResult) bool { return !errors.Is(r.Err, store.ErrInvalid) }) {
			m.t.Fatal("a round that was cut off was stored")
		}
		return
	}
	m.ok(err)
	for i, r := range rs {
		m.is(r.Err, want[i])
	}
	m.expire()
}

func (m *machine) close() {
	s := m.session()
	if s == nil {
		return
	}
	c := m.report(s)
	amount, err := m.db.CloseSession(m.ctx(), s.Session, ledger.Closing{Reason: "user_hangup", StartedAt: c.StartedAt, Usage: c.Usage})
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
	m.settle(s.acc)
	m.is(m.db.LineMinute(m.ctx(), s.Session, minute), m.permit(s, minute))
}

// permit is what a line minute does to the model, and its answer.
func (m *machine) permit(s *twinSession, minute int64) error {
	switch price := s.Tariff.LineMinute(); {
	case !s.open:
		return store.ErrFenced
	case minute <= s.granted:
		return nil
	case minute > s.granted+1:
		return store.ErrInvalid
	case s.acc.pots().Spendable(s.Terms.Kind.PaidOnly())-s.acc.held-price < -2*usd:
		return store.ErrInsufficientBalance
	default:
		s.granted, s.held = minute, s.held+price
		s.acc.held += price
		return nil
	}
}

// minutes is a node's round: line minutes of several calls at once, of some two.
func (m *machine) minutes() {
	var ms []ledger.Minute
	var want []error
	for _, s := range m.sessions[max(0, len(m.sessions)-6):] {
		if !s.Terms.Kind.Phone() {
			continue
		}
		m.settle(s.acc)
		for range 1 + rapid.IntRange(0, 4).Draw(m.t, "twice")/4 {
			minute := s.granted + int64(rapid.IntRange(0, 9).Draw(m.t, "next")+5)/7
			ms = append(ms, ledger.Minute{Session: s.Session, Number: minute})
			want = append(want, m.permit(s, minute))
		}
	}
	answers, err := m.db.LineMinutes(m.ctx(), ms...)
	m.ok(err)
	for i, answer := range answers {
		m.is(answer, want[i])
	}
}

func (m *machine) credit() {
	a := m.account()
	m.keys++
	c := ledger.Credit{Account: a.id, Key: fmt.Sprintf("model:%s:%d", m.run, m.keys), Source: "sim",
		Kind:   rapid.SampledFrom([]ledger.TransferKind{ledger.Topup, ledger.Bonus, ledger.Adjustment}).Draw(m.t, "kind"),
		Amount: billing.Money(rapid.Int64Range(1, 3*int64(usd)).Draw(m.t, "amount"))}
	if c.Kind == ledger.Adjustment && rapid.Bool().Draw(m.t, "negative") {
		c.Amount = -c.Amount
	}
	c.ExpiresAt = m.now.Add(time.Duration(rapid.IntRange(1, 600).Draw(m.t, "lasts")) * time.Minute)
	m.settle(a)
	switch c.Kind {
	case ledger.Bonus:
		a.lots = append(a.lots, twinLot{c.Amount, c.ExpiresAt})
	case ledger.Topup:
		c.Amount *= 5
		a.topup = true
		a.credit(c.Amount)
	default:
		a.credit(c.Amount)
	}
	m.creditIs(c, true, a)
	m.credits = append(m.credits, c)
}

func (m *machine) creditIs(c ledger.Credit, applied bool, a *twin) {
	pots, got, err := m.db.Credit(m.ctx(), c)
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
	if c.Kind == ledger.Bonus {
		c.ExpiresAt = m.now.Add(time.Hour) // not part of what makes it the same
	}
	a := m.accounts[slices.IndexFunc(m.accounts, func(a *twin) bool { return a.id == c.Account })]
	m.settle(a)
	m.creditIs(c, false, a)
}

func (m *machine) dispute() {
	a := m.account()
	m.settle(a)
	// Mostly there is none.
	if a.disputed = !a.disputed && rapid.IntRange(0, 3).Draw(m.t, "open") == 0; a.disputed {
		m.ok(m.db.OpenDispute(m.ctx(), a.id, "p"))
	} else {
		m.ok(m.db.ResolveDispute(m.ctx(), a.id, "p"))
		a.retryMonths()
	}
}

// crash ends a node's life; its sessions stay in the list, as zombies have them.
func (m *machine) crash() {
	i := rapid.IntRange(0, len(m.nodes)-1).Draw(m.t, "node")
	m.reborn(i, m.lose(m.nodes[i]))
}

// reborn registers a node anew, which closes the sessions that its last life left open.
func (m *machine) reborn(i, open int) {
	old := m.nodes[i]
	n, lost, err := m.db.RegisterNode(m.ctx(), old.ID, "")
	m.ok(err)
	if len(lost) != open {
		m.t.Fatalf("closed %d lost sessions; want %d", len(lost), open)
	}
	m.nodes[i], m.past = n, append(m.past, old)
}

// lose ends a node's sessions at their last checkpoint and says how many there were.
func (m *machine) lose(n store.Node) (lost int) {
	for _, s := range m.sessions {
		if s.open && s.Node == n {
			m.settle(s.acc)
		}
	}
	for _, s := range m.sessions {
		if s.open && s.Node == n {
			m.end(s, false, billing.Usage{})
			lost++
		}
	}
	return lost
}

func (m *machine) heartbeat() {
	m.ok(m.db.Heartbeat(m.ctx(), rapid.SampledFrom(m.nodes).Draw(m.t, "node")))
	if len(m.past) > 0 {
		m.is(m.db.Heartbeat(m.ctx(), rapid.SampledFrom(m.past).Draw(m.t, "past")), store.ErrFenced)
	}
}

// reap has one node close what another has open, which was cut off only and comes back.
func (m *machine) reap() {
	i := rapid.IntRange(0, len(m.nodes)-1).Draw(m.t, "silent")
	me := m.nodes[(i+1)%len(m.nodes)]
	ledgertest.Silence(m.t, m.db.DB, m.nodes[i].ID, store.NodeLease+time.Second)
	m.ok(m.db.Heartbeat(m.ctx(), me))
	ledgertest.Steady(m.t, m.db.DB, me.ID, store.NodeLease)
	open := m.lose(m.nodes[i])
	lost, err := m.db.ReapNodes(m.ctx(), me, nil)
	m.ok(err)
	if len(lost) < open { // nodes of earlier runs may be silent too
		m.t.Fatalf("reaped %d sessions; want %d", len(lost), open)
	}
	if open > 0 {
		m.is(m.db.Heartbeat(m.ctx(), m.nodes[i]), store.ErrFenced)
		m.reborn(i, 0)
	}
}

// override sets or lifts the operator's own limit of sessions at once.
func (m *machine) override() {
	a := m.account()
	m.settle(a)
	a.override = rapid.IntRange(0, 5).Draw(m.t, "limit")
	m.ok(m.db.ChangeAccount(m.ctx(), a.id, ledger.AccountChange{Concurrency: &a.override}))
}

func (m *machine) suspend() {
	a := m.account()
	m.settle(a)
	a.suspended = !a.suspended && rapid.IntRange(0, 3).Draw(m.t, "suspend") == 0 // mostly it is not
	m.ok(m.db.ChangeAccount(m.ctx(), a.id, ledger.AccountChange{Suspended: &a.suspended}))
	if !a.suspended {
		a.retryMonths()
	}
}

func (m *machine) expire() {
	_, err := m.db.ExpireLots(m.ctx())
	m.ok(err)
	for _, a := range m.accounts {
		m.settle(a)
	}
	m.compareRecharges("expire") // what ended may have had one made
}
