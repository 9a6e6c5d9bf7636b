package statement

import (
	"context"
	"fmt"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// Grouping is what usage is summed by.
type Grouping string

// The groupings. The name of a group is a date such as "2026-03-01", UTC; an
// agent's identifier, empty for what no stored agent did; a session's; a
// component's name. Months of numbers are of no agent and of no session: their name
// is empty there.
const (
	ByDay       Grouping = "day" // of posting
	ByAgent     Grouping = "agent"
	ByCall      Grouping = "call"
	ByComponent Grouping = "component"
)

// usageKeys are the groups' names in SQL: of a session's record, and of a number's month.
var usageKeys = map[Grouping]struct{ record, month string }{
	ByDay: {`to_char(r.posted_at at time zone 'UTC', 'YYYY-MM-DD') collate "C"`,
		`to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD') collate "C"`},
	ByAgent:     {`coalesce(c.agent_id, '')`, `''`},
	ByCall:      {`s.id`, `''`},
	ByComponent: {`r.component collate "C"`, `'` + ledger.MonthComponent + `'`},
}

// UsagePage is a part of an account's usage in groups, by descending name: the
// newest day or session first.
type UsagePage struct {
	store.Range          // of posting
	By          Grouping // what the groups are
	Before      *string  // below this name; nil: from the first
	Limit       int      // at most this many groups; above 0
}

// UsageGroup is what one group's sessions used and cost.
type UsageGroup struct {
	Name   string
	Items  []UsageItem // at most one for each component, by name
	Amount billing.Money
}

// UsageItem is one component of it.
type UsageItem struct {
	Component string
	Quantity  int64 // in billed units
	Amount    billing.Money
}

// clockSkew is how far the clocks of nodes may be apart. A record's time is within
// its session's, by that; so sessions that cannot matter are left out by index.
const clockSkew = time.Hour

// The parts of queries for the account's records in a range; their parameters are
// those of usageArgs.
const (
	usageSessions = `from sessions s`
	usageSession  = `s.account_id = $1 and s.opened_at < $5 and (s.ended_at >= $4 or s.state = 'live')`
	usageRecords  = ` join usage_records r on r.session_id = s.id left join calls c on c.session_id = s.id where ` + usageSession + ` and ` + usagePosted
	usagePosted   = `r.posted_at >= $2 and r.posted_at < $3`
	// usageMonths are the months of numbers, and those that were given back.
	usageMonths = `from (select created_at, case credit when '` + ledger.MonthRevenue + `' then 1 else -1 end as sign, amount_nano from ledger_transfers
		where account_id = $1 and created_at >= $2 and created_at < $3 and kind = 'usage' and session_id is null
			and '` + ledger.MonthRevenue + `' in (debit, credit)) t`
)

func usageArgs(s *store.Statement, r store.Range) []any {
	from, to := r.Bounds()
	return []any{s.Account(), from, to, from.Add(-clockSkew), to.Add(clockSkew)}
}

// Usage sums what was posted. What sessions in progress have used since is Accrued.
func Usage(ctx context.Context, s *store.Statement, p UsagePage) ([]UsageGroup, error) {
	key, ok := usageKeys[p.By]
	if !ok {
		return nil, store.Invalid("usage is not grouped by %q", p.By)
	}
	args := append(usageArgs(s, p.Range), p.Limit)
	below, monthsBelow := "", ""
	if p.Before != nil {
		args = append(args, *p.Before)
		below = fmt.Sprintf(" and %s < $%d", key.record, len(args))
		monthsBelow = fmt.Sprintf(" where %s < $%d", key.month, len(args))
	}
	const sums = " as name, r.component collate \"C\" as component, sum(r.qty)::bigint, sum(r.amount_nano)::bigint "
	months := " union all select " + key.month + " as name, '" + ledger.MonthComponent + "', sum(t.sign)::bigint, sum(t.sign * t.amount_nano)::bigint " +
		usageMonths + monthsBelow + " group by 1 having count(*) > 0"
	const page = ") select * from u where name in (select distinct name from u order by name desc limit $6) order by 1 desc, 2"
	sql := "with u as materialized (select " + key.record + sums + usageSessions + usageRecords + below + " group by 1, 2" + months + page
	if p.By == ByCall { // which are many: each page looks at its own only
		sql = "with g as materialized (select s.id " + usageSessions + " where " + usageSession + below +
			" and exists (select from usage_records r where r.session_id = s.id and " + usagePosted + ") order by s.id desc limit $6)," +
			" u as materialized (select " + key.record + sums + usageSessions + usageRecords + " and s.id in (select id from g) group by 1, 2" + months + page
	}
	rows, err := store.Rows[struct {
		Name string
		UsageItem
	}](ctx, s.Tx, sql, args...)
	var list []UsageGroup
	for _, r := range rows { // a component each, in the groups' order
		if len(list) == 0 || list[len(list)-1].Name != r.Name {
			list = append(list, UsageGroup{Name: r.Name})
		}
		g := &list[len(list)-1]
		g.Items = append(g.Items, r.UsageItem)
		g.Amount += r.Amount
	}
	return list, err
}

// Charged is the sum of all usage posted in a range.
func Charged(ctx context.Context, s *store.Statement, r store.Range) (sum billing.Money, err error) {
	return store.Scalar[billing.Money](ctx, s.Tx,
		"select ((select coalesce(sum(r.amount_nano), 0) "+usageSessions+usageRecords+") + (select coalesce(sum(t.sign * t.amount_nano), 0) "+
			usageMonths+"))::bigint", usageArgs(s, r)...)
}

// Accrued is what sessions in progress have used and the ledger does not hold yet.
func Accrued(ctx context.Context, s *store.Statement) (sum billing.Money, err error) {
	return store.Scalar[billing.Money](ctx, s.Tx, "select accrued_any_nano + accrued_paid_nano from wallets where account_id = $1", s.Account())
}
