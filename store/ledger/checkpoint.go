package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// Checkpoint reports what a session has used since its start.
type Checkpoint struct {
	Session *Session
	// Seq grows with every report of the session, from 1; one that is not above
	// the last stored is late or repeated and changes nothing.
	Seq int64
	// StartedAt is when the session's clock started (a web session's first prompt,
	// a call's answer); zero before: nothing is owed then.
	StartedAt time.Time
	Usage     billing.Usage
}

// owed is the usage that counts: none before the clock starts, and at least one
// line minute after an answer.
func owed(k billing.Kind, started bool, u billing.Usage) billing.Usage {
	if !started {
		return billing.Usage{}
	}
	if k.Phone() {
		u[billing.LineTime] = max(1, u[billing.LineTime])
	}
	return u
}

// Counters are the columns of billing.Usage, in its order.
var Counters = [billing.NumComponents]string{"agent_ms", "line_ms", "reply_in", "reply_out", "speculative_in",
	"speculative_out", "summary_in", "summary_out", "tts_chars", "stt_ms", "denoise_ms", "crm", "web", "audio_in", "audio_cached", "audio_out", "own_in", "own_out", "segments"}

// checkpointSQL stores the reports of accounts without spending limits and names those of
// the others, which limitedCheckpointSQL stores: most accounts have no limits, and the
// statement that counts for limits takes twice as long.
var checkpointSQL, limitedCheckpointSQL = checkpointStatement(false), checkpointStatement(true)

// checkpointStatement stores any number of reports in one statement: lock the wallets that
// no other transaction has (an account whose wallet is locked holds up no other's calls),
// lock the usage rows and judge them, raise the counters, let each wallet accrue the
// sum of the differences, and answer with the wallet and the verdict of each report.
// One statement is an order of magnitude cheaper than one for each report, and a
// wallet that many sessions share is written, and waits for the disk, once. The arrays
// stand in subqueries, where the planner does not see how long they are: it would
// plan short ones anew each time, which takes longer than carrying them out.
func checkpointStatement(limits bool) string {
	var arrays, names, raise strings.Builder
	for i, c := range Counters {
		fmt.Fprintf(&arrays, ", (select $%d::bigint[])", 8+i)
		fmt.Fprintf(&names, ", %s", c)
		fmt.Fprintf(&raise, ", %s = greatest(s.%s, o.%s)", c, c, c)
	}
	other, parts, joins, room := "limited or daily_limit_nano is not null", "", "", "null::bigint, false"
	if limits {
		other, parts, joins, room = "false", limitParts, limitJoins, limitRoom
	}
	return `with c as materialized (
	select * from unnest((select $2::text[] collate "C"), (select $3::text[] collate "C"), (select $4::bigint[]), (select $5::bigint[]),
		(select $6::timestamptz[]), (select $7::bigint[])` + arrays.String() + `)
		with ordinality as c(account, session, epoch, seq, started, amount` + names.String() + `, ord)),
w as materialized (
	select account_id, paid_nano, bonus_nano, accrued_any_nano, accrued_paid_nano, held_nano, open_disputes > 0 as disputed, suspended,
		low_since is not null as low, recharge_below_nano, limited, daily_limit_nano, spent_day, spent_nano, ` + other + ` as other
	from wallets where account_id = any((select $2::text[])::text[] collate "C") order by account_id for no key update skip locked),
u as materialized (
	select session_id, account_id, amount_nano, held_nano, node_epoch, open, ckpt_seq, started_at, hangup_requested_at is not null as hangup, key_id, agent_id, spent_day
	from session_usage where session_id = any((select $3::text[])::text[] collate "C") and account_id = any((select array_agg(account_id) from w where not other)::text[] collate "C") -- which locks them all, before the first of these
	order by account_id, session_id for no key update),
old as materialized (
	select c.*, u.amount_nano, u.held_nano, u.node_epoch = c.epoch and u.open as mine, u.ckpt_seq < c.seq as fresh, u.hangup, u.started_at is null and c.started is not null as starts,
		u.key_id, u.agent_id, u.spent_day
	from c join u on u.session_id = c.session and u.account_id = c.account),
d as materialized (select greatest(($1::timestamptz at time zone 'UTC')::date, max(spent_day)) as day from old),
upd as (
	update session_usage s set ckpt_seq = o.seq, ckpt_at = $1, started_at = coalesce(s.started_at, o.started),
		amount_nano = greatest(s.amount_nano, o.amount),
		held_nano = case when s.line_granted > 0
			then least(s.held_nano, s.line_price_nano * greatest(0, s.line_granted - (greatest(s.line_ms, o.line_ms) + 59999) / 60000))
			else greatest(0, s.held_nano - greatest(0, o.amount - s.amount_nano)) end` + raise.String() + `,
		spent_day = case when o.amount > s.amount_nano then d.day else s.spent_day end,
		spent_nano = case when o.amount <= s.amount_nano then s.spent_nano
			else o.amount - s.amount_nano + case when s.spent_day = d.day then s.spent_nano else 0 end end
	from old o, d where s.session_id = o.session and o.mine and o.fresh
	returning s.account_id, s.key_id, s.agent_id, s.paid_only, s.amount_nano - o.amount_nano as used, o.held_nano - s.held_nano as begun),
sums as materialized (
	select account_id, coalesce(sum(used) filter (where not paid_only), 0)::bigint as by_any,
		coalesce(sum(used) filter (where paid_only), 0)::bigint as by_paid, sum(begun)::bigint as begun, sum(used)::bigint as used
	from upd group by account_id),
wal as (
	update wallets x set accrued_any_nano = x.accrued_any_nano + sums.by_any,
		accrued_paid_nano = x.accrued_paid_nano + sums.by_paid, held_nano = x.held_nano - sums.begun,
		` + spentSet("x", "sums.used") + `
	from sums, d where x.account_id = sums.account_id and (sums.by_any <> 0 or sums.by_paid <> 0 or sums.begun <> 0))` + parts + `
select c.ord - 1, w.account_id is null, coalesce(o.mine, false), coalesce(o.hangup, false), coalesce(w.paid_nano, 0), coalesce(w.bonus_nano, 0),
	coalesce(w.accrued_any_nano + coalesce(sums.by_any, 0), 0), coalesce(w.accrued_paid_nano + coalesce(sums.by_paid, 0), 0),
	coalesce(w.held_nano - coalesce(sums.begun, 0), 0), coalesce(w.disputed, false), coalesce(w.suspended, false), coalesce(w.low, false), w.recharge_below_nano,
	coalesce(o.mine and o.fresh and o.starts, false), coalesce(w.other, false), ` + room + `
from c left join w on w.account_id = c.account left join old o on o.ord = c.ord left join sums on sums.account_id = c.account` + joins + `
where o.ord is not null or w.other or w.account_id is null and exists (select from wallets x where x.account_id = c.account)`
}

