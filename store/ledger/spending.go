package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/billing"

	"parley/store"
)

// spending is what was charged on a day, and what may be. Of a wallet the rest is read with
// it; of a key or an agent there is one only where it has a limit.
type spending struct {
	Of    string // the account, the key or the agent
	Limit *billing.Money
	Day   *time.Time // that Spent is of; nil: nothing was charged yet
	Spent billing.Money
	Held  billing.Money // by live sessions
}

// dayOf is the day by which limits of spending count.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// laterDay is the day on which something is charged: days do not go back, whichever node's
// idea of the time comes first.
func laterDay(day time.Time, known *time.Time) time.Time {
	if known != nil && known.After(day) {
		return *known
	}
	return day
}

// on is what was charged on the day, or on a later one that has begun.
func (s *spending) on(day time.Time) billing.Money {
	if s.Day == nil || s.Day.Before(day) {
		return 0
	}
	return s.Spent
}

// used is what counts towards the limit: what is held is about to be charged.
func (s *spending) used(day time.Time) billing.Money { return s.on(day) + s.Held }

// add counts what was charged on the day. What comes for a day that is over counts no more.
func (s *spending) add(day time.Time, amount billing.Money) {
	if s.Day != nil && s.Day.After(day) {
		return
	}
	s.Spent = s.on(day) + amount
	s.Day = &day
}

// allows says whether what costs need may begin; 0: its cost is not known.
func (s *spending) allows(need billing.Money, day time.Time) error {
	if s.Limit == nil {
		return nil
	}
	if used := s.used(day); used >= *s.Limit || used+need > *s.Limit {
		return fmt.Errorf("%w: of %s", store.ErrSpending, s.Of)
	}
	return nil
}

// own is the spending of the wallet's account.
func (w *Tx) own() spending {
	s := w.spending
	s.Of, s.Held = w.account, w.pots.Held
	return s
}

// limitedRows reads the rows of keys and agents that have a limit, and goes on with what else they are.
const limitedRows = `select id, daily_limit_nano, spent_day, spent_nano, held_nano from (
		select account_id, id, daily_limit_nano, spent_day, spent_nano, held_nano from api_keys
		union all select account_id, id, daily_limit_nano, spent_day, spent_nano, held_nano from agents) x
	where daily_limit_nano is not null`

// limits reads what limits the account, and of its keys and agents those that are named, or
// with none named all. The wallet's lock keeps the counters as they are.
func (w *Tx) limits(ctx context.Context, subjects ...string) ([]spending, error) {
	var all []spending
	if w.spending.Limit != nil {
		all = append(all, w.own())
	}
	if !w.limited {
		return all, nil
	}
	some, err := store.Rows[spending](ctx, w, limitedRows+" and account_id = $1 and ($2 or id = any($3))", w.account, len(subjects) == 0, subjects)
	return append(all, some...), err
}

// maySpend says whether the account, the key and the agent may begin what costs need.
func (w *Tx) maySpend(ctx context.Context, key, agent string, need billing.Money) error {
	all, err := w.limits(ctx, key, agent)
	for i := 0; err == nil && i < len(all); i++ {
		err = all[i].allows(need, dayOf(w.now))
	}
	return err
}

// countSpending changes the counters of a limited key and a limited agent, whose session's
// wallet is locked, by what was charged on the day and what is held more.
func (w *Tx) countSpending(ctx context.Context, key, agent string, day time.Time, spent, held billing.Money) error {
	if !w.limited || spent == 0 && held == 0 {
		return nil
	}
	for _, x := range []struct{ table, id string }{{"api_keys", key}, {"agents", agent}} {
		if x.id == "" {
			continue
		}
		_, err := w.Exec(ctx, "update "+x.table+` set held_nano = greatest(0, held_nano + $5), spent_day = greatest(spent_day, $3::date),
				spent_nano = case when spent_day > $3 then spent_nano when spent_day = $3 then spent_nano + $4 else $4 end
			where account_id = $1 and id = $2 and daily_limit_nano is not null`, w.account, x.id, day, spent, held)
		if err != nil {
			return err
		}
	}
	return nil
}

