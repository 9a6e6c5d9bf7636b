package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// SpendingLimit is what may be charged in a day (UTC) to an account, by one of its keys or
// with one of its agents. What is reached ends what is in progress and lets nothing begin.
// Months of numbers and money that goes in or out by hand do not count.
type SpendingLimit struct {
	Subject string         // identifier of the account, the key or the agent
	Name    string         // its name
	Limit   *billing.Money // nil: none
	Spent   billing.Money  // today
	Held    billing.Money  // now; counts as spent
}

// limitedSubjects are an account's row and those of its keys and agents, with what limits
// them; $1 is the account, $2 the day.
const limitedSubjects = `(
	select w.account_id as id, a.name, w.daily_limit_nano, case when w.spent_day >= $2::date then w.spent_nano else 0 end as spent, w.held_nano
		from wallets w join accounts a on a.id = w.account_id where w.account_id = $1
	union all select id, name, daily_limit_nano, case when spent_day >= $2::date then spent_nano else 0 end, held_nano from api_keys where account_id = $1
	union all select id, name, daily_limit_nano, case when spent_day >= $2::date then spent_nano else 0 end, held_nano from agents where account_id = $1) x`

const selectLimits = "select id, name, daily_limit_nano, spent, held_nano from " + limitedSubjects

// SpendingLimits lists the account's limits; the account's own row is there without one, too.
func (l *Ledger) SpendingLimits(ctx context.Context, account string, p store.Page) ([]SpendingLimit, error) {
	return store.ListPage[SpendingLimit](ctx, l.db, "list limits of spending", p, "id",
		selectLimits+" where (daily_limit_nano is not null or id = $1)", account, dayOf(l.db.Time(ctx)))
}

// SpendingLimit reads that of the account, or of a key or an agent of it.
func (l *Ledger) SpendingLimit(ctx context.Context, account, subject string) (*SpendingLimit, error) {
	return store.First[SpendingLimit](ctx, l.db, "read limit of spending", selectLimits+" where id = $3", account, dayOf(l.db.Time(ctx)), subject)
}

// MaySpendAfter is MaySpend for what is charged to a session that has ended.
func (l *Ledger) MaySpendAfter(ctx context.Context, account, session string) error {
	return l.maySpend(ctx, "select key_id from session_usage where session_id = $3 and account_id = $1 union all select agent_id from session_usage where session_id = $3 and account_id = $1",
		account, session)
}

// MaySpend says with ErrSpending that a limit of the account, or of the key or the agent
// named, is reached: what begins by it would be refused.
func (l *Ledger) MaySpend(ctx context.Context, account, subject string) error {
	return l.maySpend(ctx, "select $3", account, subject)
}

func (l *Ledger) maySpend(ctx context.Context, subjects, account, arg string) error {
	reached, err := store.List[string](ctx, l.db, "read limits of spending",
		"select id from "+limitedSubjects+" where (id = $1 or id in ("+subjects+")) and spent + held_nano >= daily_limit_nano", account, dayOf(l.db.Time(ctx)), arg)
	if err == nil && len(reached) > 0 {
		err = fmt.Errorf("%w: of %s", store.ErrSpending, reached[0])
	}
	return err
}

// SetSpendingLimit sets the limit of the account, or of a key or an agent of it, or with nil
// takes it away. What was charged today counts. ErrNotFound: the subject is not the account's.
func (l *Ledger) SetSpendingLimit(ctx context.Context, account, subject string, limit *billing.Money) (*SpendingLimit, error) {
	if limit != nil && (*limit < 0 || *limit > billing.MaxSpendingLimit) {
		return nil, store.Invalid("daily_limit: from 0 to %s US dollars", billing.MaxSpendingLimit)
	}
	err := l.Locked(ctx, "set limit of spending", account, func(w *Tx) error {
		var err error
		switch {
		case subject == account:
			w.spending.Limit = limit
		case strings.HasPrefix(subject, store.KeyID):
			err = w.limitOne(ctx, "api_keys", "key_id", subject, limit)
		default:
			err = w.limitOne(ctx, "agents", "agent_id", subject, limit)
		}
		if err != nil {
			return err
		}
		return w.Conclude(ctx, &pgx.Batch{})
	})
	if err != nil {
		return nil, err
	}
	return l.SpendingLimit(ctx, account, subject)
}

// spentLately bounds how far back sessions are looked for that were charged today: none
// lasts, or is charged afterwards, for longer.
const spentLately = 7 * 24 * time.Hour

// limitOne sets the limit of a key or an agent, named by col in sessions, with the counters as
// its sessions have them.
func (w *Tx) limitOne(ctx context.Context, table, col, id string, limit *billing.Money) error {
	tag, err := w.Exec(ctx, `with mine as (
			select u.spent_day, u.spent_nano, u.held_nano, u.open from session_usage u join sessions s on s.id = u.session_id
			where s.account_id = $1 and (s.id >= $5 or s.state = 'live') and u.`+col+` = $2),
		d as (select greatest($4::date, max(spent_day)) as day from mine)
		update `+table+` set daily_limit_nano = $3, spent_day = d.day,
			spent_nano = (select coalesce(sum(spent_nano), 0) from mine where mine.spent_day = d.day),
			held_nano = (select coalesce(sum(held_nano), 0) from mine where open)
		from d where account_id = $1 and id = $2`, w.account, id, limit, dayOf(w.now), store.FloorID(store.SessionID, w.now.Add(-spentLately)))
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("limit of spending: %w", store.ErrNotFound)
	}
	return w.QueryRow(ctx, `select exists (select from api_keys where account_id = $1 and daily_limit_nano is not null)
		or exists (select from agents where account_id = $1 and daily_limit_nano is not null)`, w.account).Scan(&w.limited)
}

// nearPercent is how much of a limit is used when its account is warned for the first time.
const nearPercent = 80

// warnSpending warns of limits that are nearly, or wholly, used: of each twice a day at most.
func (w *Tx) warnSpending(ctx context.Context) error {
	all, err := w.limits(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		day := laterDay(dayOf(w.now), s.Day)
		used := s.used(day)
		percent := 100
		if used < *s.Limit {
			percent = nearPercent
		}
		if used*100 < *s.Limit*billing.Money(percent) || used == 0 {
			continue
		}
		about := func(percent int) string { return fmt.Sprintf("%s %s %d", s.Of, day.Format(time.DateOnly), percent) }
		until := day.Add(24 * time.Hour)
		err := w.Warn(ctx, store.Warning{Kind: store.WarnSpending, About: about(percent), ClearedAt: &until,
			Data: store.WarningData{Subject: s.Of, Limit: s.Limit, Spent: &used}})
		if err != nil {
			return err
		}
		if percent == nearPercent {
			continue
		}
		if _, err := w.Exec(ctx, "update warnings set cleared_at = $4 where account_id = $1 and kind = $2 and about = $3 and cleared_at > $4",
			w.account, store.WarnSpending, about(nearPercent), w.now); err != nil {
			return err
		}
	}
	return nil
}