// CheckpointResult is what one checkpoint came to.
type CheckpointResult struct {
	// Pots is the wallet after it: how far the session may still go.
	Pots billing.Pots
	// Hangup says that the session's end was requested: see RequestHangup.
	Hangup bool
	// Freeze says that the account's sessions end, and why.
	Freeze Freeze
	// Err is ErrLater when nothing was stored now; the next report makes up for it.
	// ErrFenced: the session is closed or another process owns it: hang up. ErrNotFound:
	// there is no such session. It wraps ErrInvalid when the report is not one that can be
	// stored, now or later. With an error nothing else is set.
	Err error
	// Room is what may still be charged today by the limits of spending that bind the
	// session, what is held counted as charged; nil: none does. Without any it ends.
	Room *billing.Money
	noticed
}

// ErrLater: another transaction has the wallet.
const ErrLater store.Error = "another transaction has the wallet"

// Freeze is why the sessions of an account end. The zero value lets them go on.
type Freeze int

// Why an account is frozen.
const (
	NotFrozen Freeze = iota
	Disputed         // a payment of the account is
	Suspended        // by an operator
)

// noticed is what has to follow a checkpoint in transactions of its own.
type noticed struct {
	crossed bool // a limit was neared, or reached, by this
	low     bool // the balance was below the wallet's low mark before
	starts  bool // it is the first with the clock running
	// rechargeBelow is the threshold of automatic recharge; nil while that is off.
	rechargeBelow *billing.Money
}

// Checkpoints stores the reports of many sessions in one statement and one
// transaction; a second report of a session goes into a second one. The results are
// in the order of cs, which is kept as it was; a report that cannot be stored spoils
// no other. Without results some may not have been stored, and the next reports make
// up for it; an error beside results means that they hold and only what follows from
// a low balance, or from an answer, was left to the next or to the end.
func (l *Ledger) Checkpoints(ctx context.Context, cs []Checkpoint) ([]CheckpointResult, error) {
	now := l.db.Time(ctx)
	results := make([]CheckpointResult, len(cs))
	bills := make([]billing.Money, len(cs))
	list := make([]int, 0, len(cs))
	for i := range cs {
		if bills[i], results[i].Err = cs[i].price(); results[i].Err == nil {
			list = append(list, i)
		}
	}
	for len(list) > 0 {
		first, rest := firstOfEach(cs, list)
		if err := l.storeReports(ctx, checkpointSQL, cs, bills, first, results, now); err != nil {
			return nil, err
		}
		list = rest
	}
	followed, near := make(map[string]bool, len(cs)), map[string]bool{}
	for i, r := range results {
		near[cs[i].Session.Account] = near[cs[i].Session.Account] || r.crossed
	}
	var follow error // one account's trouble is not another's
	for i, r := range results {
		if account := cs[i].Session.Account; r.Err == nil && !followed[account] {
			r.crossed = near[account]
			followed[account] = true // each of its sessions got the same
			if err := l.onLowBalance(ctx, account, r); err != nil {
				follow = errors.Join(follow, fmt.Errorf("account %s: %w", account, err))
			}
		}
	}
	return results, errors.Join(follow, l.enqueueAnswered(ctx, cs, results, now))
}