// charge counts what was charged to a session, for it, its account, its key and its agent.
func (s *session) charge(ctx context.Context, w *Tx, amount billing.Money) error {
	if amount <= 0 {
		return nil
	}
	own := spending{Day: s.spentDay, Spent: s.spent}
	day := laterDay(dayOf(w.now), s.spentDay)
	own.add(day, amount)
	s.spentDay, s.spent = own.Day, own.Spent
	w.spending.add(day, amount)
	return w.countSpending(ctx, s.key, s.agent, day, amount, 0)
}

// spendingRow is what the statement of a checkpoint knows of a limited row x: what it has
// used before, and with what this statement adds to it, sums.
func spendingRow(x, held, used, begun string) string {
	before := fmt.Sprintf("(case when %s.spent_day >= d.day then %s.spent_nano else 0 end + %s)", x, x, held)
	after := fmt.Sprintf("(%s + case when %s.spent_day > d.day then 0 else coalesce(%s, 0) end - coalesce(%s, 0))", before, x, used, begun)
	limit := x + ".daily_limit_nano"
	return fmt.Sprintf(`%s - %s as room,
		%s * 5 < %s * 4 and %s * 5 >= %s * 4 or %s < %s and %s >= %s as crossed`, limit, after, before, limit, after, limit, before, limit, after, limit)
}

// spentSet is how the statement of a checkpoint counts used on the row x.
func spentSet(x, used string) string {
	return strings.NewReplacer("x.", x+".", "USED", used).Replace(`spent_day = greatest(x.spent_day, d.day),
		spent_nano = case when x.spent_day > d.day then x.spent_nano when x.spent_day = d.day then x.spent_nano + USED else USED end`)
}

// limitParts, limitJoins and limitRoom are what a checkpoint's statement needs besides to
// count for the limits of accounts, keys and agents, and to answer with what they leave.
var limitParts = `,
a as materialized (
	select w.account_id as id, ` + spendingRow("w", "w.held_nano", "sums.used", "sums.begun") + `
	from w cross join d left join sums on sums.account_id = w.account_id where w.daily_limit_nano is not null),` +
	limitedSQL("k", "api_keys", "key_id") + "," + limitedSQL("g", "agents", "agent_id")

const (
	limitJoins = `
	left join a on a.id = c.account left join k on k.id = o.key_id and k.account_id = c.account left join g on g.id = o.agent_id and g.account_id = c.account`
	limitRoom = "least(a.room, k.room, g.room), coalesce(a.crossed, false) or coalesce(k.crossed, false) or coalesce(g.crossed, false)"
)

// limitedSQL are the parts of a checkpoint's statement that count for limited rows of a
// table, which col of a session names. Whether a row is limited is asked of it as it is
// locked: before that it is as the statement began, and a limit that was set since, by
// a transaction which has left the wallet's lock to this one, would not count.
func limitedSQL(name, table, col string) string {
	return strings.NewReplacer("NAME", name, "TABLE", table, "COL", col, "ROW", spendingRow("k", "k.held_nano", "s.used", "s.begun"),
		"SET", spentSet("x", "s.used")).Replace(`
NAME_all as materialized (
	select id, account_id, daily_limit_nano, spent_day, spent_nano, held_nano from TABLE
	where id = any((select array_agg(o.COL) from old o join w on w.account_id = o.account where w.limited)::text[] collate "C")
	order by id for no key update),
NAME_rows as (select * from NAME_all where daily_limit_nano is not null),
NAME_sums as materialized (
	select k.id, sum(u.used)::bigint as used, sum(u.begun)::bigint as begun
	from NAME_rows k join upd u on u.COL = k.id and u.account_id = k.account_id group by k.id),
NAME_upd as (
	update TABLE x set held_nano = greatest(0, x.held_nano - s.begun), SET
	from NAME_sums s, d where x.id = s.id and (s.used <> 0 or s.begun <> 0)),
NAME as materialized (
	select k.id, k.account_id, ROW from NAME_rows k cross join d left join NAME_sums s on s.id = k.id)`)
}
