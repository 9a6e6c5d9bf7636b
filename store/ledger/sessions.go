package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// Session is a session that the store let start: who pays, by which prices, and
// which life of which node owns it. It does not change and may be shared.
type Session struct {
	ID      string
	Account string
	Key     string // as Start has it
	Node    store.Node
	Terms   billing.Terms
	Card    *billing.RateCard // in force when it started: it is charged by no other
	Tariff  billing.Tariff
	Pots    billing.Pots // the wallet right after the start
}

// AtFloor says whether the wallet p has reached the overdraft floor, where the
// session must say goodbye. What is held counts as spent: a minute that was
// permitted is about to begin, and work that was priced is being done.
func (s *Session) AtFloor(p billing.Pots) bool {
	return p.Spendable(s.Terms.Kind.PaidOnly())-p.Held <= -s.Card.Wallet().Overdraft
}

// Start asks for a session.
type Start struct {
	Node    store.Node
	Account string
	Key     string // of the account, that asks, itself or by its ticket; empty: none does
	Terms   billing.Terms
	Card    *billing.RateCard // the one in force; it must be stored
	Agent   string            // conversations: the account's agent; empty when the client brings its own prompt
	// AgentVersion is the agent's that the conversation runs with; 0: not known.
	AgentVersion int64
	From         string            // telephone: the caller, as E.164 or empty when withheld
	To           string            // telephone: the callee
	Verstat      string            // what the carrier of a call that comes in says of From; empty: nothing
	Attestation  string            // A, B or C: how well the carrier where that call began knows From; empty: nobody says
	Headers      map[string]string // of a telephone call, that programs of either side use
	Origin       *store.CallOrigin // of a call that comes in; nil: nothing is known
	Metadata     map[string]string // of a conversation, kept with the call
	Asked        *store.Asked      // how a webhook was asked about a call that comes in; nil: none was
	// Expect is what work without a call will use: it starts only when all of it
	// stays above the overdraft floor, and it is held until it is used. Nothing when
	// unknown.
	Expect billing.Usage
	// Ticket identifies the session ticket that was sent, if it was one, and
	// TicketLimit is how many conversations that may start.
	Ticket      string
	TicketLimit int
	// Consent is recorded with an outbound call; nil: none is.
	Consent *Consent
	// Once is the request that asks for an outbound call; nil: it had no key.
	IdempotencyKey *store.IdempotencyKey
	// Row is the row of a batch that an outbound call is; nil: of none. It leaves one of
	// the account's sessions at once to those who call in.
	Row *RowClaim
	// Paced counts the session among the calls that the account may place in a second,
	// when nothing else speaks against it: ErrDialRate.
	Paced bool
	// Brief is over as soon as it has begun: its session is not among those at once.
	Brief bool
	// exempt is a task's and a message's: its session is not among those at once and outlives
	// the process that let it start.
	exempt bool
}

// counts says whether the session is among the account's sessions at once.
func (s *Start) counts() bool { return !s.exempt && !s.Brief }

// StartSession lets a session start or refuses, in this order: ErrTicketUsed,
// ErrDoNotCall (outbound), ErrSuspended, ErrDisputed, ErrTopupRequired (outbound before the first top-up),
// ErrInsufficientBalance (below the minimum, the first line minute would pass the
// overdraft floor, or all that is expected would), ErrSpending, ErrConcurrency, ErrDialRate, Paced. ErrFenced: a younger process has the
// node's name. ErrNotFound: no such account, or the agent is not the account's.
// ErrClaimLost: the row is not the caller's to dial. A conversation gets its row of
// history too. A session beside an error may have started, for the answer of the database
// was lost: it must be closed, which is ErrNotFound where it has not.
func (l *Ledger) StartSession(ctx context.Context, s Start) (*Session, error) {
	out, err := s.session()
	if err != nil {
		return nil, fmt.Errorf("start session: %w", err)
	}
	var w *Tx
	err = l.Locked(ctx, "start session", s.Account, func(tx *Tx) error {
		w = tx
		if err := l.ticketLeft(ctx, tx, s); err != nil {
			return err
		}
		if s.Terms.Kind == billing.Outbound {
			if err := store.MayCall(ctx, tx, s.Account, s.To); err != nil {
				return err
			}
		}
		if err := w.start(ctx, s, out); err != nil {
			return err
		}
		if err := s.note(ctx, w, out.ID); err != nil || !s.Terms.Kind.Agent() {
			return err
		}
		return l.db.EnqueueDeliveries(ctx, tx, w.now, store.Event{Account: s.Account, Kind: store.CallStarted, About: out.ID})
	})
	if err != nil && !store.Uncertain(err) {
		return nil, l.keepExpired(ctx, w, err)
	}
	return out, err
}