// firstOfEach parts list, indices of cs, into the first report of each session and
// the rest.
func firstOfEach(cs []Checkpoint, list []int) (first, rest []int) {
	seen := make(map[string]bool, len(list))
	for _, i := range list {
		if id := cs[i].Session.ID; seen[id] {
			rest = append(rest, i)
		} else {
			seen[id] = true
			first = append(first, i)
		}
	}
	return first, rest
}

// storeReports stores those of cs that are in list and fills their results. The statement
// names the reports of accounts with limits, which need the other statement. Where one
// report is refused for what it holds, each is stored by itself.
func (l *Ledger) storeReports(ctx context.Context, statement string, cs []Checkpoint, bills []billing.Money, list []int, results []CheckpointResult, now time.Time) error {
	for _, i := range list {
		results[i].Err = store.ErrNotFound // unless the answer names it
	}
	var limited []int
	rows, err := l.db.Pool().Query(ctx, statement, reportArgs(cs, bills, list, now)...)
	if err == nil {
		var at int64
		var r CheckpointResult
		var later, mine, other, disputed, suspended bool
		p := &r.Pots
		_, err = pgx.ForEachRow(rows, []any{&at, &later, &mine, &r.Hangup, &p.Paid, &p.Bonus, &p.AccruedAny, &p.AccruedPaid, &p.Held, &disputed, &suspended, &r.low, &r.rechargeBelow, &r.starts, &other, &r.Room, &r.crossed},
			func() error {
				if other {
					limited = append(limited, list[at])
					return nil
				}
				r.Freeze, r.Err = NotFrozen, nil
				switch {
				case later:
					r.Err = ErrLater
				case !mine:
					r.Err = store.ErrFenced
				case suspended:
					r.Freeze = Suspended
				case disputed:
					r.Freeze = Disputed
				}
				results[list[at]] = r
				return nil
			})
	}
	switch {
	case err == nil && len(limited) > 0:
		return l.storeReports(ctx, limitedCheckpointSQL, cs, bills, limited, results, now)
	case err == nil:
		return nil
	case !store.Unfit(err):
		return store.Fail("checkpoints", err)
	case len(list) == 1:
		results[list[0]] = CheckpointResult{Err: fmt.Errorf("checkpoint: %w: %w", store.ErrInvalid, err)}
		return nil
	}
	for k := range list {
		if err := l.storeReports(ctx, statement, cs, bills, list[k:k+1], results, now); err != nil {
			return err
		}
	}
	return nil
}

// onLowBalance applies the thresholds of a wallet that a checkpoint took below its low mark, or found below
// the threshold of automatic recharge with nothing done about it. It is not the
// checkpoint's transaction, so that others do not wait for it: what is not
// done here is done with the account's next checkpoint or posting.
func (l *Ledger) onLowBalance(ctx context.Context, account string, r CheckpointResult) error {
	if r.rechargeBelow != nil && r.Pots.Balance() < *r.rechargeBelow {
		if err := l.rechargeNoticed(ctx, account); err != nil {
			return err
		}
	}
	if r.crossed {
		return l.applyThresholds(ctx, account)
	}
	if r.low {
		return nil
	}
	mark, err := l.lowMark(ctx, l.db.Pool(), r.rechargeBelow)
	if err != nil || r.Pots.Balance() >= mark {
		return err
	}
	return l.applyThresholds(ctx, account)
}

// price is what the usage that counts costs.
func (c *Checkpoint) price() (billing.Money, error) {
	bill, err := c.Session.Tariff.Price(c.owed())
	if err != nil {
		return 0, fmt.Errorf("checkpoint: %w: %w", store.ErrInvalid, err)
	}
	return bill.Total(), nil
}

func (c *Checkpoint) owed() billing.Usage {
	return owed(c.Session.Terms.Kind, !c.StartedAt.IsZero(), c.Usage)
}

// reportArgs are checkpointSQL's: the columns of the reports in list.
func reportArgs(cs []Checkpoint, bills []billing.Money, list []int, now time.Time) []any {
	accounts, sessions := make([]string, len(list)), make([]string, len(list))
	started := make([]*time.Time, len(list))
	var columns [3 + len(Counters)][]int64 // epoch, seq, amount and the counters
	for i := range columns {
		columns[i] = make([]int64, len(list))
	}
	for k, i := range list {
		c := &cs[i]
		accounts[k], sessions[k], started[k] = c.Session.Account, c.Session.ID, optional(c.StartedAt)
		columns[0][k], columns[1][k], columns[2][k] = c.Session.Node.Epoch, c.Seq, int64(bills[i])
		for j, n := range c.owed() {
			columns[3+j][k] = n
		}
	}
	args := []any{now, accounts, sessions, columns[0], columns[1], started, columns[2]}
	for _, column := range columns[3:] {
		args = append(args, column)
	}
	return args
}

// optional is t, or NULL when it is zero.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
