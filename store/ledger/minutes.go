package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// Minute asks for a line minute of a telephone call.
type Minute struct {
	Session *Session
	Number  int64 // from 2: the first is held from the start
}

// LineMinutes permits telephone minutes before they begin, by holding their prices, in one transaction. The answers are
// those that the minutes would get one after the other, in the order of ms, which is kept as it was: nil when a minute may
// begin; ErrInsufficientBalance when its price would pass the overdraft floor, ErrSpending when a limit of spending, and the
// call must end at the boundary. ErrFenced: the session is closed or another process owns it: hang up. ErrNotFound: there is
// no such session. ErrLater: nothing was decided, ask again: another transaction has the wallet, or credit of the account had
// just expired. ErrInvalid: the minute before was not permitted. Asking again for a permitted minute changes nothing. The
// hold becomes usage with the first checkpoint inside the minute.
//
// Without answers minutes may have been permitted, and may be asked for again; an error beside answers means that they
// hold, and only expired credit was left.
func (l *Ledger) LineMinutes(ctx context.Context, ms []Minute) ([]error, error) {
	if len(ms) == 0 {
		return nil, nil
	}
	answers := make([]error, len(ms))
	var expired []string
	err := l.db.Tx(ctx, "line minutes", func(tx pgx.Tx) error {
		r, err := l.lockLines(ctx, tx, ms)
		if err != nil {
			return err
		}
		for i := range ms {
			answers[i] = r.permit(&ms[i])
		}
		expired = r.expired
		return r.save(ctx)
	})
	if err != nil {
		return nil, err
	}
	// It ends in transactions of their own: one account's trouble is not another's.
	for _, account := range expired {
		if one := l.applyThresholds(ctx, account); one != nil && !store.Locked(one) {
			err = errors.Join(err, fmt.Errorf("account %s: %w", account, one))
		}
	}
	return answers, err
}

// lines are the telephone calls that ask for minutes, while a transaction holds the locks of their wallets and usage.
type lines struct {
	pgx.Tx
	now     time.Time
	wallets map[string]*Tx       // by account: those that no other transaction has
	later   map[string]bool      // accounts of the others, and of those in expired
	expired []string             // accounts whose credit has expired
	calls   map[string]*line     // by session
	limits  map[string]*spending // by key or agent: those that have one
	held    held
}

// line is that of a telephone call.
type line struct {
	Session, Account, Agent string
	Granted                 int64 // minutes
	Epoch                   int64
	Open                    bool
}

// held is what is held more in rows of a table, by the table's name and the row's identifier.
type held map[string]map[string]billing.Money

func (h held) add(table, id string, amount billing.Money) {
	if h[table] == nil {
		h[table] = map[string]billing.Money{}
	}
	h[table][id] += amount
}

// lockLines locks the wallets of ms that no other transaction has, as an account whose wallet is locked must hold up no
// other's calls, and then the usage of their sessions. It reads what limits those.
func (l *Ledger) lockLines(ctx context.Context, tx pgx.Tx, ms []Minute) (*lines, error) {
	r := &lines{Tx: tx, now: l.db.Time(ctx), wallets: map[string]*Tx{}, later: map[string]bool{}, calls: map[string]*line{}, limits: map[string]*spending{}, held: held{}}
	accounts, sessions := make([]string, len(ms)), make([]string, len(ms))
	for i, m := range ms {
		accounts[i], sessions[i] = m.Session.Account, m.Session.ID
	}
	if err := r.lockWallets(ctx, l, accounts); err != nil {
		return nil, err
	}
	calls, err := store.Rows[line](ctx, tx, `select session_id, account_id, coalesce(agent_id, ''), line_granted, node_epoch, open from session_usage
		where session_id = any((select $1::text[])::text[] collate "C") and account_id = any((select $2::text[])::text[] collate "C")
		order by account_id, session_id for no key update`, sessions, slices.Collect(maps.Keys(r.wallets)))
	if err != nil {
		return nil, err
	}
	for i := range calls {
		r.calls[calls[i].Session] = &calls[i]
	}
	return r, r.readLimits(ctx, ms)
}

