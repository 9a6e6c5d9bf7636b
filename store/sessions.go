package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
)

// Session is a session that the store let start: who pays, by which prices, and
// which life of which node owns it. It does not change and may be shared.
type Session struct {
	ID      string
	Account string
	Node    Node
	Terms   billing.Terms
	Card    *billing.RateCard // in force when it started: it is charged by no other
	Tariff  billing.Tariff
	Pots    billing.Pots // the wallet right after the start
}

// AtFloor says whether the wallet p has reached the overdraft floor, where the
// session must say goodbye.
func (s *Session) AtFloor(p billing.Pots) bool {
	return p.Spendable(s.Terms.Kind.PaidOnly()) <= -s.Card.Wallet().Overdraft
}

// Start asks for a session.
type Start struct {
	Node    Node
	Account string
	Terms   billing.Terms
	Card    *billing.RateCard // the one in force; it must be stored
	Agent   string            // conversations: the account's agent; empty when the client brings its own prompt
	From    string            // telephone: the caller, as E.164 or empty when withheld
	To      string            // telephone: the callee
}

// StartSession lets a session start or refuses, in this order: ErrSuspended,
// ErrDisputed, ErrTopupRequired (outbound before the first top-up),
// ErrInsufficientBalance (below the minimum, or the first line minute would pass
// the overdraft floor), ErrConcurrency. ErrFenced: a younger process has the
// node's name. ErrNotFound: no such account, or the agent is not the account's.
// A conversation gets its row of history too.
func (db *DB) StartSession(ctx context.Context, s Start, now time.Time) (*Session, error) {
	tariff, err := s.Card.Tariff(s.Terms)
	if err != nil {
		return nil, fmt.Errorf("start session: %w", err)
	}
	out := &Session{ID: newID(sessionID, now), Account: s.Account, Node: s.Node, Terms: s.Terms, Card: s.Card, Tariff: tariff}
	err = db.tx(ctx, "start session", func(tx pgx.Tx) error {
		w, err := db.lockWallet(ctx, tx, s.Account, now)
		if err != nil {
			return err
		}
		if err := w.admit(s.Terms.Kind, s.Card.Wallet(), tariff.LineMinute()); err != nil {
			return err
		}
		balance := w.pots.Balance()
		held := billing.Money(0)
		if s.Terms.Kind == billing.Outbound {
			held = tariff.LineMinute()
		}
		w.live++
		w.admissions++
		w.pots.Held += held
		out.Pots = w.pots
		return db.insertSession(ctx, tx, s, out, w, balance, held, now)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// admit is the whole decision whether a session may start.
func (w *wallet) admit(k billing.Kind, rules billing.Wallet, firstMinute billing.Money) error {
	switch {
	case w.suspended:
		return ErrSuspended
	case w.disputes > 0:
		return ErrDisputed
	case k.PaidOnly() && w.firstTopup == nil:
		return ErrTopupRequired
	case w.pots.Spendable(k.PaidOnly()) < rules.MinSessionStart:
		return ErrInsufficientBalance
	case k.Phone() && !w.pots.Covers(firstMinute, k.PaidOnly(), rules.Overdraft):
		return ErrInsufficientBalance
	case w.live >= w.limit(rules):
		return ErrConcurrency
	}
	return nil
}

// insertSession writes the session, its usage, its call and the wallet.
func (db *DB) insertSession(ctx context.Context, tx pgx.Tx, s Start, out *Session, w *wallet, balance, held billing.Money, now time.Time) error {
	// The lock on the node's row lasts until the commit: RegisterNode waits for it.
	tag, err := tx.Exec(ctx, `with n as (select node_id from nodes where node_id = $4 and epoch = $5 for key share)
		insert into sessions (id, account_id, price_version, node_id, node_epoch, kind, country, mobile, opened_at,
			admission, start_seq, start_balance_nano, start_live, start_limit)
		select $1, $2, $3, n.node_id, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 from n`,
		out.ID, s.Account, s.Card.Version(), s.Node.ID, s.Node.Epoch, s.Terms.Kind, s.Terms.Country, s.Terms.Mobile, now,
		w.admissions, w.lastSeq, balance, w.live, w.limit(s.Card.Wallet()))
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrFenced
	}
	if s.Terms.Kind.Agent() {
		tag, err := tx.Exec(ctx, `insert into calls (session_id, account_id, agent_id, from_number, to_number)
			select $1, $2, nullif($3, ''), $4, $5
			where $3 = '' or exists (select from agents where account_id = $2 and id = $3)`,
			out.ID, s.Account, s.Agent, s.From, s.To)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("agent: %w", ErrNotFound)
		}
	}
	granted := 0
	if s.Terms.Kind.Phone() {
		granted = 1
	}
	b := &pgx.Batch{}
	b.Queue(`insert into session_usage (session_id, account_id, node_epoch, paid_only, line_price_nano, line_granted, line_held_nano)
		values ($1, $2, $3, $4, $5, $6, $7)`,
		out.ID, s.Account, s.Node.Epoch, s.Terms.Kind.PaidOnly(), out.Tariff.LineMinute(), granted, held)
	w.save(b)
	return send(ctx, tx, b)
}

// LineMinute permits telephone minute number minute (the second is 2) before it
// begins, by holding its price: ErrInsufficientBalance when that would pass the
// overdraft floor, and the call must end at the boundary. Asking again for a
// permitted minute changes nothing. The hold becomes usage with the first
// checkpoint inside the minute.
func (db *DB) LineMinute(ctx context.Context, s *Session, minute int64, now time.Time) error {
	return db.tx(ctx, "line minute", func(tx pgx.Tx) error {
		w, err := db.lockWallet(ctx, tx, s.Account, now)
		if err != nil {
			return err
		}
		var granted, epoch int64
		var open bool
		err = tx.QueryRow(ctx, `select line_granted, node_epoch, open from session_usage
			where session_id = $1 and account_id = $2 for no key update`, s.ID, s.Account).Scan(&granted, &epoch, &open)
		price := s.Tariff.LineMinute()
		switch {
		case err != nil:
			return err
		case !open || epoch != s.Node.Epoch:
			return ErrFenced
		case minute <= granted:
			return nil
		case minute != granted+1 || granted == 0:
			return invalid("minute %d after %d", minute, granted)
		case !w.pots.Covers(price, s.Terms.Kind.PaidOnly(), s.Card.Wallet().Overdraft):
			return ErrInsufficientBalance
		}
		w.pots.Held += price
		b := &pgx.Batch{}
		b.Queue(`update session_usage set line_granted = $2, line_held_nano = line_held_nano + $3 where session_id = $1`,
			s.ID, minute, price)
		w.save(b)
		return send(ctx, tx, b)
	})
}
