package verify

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// priced is a session with everything that was charged for it.
type priced struct {
	id             string
	terms          billing.Terms
	version        string
	open           bool
	amount, posted billing.Money // of its counters, and in the ledger
	usage          billing.Usage
	recorded       map[string]billing.Item // by component, summed over postings
	recordsTotal   billing.Money
	revenue        billing.Money // sum of its transfers
}

// prices prices every session from its counters by the card it started with
// and compares: closed ones exactly, open ones as far as they are posted.
func (p *portion) prices(ctx context.Context) error {
	if err := p.loadCards(ctx); err != nil {
		return err
	}
	rows, err := p.tx.Query(ctx, scope+`select s.id, s.kind, s.country, s.mobile, s.own_trunk, s.price_version, u.open, u.amount_nano, u.posted_nano,
			coalesce(t.total, 0)::bigint, coalesce(r.names, '{}'), coalesce(r.qtys, '{}'), coalesce(r.amounts, '{}'), u.`+strings.Join(ledger.Counters[:], ", u.")+`
		from session_usage u join sessions s on s.id = u.session_id
			left join (select session_id, sum(amount_nano) as total from ledger_transfers
				where session_id in (select id from sessions) and credit like 'revenue:%' group by session_id) t on t.session_id = s.id
			left join (select session_id, array_agg(component order by component) as names, array_agg(qty::bigint order by component) as qtys,
					array_agg(amount::bigint order by component) as amounts
				from (select session_id, component, sum(qty) as qty, sum(amount_nano) as amount from usage_records group by 1, 2) x
				group by session_id) r on r.session_id = s.id`, p.accounts, p.Whole)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		s, err := scanPriced(rows)
		if err != nil {
			return err
		}
		p.judge(s)
	}
	return rows.Err()
}

// loadCards reads the cards that are not known yet: none can be read while rows are.
func (p *portion) loadCards(ctx context.Context) error {
	cards, err := store.Rows[struct{ Version, Body string }](ctx, p.tx,
		"select version, body::text from rate_cards where version <> all($1)", slices.AppendSeq([]string{}, maps.Keys(p.cards)))
	for _, c := range cards {
		p.cards[c.Version], _ = billing.ParseRateCard([]byte(c.Body)) // nil when it cannot be read
	}
	return err
}

func scanPriced(rows pgx.Rows) (*priced, error) {
	s := &priced{recorded: map[string]billing.Item{}}
	var names []string
	var qtys, amounts []int64
	into := []any{&s.id, &s.terms.Kind, &s.terms.Country, &s.terms.Mobile, &s.terms.OwnTrunk, &s.version, &s.open, &s.amount, &s.posted,
		&s.revenue, &names, &qtys, &amounts}
	for i := range s.usage {
		into = append(into, &s.usage[i])
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	for i, name := range names {
		s.recorded[name] = billing.Item{Quantity: qtys[i], Amount: billing.Money(amounts[i])}
		s.recordsTotal += billing.Money(amounts[i])
	}
	return s, nil
}

// judge adds what is wrong with one session.
func (v *verification) judge(s *priced) {
	wrong := func(format string, args ...any) { v.add(6, nameRecomputed, s.id, format, args...) }
	card := v.cards[s.version]
	if card == nil {
		wrong("its rate card %s cannot be read", s.version)
		return
	}
	tariff, err := card.Tariff(s.terms)
	var bill billing.Bill
	if err == nil {
		bill, err = tariff.Price(s.usage)
	}
	if err != nil {
		wrong("%v", err)
		return
	}
	total := bill.Total()
	switch {
	case s.posted != s.revenue || s.posted != s.recordsTotal:
		wrong("posted %s, transfers %s, receipt %s", s.posted, s.revenue, s.recordsTotal)
	case !s.open && (s.amount != total || s.posted != total):
		wrong("counters cost %s, amount %s, posted %s", total, s.amount, s.posted)
	case s.open && s.amount > total:
		wrong("counters cost %s, less than the amount %s", total, s.amount)
	}
	for i, item := range bill {
		name := billing.Component(i).String()
		was := s.recorded[name]
		delete(s.recorded, name)
		if was.Quantity > item.Quantity {
			v.add(15, nameGrow, s.id, "%s is %d, posted were %d", name, item.Quantity, was.Quantity)
		}
		if !s.open && (was.Quantity != item.Quantity || was.Amount != item.Amount) {
			wrong("%s: %d cost %s, the receipt says %d and %s", name, item.Quantity, item.Amount, was.Quantity, was.Amount)
		}
	}
	for name := range s.recorded {
		wrong("the receipt charges for %s", name)
	}
}