func (r *lines) lockWallets(ctx context.Context, l *Ledger, accounts []string) error {
	rows, err := r.Query(ctx, "select account_id, "+walletColumns+` from wallets
		where account_id = any((select $1::text[])::text[] collate "C") order by account_id for no key update skip locked`, accounts)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		w := &Tx{Tx: r.Tx, ledger: l, now: r.now}
		if err := rows.Scan(append([]any{&w.account}, w.into()...)...); err != nil {
			return err
		}
		if w.bonusExpires != nil && !w.now.Before(*w.bonusExpires) {
			r.later[w.account], r.expired = true, append(r.expired, w.account)
			continue
		}
		r.wallets[w.account] = w
	}
	if err := rows.Err(); err != nil {
		return err
	}
	missing := slices.DeleteFunc(accounts, func(a string) bool { return r.wallets[a] != nil || r.later[a] })
	if len(missing) == 0 {
		return nil
	}
	there, err := store.Rows[string](ctx, r, "select account_id from wallets where account_id = any($1)", missing)
	for _, account := range there {
		r.later[account] = true
	}
	return err
}

// readLimits reads those of keys and agents. The wallets' locks keep the counters as they are.
func (r *lines) readLimits(ctx context.Context, ms []Minute) error {
	var accounts, subjects []string
	for _, m := range ms {
		w, call := r.wallets[m.Session.Account], r.calls[m.Session.ID]
		if w != nil && call != nil && w.limited {
			accounts, subjects = append(accounts, w.account), append(subjects, m.Session.Key, call.Agent)
		}
	}
	if len(subjects) == 0 {
		return nil
	}
	some, err := store.Rows[spending](ctx, r, limitedRows+" and account_id = any($1) and id = any($2)", accounts, subjects)
	for i := range some {
		r.limits[some[i].Of] = &some[i]
	}
	return err
}

// permit decides about one minute and holds its price.
func (r *lines) permit(m *Minute) error {
	s := m.Session
	w, call, price := r.wallets[s.Account], r.calls[s.ID], s.Tariff.LineMinute()
	switch {
	case r.later[s.Account]:
		return ErrLater
	case w == nil || call == nil || call.Account != s.Account:
		return store.ErrNotFound
	case !call.Open || call.Epoch != s.Node.Epoch:
		return store.ErrFenced
	case m.Number <= call.Granted:
		return nil
	case m.Number != call.Granted+1 || call.Granted == 0:
		return store.Invalid("minute %d after %d", m.Number, call.Granted)
	case !w.pots.Covers(price, s.Terms.Kind.PaidOnly(), s.Card.Wallet().Overdraft):
		return store.ErrInsufficientBalance
	}
	own, key, agent := w.own(), r.limits[s.Key], r.limits[call.Agent]
	for _, limit := range []*spending{&own, key, agent} {
		if limit == nil {
			continue
		}
		if err := limit.allows(price, dayOf(r.now)); err != nil {
			return err
		}
	}
	call.Granted = m.Number
	r.held.add("session_usage", call.Session, price)
	w.pots.Held += price
	r.held.add("wallets", w.account, price)
	if key != nil {
		key.Held += price
		r.held.add("api_keys", key.Of, price)
	}
	if agent != nil {
		agent.Held += price
		r.held.add("agents", agent.Of, price)
	}
	return nil
}

// save writes what is held more, by one statement for each table. The arrays stand in subqueries as in checkpointStatement.
func (r *lines) save(ctx context.Context) error {
	b := &pgx.Batch{}
	for _, t := range [...]struct{ name, id, set string }{
		{"wallets", "account_id", ""}, {"session_usage", "session_id", ", line_granted = h.granted"}, {"api_keys", "id", ""}, {"agents", "id", ""},
	} {
		ids := slices.Collect(maps.Keys(r.held[t.name]))
		if len(ids) == 0 {
			continue
		}
		more, granted := make([]int64, len(ids)), make([]int64, len(ids))
		for i, id := range ids {
			if more[i] = int64(r.held[t.name][id]); r.calls[id] != nil {
				granted[i] = r.calls[id].Granted
			}
		}
		b.Queue("update "+t.name+" x set held_nano = x.held_nano + h.more"+t.set+`
			from unnest((select $1::text[] collate "C"), (select $2::bigint[]), (select $3::bigint[])) h(id, more, granted) where x.`+t.id+" = h.id", ids, more, granted)
	}
	if b.Len() == 0 {
		return nil
	}
	return store.Send(ctx, r, b)
}
