package history

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
)

// CountBatch is how many entries of the line CountCalls takes at most. Their turns are read one call at a time.
const CountBatch = 500

// CallsToCount is the condition, of SQL, under which CountCalls finds any.
const CallsToCount = "exists (select from calls_to_count)"

// countLock is the advisory lock of the transaction that counts calls.
const countLock = 0x7061726c65790002

// CountCalls adds calls that have ended to the sums that statistics are read from, with what has changed of those that are
// in there: CountBatch entries of the line, all or none. It returns how many it took; fewer say that none is left,
// or that another process counts.
func (h *Store) CountCalls(ctx context.Context) (n int, err error) {
	err = h.db.Tx(ctx, "count calls", func(tx pgx.Tx) error {
		mine, err := store.Scalar[bool](ctx, tx, "select pg_try_advisory_xact_lock($1)", int64(countLock))
		if err != nil || !mine {
			return err
		}
		type entry struct {
			Session string
			ID      int64
		}
		line, err := store.Rows[entry](ctx, tx, "select session_id, id from calls_to_count order by session_id, id limit $1", CountBatch)
		if err != nil || len(line) == 0 {
			return err
		}
		var sessions []string
		var ids []int64
		for _, e := range line {
			sessions, ids = append(sessions, e.Session), append(ids, e.ID)
		}
		// What is changed after the line was read is in it again.
		sums := sums{figures: map[figuresKey]*Figures{}, waits: waits{}}
		if err := eachEnded(ctx, tx, sums.add, selectEnded+" where c.session_id = any($1)", sessions); err != nil {
			return err
		}
		b := &pgx.Batch{}
		sums.queue(b)
		b.Queue(`delete from calls_to_count q using unnest($1::text[] collate "C", $2::bigint[]) as d (session, id)
			where q.session_id = d.session and q.id = d.id`, sessions, ids)
		n = len(line)
		return store.Send(ctx, tx, b)
	})
	if err != nil {
		n = 0
	}
	return n, err
}

// endedCall is a call that is over, as far as it is counted.
type endedCall struct {
	ID            string
	Account       string
	Day           time.Time
	Agent         string
	Kind          billing.Kind
	EndReason     string
	Answered      bool
	Seconds       int64
	Cost          billing.Money
	Demonstration bool
	Engines       *store.ServedBy
	Turns         json.RawMessage // those whose latencies are not counted; nil: none
	// What of it is counted.
	Counted      bool
	CountedCost  billing.Money
	CountedTurns int
	CountedWait  *int64
}

// The parts of queries for calls that are over, of calls c.
const (
	endedDay     = "(s.opened_at at time zone 'UTC')::date"
	endedReason  = "coalesce(s.end_reason, 'unknown')"
	endedSeconds = "coalesce(trunc(extract(epoch from greatest(interval '0', " + store.EndedAt + " - u.started_at)))::bigint, 0)"
	fromEnded    = ` from calls c join sessions s on s.id = c.session_id and s.state = 'closed' join session_usage u on u.session_id = c.session_id
		left join call_counts k on k.session_id = c.session_id`
	selectEnded = `select c.session_id, c.account_id, ` + endedDay + `, coalesce(c.agent_id, ''), s.kind, ` + endedReason + `, u.started_at is not null,
		` + endedSeconds + `, u.amount_nano, c.demonstration is not null, c.engines,
		case when coalesce(k.turns, 0) = 0 then c.turns end, k.session_id is not null, coalesce(k.cost_nano, 0), coalesce(k.turns, 0), k.wait_ms` + fromEnded
)

// eachEnded has f see the calls of a query, one by one: each brings its turns.
func eachEnded(ctx context.Context, q store.Queryer, f func(*endedCall), sql string, args ...any) error {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		c, err := pgx.RowToStructByPos[endedCall](rows)
		if err != nil {
			return err
		}
		f(&c)
	}
	return rows.Err()
}

// figuresKey is a row of call_sums.
type figuresKey struct {
	Account   string
	Day       time.Time
	Agent     string
	Kind      billing.Kind
	EndReason string
}

// sums are what calls add to call_sums and call_waits, and what is counted of each of them then.
type sums struct {
	figures map[figuresKey]*Figures
	waits   waits
	counted struct {
		sessions []string
		costs    []billing.Money
		turns    []int
		waits    []*int64
	}
}

// add counts what of a call is not counted yet.
func (s *sums) add(c *endedCall) {
	key := figuresKey{c.Account, c.Day, c.Agent, c.Kind, c.EndReason}
	f := s.figures[key]
	if f == nil {
		f = &Figures{}
		s.figures[key] = f
	}
	f.Cost += c.Cost - c.CountedCost
	if !c.Counted {
		f.Calls++
		f.Seconds += c.Seconds
		if c.Answered {
			f.Answered++
		}
	}
	turns, wait := c.CountedTurns, c.CountedWait
	if turns == 0 {
		turns, wait = s.waits.add(c)
	}
	k := &s.counted
	k.sessions, k.costs, k.turns, k.waits = append(k.sessions, c.ID), append(k.costs, c.Cost), append(k.turns, turns), append(k.waits, wait)
}

// queue writes the sums.
func (s *sums) queue(b *pgx.Batch) {
	for key, f := range s.figures {
		if *f != (Figures{}) {
			b.Queue(`insert into call_sums as t (account_id, day, agent_id, kind, end_reason, calls, answered, seconds, cost_nano) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
				on conflict (account_id, day, agent_id, kind, end_reason) do update set calls = t.calls + excluded.calls, answered = t.answered + excluded.answered,
					seconds = t.seconds + excluded.seconds, cost_nano = t.cost_nano + excluded.cost_nano`,
				key.Account, key.Day, key.Agent, string(key.Kind), key.EndReason, f.Calls, f.Answered, f.Seconds, f.Cost)
		}
	}
	for key, h := range s.waits {
		b.Queue(`insert into call_waits as t (account_id, day, agent_id, kind, stage, engine, counts) values ($1, $2, $3, $4, $5, $6, $7::bigint[]::int[])
			on conflict (account_id, agent_id, day, kind, stage, engine) do update set counts = (select array_agg(coalesce(n, 0) + coalesce(more, 0) order by bucket)
				from unnest(t.counts, excluded.counts) with ordinality as u (n, more, bucket))`,
			key.Account, key.Day, key.Agent, string(key.Kind), key.Stage, key.Engine, []int64(h))
	}
	k := &s.counted
	b.Queue(`insert into call_counts (session_id, cost_nano, turns, wait_ms) select * from unnest($1::text[], $2::bigint[], $3::int[], $4::bigint[])
		on conflict (session_id) do update set cost_nano = excluded.cost_nano, turns = excluded.turns, wait_ms = excluded.wait_ms`, k.sessions, k.costs, k.turns, k.waits)
}
