package history

import (
	"cmp"
	"context"
	"fmt"
	"strings"

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

var latencyKeys = map[LatencyBy]string{
	LatencyByDay:   `to_char(s.opened_at at time zone 'UTC', 'YYYY-MM-DD')`,
	LatencyByHour:  `to_char(s.opened_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"')`,
	LatencyByAgent: `coalesce(c.agent_id, '')`,
}

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

// Latencies are those of the account's calls that p picks: the sum of all, also of those that
// are on other pages, and the groups in order of their names; nothing without turns. A range
// bounds the work, and the page what is returned.
func (h *Store) Latencies(ctx context.Context, account string, by LatencyBy, p CallPage) ([]Latency, error) {
	key, ok := latencyKeys[by]
	if !ok {
		return nil, store.Invalid("turns are not summed up by %q", by)
	}
	conditions, args := p.conditions([]any{account})
	stage := func(name string) string {
		return ", percentile_disc(array[0.5, 0.9, 0.95, 0.99]) within group (order by (t->>'" + name + "_ms')::bigint)"
	}
	having := "count(*) > 0"
	if p.After != "" {
		args = append(args, strings.TrimPrefix(p.After, unnamed))
		having += fmt.Sprintf(" and (grouping(name) = 1 or name > $%d)", len(args))
	}
	groups := p.Page
	if groups.Limit > 0 {
		groups.Limit++ // the sum
	}
	sql, args := groups.Bound(
		"select coalesce(name, ''), grouping(name) = 1, count(distinct id), count(*)"+stage("endpoint")+stage("model")+stage("voice")+stage("total")+
			" from (select "+key+` collate "C" as name, c.session_id as id, jsonb_array_elements(c.turns) as t from calls c join sessions s on s.id = c.session_id
			where c.account_id = $1`+conditions+") turns group by grouping sets ((name), ()) having "+having+" order by 2 desc, 1", args)
	return store.List[Latency](ctx, h.db, "read latencies", sql, args...)
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
