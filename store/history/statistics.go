package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"parley/billing"
	"parley/store"
)

// Figures are what some calls come to that are over.
type Figures struct {
	Calls    int64
	Answered int64
	Seconds  int64         // since the answers, in whole seconds of each call
	Cost     billing.Money // of the calls, with what was charged for them after their end
}

// FiguresOf are those of a group.
type FiguresOf struct {
	Name string // the day as 2026-03-01, the agent's identifier, empty for none, or the word for how calls ended
	Figures
}

// WaitSum is how long turns waited, in milliseconds: what half and 95 of a hundred did not exceed, within 4.5 %.
type WaitSum struct {
	Wait
	Turns    int64
	P50, P95 int64
}

// Statistics are what an account's calls come to.
type Statistics struct {
	Total    Figures
	Days     []FiguresOf // that have calls, the oldest first
	Agents   []FiguresOf // by calls, the most first; all of them
	Outcomes []FiguresOf // likewise
	Waits    []WaitSum   // by stage, in their order, and engine
	// DayWaits are how long turns waited until the answer was heard, by the day on which their call began, as 2026-03-01.
	DayWaits map[string]WaitSum
}

// StatisticsOf picks calls. Zero fields pick all.
type StatisticsOf struct {
	From, To  time.Time    // days, UTC, on which calls began; the second is not included
	Agent     string       // an identifier
	Direction billing.Kind // billing.Web, Inbound or Outbound
}

// uncountedTurns is how many calls Statistics reads the turns of that are not counted yet, the newest. There are more of them
// only while calls of before there were statistics are counted.
const uncountedTurns = 1000

// Statistics sums up the account's calls that are over, at one moment. Calls that are not counted yet are summed up with the others.
func (h *Store) Statistics(ctx context.Context, account string, of StatisticsOf) (*Statistics, error) {
	st := &Statistics{}
	err := h.db.Statement(ctx, account, func(s *store.Statement) error {
		if err := st.readFigures(ctx, s, &of); err != nil {
			return err
		}
		return st.readWaits(ctx, s, &of)
	})
	if err != nil {
		return nil, err
	}
	return st, nil
}

// conditions are on the columns that are named, an empty one excepted; args are the query's parameters before them.
func (of *StatisticsOf) conditions(day, agent, kind string, args []any) (string, []any) {
	sql := ""
	add := func(condition string, arg any) {
		args = append(args, arg)
		sql += fmt.Sprintf(" and "+condition, len(args))
	}
	if !of.From.IsZero() {
		add(day+" >= $%d::date", of.From)
	}
	if !of.To.IsZero() {
		add(day+" < $%d::date", of.To)
	}
	if of.Agent != "" && agent != "" {
		add(agent+" = $%d", of.Agent)
	}
	if of.Direction != "" {
		add(kind+" = $%d", string(of.Direction))
	}
	return sql, args
}

// uncounted is the condition for an account's calls that are not counted, or not as they are.
const uncounted = " where c.account_id = $1 and c.session_id in (select session_id from calls_to_count where account_id = $1)"

// readFigures reads all but the latencies. Groups come out of one pass over the sums and what is in line.
func (st *Statistics) readFigures(ctx context.Context, s *store.Statement, of *StatisticsOf) error {
	counted, args := of.conditions("day", "agent_id", "kind", []any{s.Account()})
	rest, args := of.conditions(endedDay, "c.agent_id", "s.kind", args)
	rows, err := store.Rows[struct {
		By   int // which of the columns is no name of the group
		Name string
		Figures
	}](ctx, s.Tx, `with f as (
			select day, agent_id, end_reason, calls, answered, seconds, cost_nano from call_sums where account_id = $1`+counted+` union all
			select `+endedDay+`, coalesce(c.agent_id, ''), `+endedReason+`, (k.session_id is null)::int, (k.session_id is null and u.started_at is not null)::int,
				case when k.session_id is null then `+endedSeconds+` else 0 end, u.amount_nano - coalesce(k.cost_nano, 0)`+fromEnded+uncounted+rest+`)
		select grouping(day, agent_id, end_reason), coalesce(to_char(day, 'YYYY-MM-DD'), agent_id, end_reason, ''), coalesce(sum(calls), 0)::bigint,
			coalesce(sum(answered), 0)::bigint, coalesce(sum(seconds), 0)::bigint, coalesce(sum(cost_nano), 0)::bigint
		from f group by grouping sets ((), (day), (agent_id), (end_reason))`, args...)
	for _, r := range rows {
		g := FiguresOf{r.Name, r.Figures}
		switch r.By {
		case 0b111:
			st.Total = r.Figures
		case 0b011:
			st.Days = append(st.Days, g)
		case 0b101:
			st.Agents = append(st.Agents, g)
		case 0b110:
			st.Outcomes = append(st.Outcomes, g)
		}
	}
	slices.SortFunc(st.Days, func(a, b FiguresOf) int { return cmp.Compare(a.Name, b.Name) })
	most := func(a, b FiguresOf) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) }
	slices.SortFunc(st.Agents, most)
	slices.SortFunc(st.Outcomes, most)
	return err
}

// stages are what turns wait for, in the order in which statistics have them.
var stages = []string{"total", "endpoint", "asr", "llm", "tts"}

// readWaits reads the latencies. Those of all agents together have rows of their own.
func (st *Statistics) readWaits(ctx context.Context, s *store.Statement, of *StatisticsOf) error {
	agent := cmp.Or(of.Agent, allAgents)
	all, byDay := map[Wait]histogram{}, map[string]histogram{}
	add := func(day time.Time, of Wait, counts histogram) {
		all[of] = all[of].plus(counts)
		if name := day.Format(time.DateOnly); of.Stage == stages[0] {
			byDay[name] = byDay[name].plus(counts)
		}
	}
	counted, args := of.conditions("day", "", "kind", []any{s.Account(), agent})
	rows, err := s.Tx.Query(ctx, "select day, stage, engine, counts from call_waits where account_id = $1 and agent_id = $2"+counted, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var day time.Time
	var w Wait
	var counts histogram
	for rows.Next() {
		if err := rows.Scan(&day, &w.Stage, &w.Engine, (*[]int64)(&counts)); err != nil {
			return err
		}
		add(day, w, counts)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rest, args := of.conditions(endedDay, "c.agent_id", "s.kind", []any{s.Account(), uncountedTurns})
	fresh := waits{}
	err = eachEnded(ctx, s.Tx, func(c *endedCall) { fresh.add(c) }, selectEnded+uncounted+" and coalesce(k.turns, 0) = 0"+rest+
		" order by c.session_id desc limit $2", args...)
	for key, h := range fresh {
		if key.Agent == agent {
			add(key.Day, key.Wait, h)
		}
	}
	for of, h := range all {
		if w := h.sum(of); w.Turns > 0 {
			st.Waits = append(st.Waits, w)
		}
	}
	for day, h := range byDay {
		if w := h.sum(Wait{Stage: stages[0]}); w.Turns > 0 {
			if st.DayWaits == nil {
				st.DayWaits = map[string]WaitSum{}
			}
			st.DayWaits[day] = w
		}
	}
	slices.SortFunc(st.Waits, func(a, b WaitSum) int {
		return cmp.Or(cmp.Compare(slices.Index(stages, a.Stage), slices.Index(stages, b.Stage)), cmp.Compare(a.Engine, b.Engine))
	})
	return err
}
