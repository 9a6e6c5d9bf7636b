package history

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/store"
)

// LatencyBy is what turns are summed up by.
type LatencyBy string

// The groupings of turns by when their call began, UTC, and by the agent's identifier,
// empty for what no stored agent said.
const (
	LatencyByDay   LatencyBy = "day"  // 2026-03-01
	LatencyByHour  LatencyBy = "hour" // 2026-03-01T14:00:00Z
	LatencyByAgent LatencyBy = "agent"
)

// layouts write the beginning of a group of a time, UTC.
var layouts = map[LatencyBy]string{LatencyByDay: time.DateOnly, LatencyByHour: "2006-01-02T15:00:00Z"}

// Latency is how long the turns of a group of calls took, in milliseconds: the values
// that half, nine tenths, 95 and 99 of a hundred of them do not exceed.
type Latency struct {
	Name  string // of the group; empty in the sum of all
	All   bool   // the sum of all groups
	Calls int64  // that had turns
	Turns int64
	// Of the stages as the conversation stores them, and their sum.
	Endpoint, Model, Voice, Total []int64
}

// Place is where a group is among the others, for Page.After. The calls of no stored agent
// have no name, and are the first.
func (l *Latency) Place() string { return cmp.Or(l.Name, unnamed) }

const unnamed = "-" // comes before all names of groups

// latencyMost is how many calls Latencies reads at most, the newest: their turns are held in memory while they are summed up.
const latencyMost = 100_000

// Latencies are those of the account's calls that p picks by their range, direction and agent: the sum of all, also of those that
// are on other pages, and the groups in order of their names; nothing without turns. A range
// bounds the work, and the page what is returned.
func (h *Store) Latencies(ctx context.Context, account string, by LatencyBy, p CallPage) ([]Latency, error) {
	layout, times := layouts[by]
	if !times && by != LatencyByAgent {
		return nil, store.Invalid("turns are not summed up by %q", by)
	}
	from, to := p.Bounds()
	sql, args := "select agent_id, opened_at, ms from call_latencies where account_id = $1 and opened_at >= $2 and opened_at < $3 and ms <> '{}'", []any{account, from, to}
	add := func(column, value string) {
		if value != "" {
			args = append(args, value)
			sql += fmt.Sprintf(" and %s = $%d", column, len(args))
		}
	}
	add("kind", string(p.Direction))
	add("agent_id", p.Agent)
	rows, err := h.db.Pool().Query(ctx, sql+fmt.Sprintf(" order by opened_at desc limit %d", latencyMost), args...)
	if err != nil {
		return nil, store.Fail("read latencies", err)
	}
	defer rows.Close()
	groups := map[string]*turnsOf{}
	var agent string
	var opened time.Time
	var ms []int32
	for rows.Next() {
		if err := rows.Scan(&agent, &opened, &ms); err != nil {
			return nil, store.Fail("read latencies", err)
		}
		name := agent
		if times {
			name = opened.UTC().Format(layout)
		}
		if groups[name] == nil {
			groups[name] = &turnsOf{}
		}
		groups[name].add(ms)
	}
	if err := rows.Err(); err != nil {
		return nil, store.Fail("read latencies", err)
	}
	return summed(groups, p.Page), nil
}

// summed are the groups of a page, after the sum of all.
func summed(groups map[string]*turnsOf, p store.Page) (list []Latency) {
	var all turnsOf
	names := slices.Sorted(maps.Keys(groups))
	for _, name := range names {
		all.join(groups[name])
	}
	if all.turns == 0 {
		return nil
	}
	list = append(list, all.sum("", true))
	for _, name := range names {
		if p.After != "" && name <= strings.TrimPrefix(p.After, unnamed) {
			continue
		}
		if p.Limit > 0 && len(list) > p.Limit {
			break
		}
		list = append(list, groups[name].sum(name, false))
	}
	return list
}

// The stages of a turn in call_latencies, in their order.
const latencyStages = 4

// turnsOf are the turns of a group of calls.
type turnsOf struct {
	calls, turns int64
	ms           [latencyStages][]int32
}

// add adds the turns of a call, as call_latencies has them.
func (g *turnsOf) add(ms []int32) {
	g.calls++
	g.turns += int64(len(ms) / latencyStages)
	for i, v := range ms {
		if v >= 0 {
			stage := &g.ms[i%latencyStages]
			*stage = append(*stage, v)
		}
	}
}

// join adds another group.
func (g *turnsOf) join(other *turnsOf) {
	g.calls, g.turns = g.calls+other.calls, g.turns+other.turns
	for i := range g.ms {
		g.ms[i] = append(g.ms[i], other.ms[i]...)
	}
}

// sum says what the turns come to. It sorts them.
func (g *turnsOf) sum(name string, all bool) Latency {
	l := Latency{Name: name, All: all, Calls: g.calls, Turns: g.turns}
	for i, of := range []*[]int64{&l.Endpoint, &l.Model, &l.Voice, &l.Total} {
		*of = percentiles(g.ms[i])
	}
	return l
}

// percentiles are the values that half, nine tenths, 95 and 99 of a hundred do not exceed; nil: there are none. It sorts them.
func percentiles(ms []int32) (out []int64) {
	if len(ms) == 0 {
		return nil
	}
	slices.Sort(ms)
	for _, mille := range []int{500, 900, 950, 990} {
		out = append(out, int64(ms[(len(ms)*mille+999)/1000-1]))
	}
	return out
}

// EngineLatency is how long the turns of an account waited for an engine.
type EngineLatency struct {
	// Stage is llm, from the end of the turn to the model's first words, or tts, from the first sentence to the voice's
	// first audio.
	Stage  string
	Engine string
	Calls  int64 // that had such turns
	Turns  int64
	// Waits are the milliseconds that half and 95 of a hundred of them do not exceed.
	Waits []int64
}

// latencyCalls is how many calls EngineLatencies reads at most, with all their turns.
const latencyCalls = 1000

// EngineLatencies are those of the newest of the account's calls that p picks and that are over, by stage and engine. Which
// engine served a turn is not kept: a call counts for a stage in which one alone served it. Calls that came with a demonstration
// do not count.
func (h *Store) EngineLatencies(ctx context.Context, account string, p CallPage) ([]EngineLatency, error) {
	p.State = EndedCalls
	conditions, args := p.conditions([]any{account, latencyCalls})
	return store.List[EngineLatency](ctx, h.db, "read latencies of engines", `with recent as (
			select c.session_id as id, c.engines, c.turns from calls c join sessions s on s.id = c.session_id
			where c.account_id = $1 and c.engines is not null and c.demonstration is null`+conditions+` order by c.session_id desc limit $2),
		turn as (select id, engines, jsonb_array_elements(turns) as t from recent),
		waits as (select id, 'llm' as stage, engines->'llm' as list, (t->>'model_ms')::bigint as ms from turn union all
			select id, 'tts', engines->'tts', (t->'points'->>'first_audio_ms')::bigint - (t->'points'->>'first_sentence_ms')::bigint from turn)
		select stage, list->>0, count(distinct id), count(*), percentile_disc(array[0.5, 0.95]) within group (order by greatest(ms, 0))
		from waits where ms is not null and list->>0 is not null and list->1 is null group by 1, 2 order by 1, 2`, args...)
}