// note records what goes with an outbound call.
func (s *Start) note(ctx context.Context, w *Tx, id string) error {
	if s.Consent != nil {
		if err := recordConsent(ctx, w, id, s.Agent, *s.Consent); err != nil {
			return err
		}
	}
	if s.Row != nil {
		if err := s.Row.bindSession(ctx, w, id); err != nil {
			return err
		}
	}
	if s.IdempotencyKey == nil {
		return nil
	}
	b := &pgx.Batch{}
	s.IdempotencyKey.Begin(b, id)
	return store.Send(ctx, w, b)
}

// session is what will have started; start gives it its identifier.
func (s *Start) session() (*Session, error) {
	tariff, err := s.Card.Tariff(s.Terms)
	if err != nil {
		return nil, err
	}
	return &Session{Account: s.Account, Key: s.Key, Node: s.Node, Terms: s.Terms, Card: s.Card, Tariff: tariff}, nil
}

// start decides about the session out of a locked wallet and writes it.
func (w *Tx) start(ctx context.Context, s Start, out *Session) error {
	out.ID = store.NewID(store.SessionID, w.now)
	bill, err := out.Tariff.Price(s.Expect)
	if err != nil {
		return err
	}
	held := bill.Total()
	spending := w.maySpend(ctx, s.Key, s.Agent, max(held, out.firstMinute()))
	if spending != nil && !errors.Is(spending, store.ErrSpending) {
		return spending
	}
	if err := w.admit(s, out.Tariff.LineMinute(), held, spending); err != nil {
		return err
	}
	if err := w.pace(ctx, s); err != nil {
		return err
	}
	balance := w.pots.Balance()
	if s.Terms.Kind == billing.Outbound {
		held = out.Tariff.LineMinute()
	}
	if s.counts() {
		w.live++
	}
	w.admissions++
	w.pots.Held += held
	out.Pots = w.pots
	return w.insertSession(ctx, s, out, balance, held)
}

// firstMinute is what the first minute of a telephone call costs.
func (s *Session) firstMinute() billing.Money {
	if !s.Terms.Kind.Phone() {
		return 0
	}
	return s.Tariff.LineMinute()
}

// admit is the whole decision whether a session may start; spending is what the limits of
// spending say.
func (w *Tx) admit(s Start, firstMinute, expected billing.Money, spending error) error {
	k, rules := s.Terms.Kind, s.Card.Wallet()
	if err := w.solvent(k, rules); err != nil {
		return err
	}
	limit := w.limit(rules)
	if s.Row != nil {
		limit = max(1, limit-1)
	}
	switch {
	case k.Phone() && !w.pots.Covers(firstMinute, k.PaidOnly(), rules.Overdraft):
		return store.ErrInsufficientBalance
	case expected > 0 && !w.pots.Covers(expected, k.PaidOnly(), rules.Overdraft):
		return store.ErrInsufficientBalance
	case spending != nil:
		return spending
	case s.counts() && w.live >= limit:
		return store.ErrConcurrency
	case s.Paced:
		return w.dial()
	}
	return nil
}

// solvent is the part of it that does not depend on what exactly is to start.
func (w *Tx) solvent(k billing.Kind, rules billing.Wallet) error {
	if err := w.Frozen(); err != nil {
		return err
	}
	switch {
	case k.PaidOnly() && !w.ToppedUp():
		return store.ErrTopupRequired
	case w.pots.Spendable(k.PaidOnly()) < rules.MinSessionStart:
		return store.ErrInsufficientBalance
	}
	return nil
}

