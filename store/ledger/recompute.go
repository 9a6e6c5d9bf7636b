package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// priced is a session with everything that was charged for it.
type priced struct {
	session
	recorded     map[string]billing.Item // by component, summed over postings
	recordsTotal billing.Money
	revenue      billing.Money // sum of its transfers
}

// recompute prices every session from its counters by the card it started with
// and compares: closed ones exactly, open ones as far as they are posted.
func (l *Ledger) recompute(ctx context.Context, tx pgx.Tx, r *Report, accounts []string) error {
	if err := l.loadCards(ctx, tx); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, scope+`select s.id, s.kind, s.country, s.mobile, s.price_version, u.open, u.started_at, u.amount_nano, u.posted_nano,
			coalesce(t.total, 0)::bigint, coalesce(r.names, '{}'), coalesce(r.qtys, '{}'), coalesce(r.amounts, '{}'), u.`+strings.Join(counters[:], ", u.")+`
		from session_usage u join sessions s on s.id = u.session_id
			left join (select session_id, sum(amount_nano) as total from ledger_transfers
				where session_id in (select id from sessions) and credit like 'revenue:%' group by session_id) t on t.session_id = s.id
			left join (select session_id, array_agg(component order by component) as names, array_agg(qty::bigint order by component) as qtys,
					array_agg(amount::bigint order by component) as amounts
				from (select session_id, component, sum(qty) as qty, sum(amount_nano) as amount from usage_records group by 1, 2) x
				group by session_id) r on r.session_id = s.id`, accounts, r.Whole)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		p, err := scanPriced(rows)
		if err != nil {
			return err
		}
		for _, v := range l.judge(p) {
			r.add(v.Invariant, v.Name, v.Subject, "%s", v.Detail)
		}
	}
	return rows.Err()
}

// loadCards fills the cache, because a card cannot be read while rows are.
func (l *Ledger) loadCards(ctx context.Context, tx pgx.Tx) error {
	versions, err := store.Rows(ctx, tx, pgx.RowTo[string], "select version from rate_cards")
	if err != nil {
		return err
	}
	for _, v := range versions {
		_, err := l.db.Card(ctx, tx, v)
		if _, unreadable := errors.AsType[billing.CardError](err); err != nil && !unreadable {
			return err
		}
	}
	return nil
}

func scanPriced(rows pgx.Rows) (*priced, error) {
	p := &priced{recorded: map[string]billing.Item{}}
	var names []string
	var qtys, amounts []int64
	into := []any{&p.id, &p.terms.Kind, &p.terms.Country, &p.terms.Mobile, &p.version, &p.open, &p.startedAt, &p.amount, &p.posted,
		&p.revenue, &names, &qtys, &amounts}
	for i := range p.usage {
		into = append(into, &p.usage[i])
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	for i, name := range names {
		p.recorded[name] = billing.Item{Quantity: qtys[i], Amount: billing.Money(amounts[i])}
		p.recordsTotal += billing.Money(amounts[i])
	}
	return p, nil
}

// judge lists what is wrong with one session.
func (l *Ledger) judge(p *priced) []Violation {
	wrong := func(format string, args ...any) []Violation {
		return []Violation{{6, nameRecomputed, p.id, fmt.Sprintf(format, args...)}}
	}
	card := l.db.LoadedCard(p.version)
	if card == nil {
		return wrong("its rate card %s cannot be read", p.version)
	}
	bill, err := priceOf(card, p.terms, p.usage)
	if err != nil {
		return wrong("%v", err)
	}
	var out []Violation
	total := bill.Total()
	switch {
	case p.posted != p.revenue || p.posted != p.recordsTotal:
		out = wrong("posted %s, transfers %s, receipt %s", p.posted, p.revenue, p.recordsTotal)
	case !p.open && (p.amount != total || p.posted != total):
		out = wrong("counters cost %s, amount %s, posted %s", total, p.amount, p.posted)
	case p.open && p.amount > total:
		out = wrong("counters cost %s, less than the amount %s", total, p.amount)
	}
	for i, item := range bill {
		name := billing.Component(i).String()
		was := p.recorded[name]
		delete(p.recorded, name)
		if was.Quantity > item.Quantity {
			out = append(out, Violation{15, nameGrow, p.id, fmt.Sprintf("%s is %d, posted were %d", name, item.Quantity, was.Quantity)})
		}
		if !p.open && (was.Quantity != item.Quantity || was.Amount != item.Amount) {
			out = append(out, wrong("%s: %d cost %s, the receipt says %d and %s", name, item.Quantity, item.Amount, was.Quantity, was.Amount)...)
		}
	}
	for name := range p.recorded {
		out = append(out, wrong("the receipt charges for %s", name)...)
	}
	return out
}
