package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
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

// counters are the columns of billing.Usage, in its order.
var counters = [billing.NumComponents]string{"agent_ms", "line_ms", "reply_in", "reply_out", "speculative_in",
	"speculative_out", "summary_in", "summary_out", "tts_chars", "stt_ms", "denoise_ms", "crm", "web"}

// checkpointSQL does it all in one statement: lock the wallet, lock the usage row
// and judge it, raise the counters, let the wallet accrue the difference, and
// answer with the wallet and the verdict. The account is a parameter, for looking
// it up inside costs an order of magnitude in batches.
var checkpointSQL = func() string {
	var raise, current strings.Builder
	for i, c := range counters {
		fmt.Fprintf(&raise, ", %s = greatest(s.%s, $%d)", c, c, 8+i)
		fmt.Fprintf(&current, ", %s", c)
	}
	line := fmt.Sprintf("(greatest(s.line_ms, $%d) + 59999) / 60000", 8+billing.LineTime)
	return `with w as materialized (
	select paid_nano, bonus_nano, accrued_any_nano, accrued_paid_nano, held_nano
	from wallets where account_id = $1 for no key update),
old as materialized (
	select session_id, amount_nano, line_held_nano, node_epoch = $3 and open as mine, ckpt_seq < $4 as fresh
	from session_usage where session_id = $2 and account_id = $1 and exists (select from w) for no key update),
upd as (
	update session_usage s set ckpt_seq = $4, ckpt_at = $5, started_at = coalesce(s.started_at, $6),
		amount_nano = greatest(s.amount_nano, $7),
		line_held_nano = least(s.line_held_nano, s.line_price_nano * greatest(0, s.line_granted - ` + line + `))` + raise.String() + `
	from old where s.session_id = $2 and old.mine and old.fresh
	returning s.paid_only, s.amount_nano - old.amount_nano as used, old.line_held_nano - s.line_held_nano as begun),
wal as (
	update wallets set
		accrued_any_nano = accrued_any_nano + case when upd.paid_only then 0 else upd.used end,
		accrued_paid_nano = accrued_paid_nano + case when upd.paid_only then upd.used else 0 end,
		held_nano = held_nano - upd.begun
	from upd where account_id = $1 and (upd.used <> 0 or upd.begun <> 0)
	returning paid_nano, bonus_nano, accrued_any_nano, accrued_paid_nano, held_nano)
select old.session_id is not null, coalesce(old.mine, false), v.*
from w left join old on true,
	lateral (select * from wal union all select w.* where not exists (select from wal)) v`
}()

// CheckpointResult is what one checkpoint came to.
type CheckpointResult struct {
	// Pots is the wallet after it: how far the session may still go.
	Pots billing.Pots
	// Err is ErrFenced when the session is closed or another process owns it: hang
	// up. ErrNotFound: there is no such session.
	Err error
}

// Checkpoint stores one report in one round trip. A late or repeated one changes
// nothing and is no error.
func (db *DB) Checkpoint(ctx context.Context, c Checkpoint, now time.Time) (billing.Pots, error) {
	args, err := c.args(now)
	if err != nil {
		return billing.Pots{}, err
	}
	r, err := scanCheckpoint(db.pool.QueryRow(ctx, checkpointSQL, args...))
	if err != nil {
		return billing.Pots{}, fail("checkpoint", err)
	}
	return r.Pots, r.Err
}

// Checkpoints stores the reports of many sessions in one transaction. The results
// are in the order of cs, which is kept as it was. When the transaction fails
// nothing was stored, and the next reports make up for it.
func (db *DB) Checkpoints(ctx context.Context, cs []Checkpoint, now time.Time) ([]CheckpointResult, error) {
	order := make([]int, len(cs))
	for i := range order {
		order[i] = i
	}
	// Everyone locks wallets, then sessions, in this order: no deadlocks.
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := cs[a].Session, cs[b].Session
		if d := strings.Compare(x.Account, y.Account); d != 0 {
			return d
		}
		return strings.Compare(x.ID, y.ID)
	})
	b := &pgx.Batch{}
	results := make([]CheckpointResult, len(cs))
	for _, i := range order {
		args, err := cs[i].args(now)
		if err != nil {
			return nil, err
		}
		b.Queue(checkpointSQL, args...).QueryRow(func(row pgx.Row) (err error) {
			results[i], err = scanCheckpoint(row)
			return err
		})
	}
	err := db.tx(ctx, "checkpoints", func(tx pgx.Tx) error { return send(ctx, tx, b) })
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (c *Checkpoint) args(now time.Time) ([]any, error) {
	s := c.Session
	u := owed(s.Terms.Kind, !c.StartedAt.IsZero(), c.Usage)
	bill, err := s.Tariff.Price(u)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	args := make([]any, 0, 7+len(u))
	args = append(args, s.Account, s.ID, s.Node.Epoch, c.Seq, now, optional(c.StartedAt), bill.Total())
	for _, n := range u {
		args = append(args, n)
	}
	return args, nil
}

// optional is t, or NULL when it is zero.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// scanCheckpoint tells the four outcomes apart; no row at all means no wallet.
func scanCheckpoint(row pgx.Row) (r CheckpointResult, err error) {
	var found, mine bool
	p := &r.Pots
	err = row.Scan(&found, &mine, &p.Paid, &p.Bonus, &p.AccruedAny, &p.AccruedPaid, &p.Held)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && !found:
		return CheckpointResult{Err: ErrNotFound}, nil
	case err == nil && !mine:
		r.Err = ErrFenced
	}
	return r, err
}