// ticketLeft says whether the session's ticket may start one more. The wallet's
// lock makes the count exact. A conversation that was given up before its clock
// began, as when a page is refused the microphone, costs nothing here either.
func (l *Ledger) ticketLeft(ctx context.Context, tx pgx.Tx, s Start) error {
	if s.Ticket == "" {
		return nil
	}
	started, err := store.Scalar[int](ctx, tx, `select count(*) from sessions s join session_usage u on u.session_id = s.id
		where s.account_id = $1 and s.ticket = $2 and (u.open or u.started_at is not null)`, s.Account, s.Ticket)
	if err == nil && started >= s.TicketLimit {
		err = store.ErrTicketUsed
	}
	return err
}

// insertSession writes the session, its usage, its call and the wallet.
func (w *Tx) insertSession(ctx context.Context, s Start, out *Session, balance, held billing.Money) error {
	// The lock on the node's row lasts until the commit: RegisterNode waits for it.
	tag, err := w.Exec(ctx, `with n as (select node_id from nodes where node_id = $4 and epoch = $5 for key share)
		insert into sessions (id, account_id, price_version, node_id, node_epoch, kind, country, mobile, own_trunk, opened_at,
			admission, start_seq, start_balance_nano, start_live, start_limit, counted, ticket)
		select $1, $2, $3, n.node_id, $5, $6, $7, $8, $17, $9, $10, $11, $12, $13, $14, $15, nullif($16, '') from n`,
		out.ID, s.Account, s.Card.Version(), s.Node.ID, s.Node.Epoch, s.Terms.Kind, s.Terms.Country, s.Terms.Mobile, w.now,
		w.admissions, w.lastSeq, balance, w.live, w.limit(s.Card.Wallet()), s.counts(), s.Ticket, s.Terms.OwnTrunk)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return store.ErrFenced
	}
	if s.Terms.Kind.Agent() {
		tag, err := w.Exec(ctx, `insert into calls (session_id, account_id, agent_id, from_number, to_number, agent_version, verstat, metadata, asked, attestation, headers, origin)
			select $1, $2, nullif($3, ''), $4, $5, nullif($6::bigint, 0), nullif($7, ''), $8::jsonb, $9, nullif($10, ''), $11::jsonb, $12::jsonb
			where $3 = '' or exists (select from agents where account_id = $2 and id = $3)`,
			out.ID, s.Account, s.Agent, s.From, s.To, s.AgentVersion, s.Verstat, store.Pairs(s.Metadata), s.Asked, s.Attestation, store.Pairs(s.Headers), s.Origin)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("agent: %w", store.ErrNotFound)
		}
	}
	granted := 0
	if s.Terms.Kind.Phone() {
		granted = 1
	}
	b := &pgx.Batch{}
	b.Queue(`insert into session_usage (session_id, account_id, node_epoch, paid_only, line_price_nano, line_granted, held_nano, key_id, agent_id)
		values ($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), nullif($9, ''))`,
		out.ID, s.Account, s.Node.Epoch, s.Terms.Kind.PaidOnly(), out.Tariff.LineMinute(), granted, held, s.Key, s.Agent)
	w.save(b)
	if err := store.Send(ctx, w, b); err != nil {
		return err
	}
	return w.countSpending(ctx, s.Key, s.Agent, dayOf(w.now), 0, held)
}

// AnsweredBy says which agent of the account goes on with a call that has begun without one. From now on it is charged to the agent:
// ErrSpending when its limit of spending is reached. ErrNotFound: there is no such call, or no such agent of the account.
func (l *Ledger) AnsweredBy(ctx context.Context, account, session, agent string, version int64) error {
	return l.Locked(ctx, "agent of call", account, func(w *Tx) error {
		if err := w.maySpend(ctx, "", agent, 0); err != nil {
			return err
		}
		tag, err := w.Exec(ctx, `with a as (select id from agents where account_id = $1 and id = $3),
			u as (update session_usage set agent_id = a.id from a where account_id = $1 and session_id = $2 and open)
			update calls set agent_id = a.id, agent_version = nullif($4::bigint, 0) from a where account_id = $1 and session_id = $2 and calls.agent_id is null`,
			account, session, agent, version)
		if err == nil && tag.RowsAffected() == 0 {
			err = store.ErrNotFound
		}
		return err
	})
}
