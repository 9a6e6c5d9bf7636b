package history

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/billing"
	"parley/store"
)

// CallPage is a part of an account's calls. Zero fields pick all.
type CallPage struct {
	store.Page
	Sort        CallSort
	store.Range              // when it began to ring, to be dialled or to be set up
	Direction   billing.Kind // billing.Web, Inbound or Outbound
	Agent       string       // an identifier
	Number      string       // E.164, that called or was called
	EndReason   string
	State       CallState
	Metadata    map[string]string // calls that have all of these
	Headers     map[string]string // calls that have all of these
	Tag         string
	// Said are words of the transcript, all of them, as PostgreSQL's websearch_to_tsquery reads them: "in one
	// phrase", either or the other, -without.
	Said string
}

// CallState says whether a call lasts.
type CallState string

// States of a call.
const (
	LiveCalls  CallState = "live"
	EndedCalls CallState = "ended"
)

// CallSort is the order of a list of calls. Calls of the same rank are in that of their identifiers.
type CallSort string

// Orders of calls.
const (
	Newest        CallSort = "" // that began last comes first
	Oldest        CallSort = "oldest"
	Longest       CallSort = "longest"        // calls that are over, by the time since the answer
	MostExpensive CallSort = "most_expensive" // calls that are over
	WorstSound    CallSort = "worst_sound"    // calls whose score is known
)

// ranks are the columns of call_ranks by which calls are sorted. What goes down has its largest first.
var ranks = map[CallSort]struct {
	column string
	down   bool
}{Longest: {"talk_ms", true}, MostExpensive: {"cost_nano", true}, WorstSound: {"mos", false}}

// Calls lists the account's calls without what was said in them: no transcript, turns or
// generations.
func (h *Store) Calls(ctx context.Context, account string, p CallPage) ([]Call, error) {
	sql, args := p.query(account)
	return store.List[Call](ctx, h.db, "list calls", sql, args...)
}

// CallsAt lists calls as Store.Calls does, all pages from the moment of a statement.
func CallsAt(ctx context.Context, at *store.Statement, p CallPage) ([]Call, error) {
	sql, args := p.query(at.Account())
	return store.Rows[Call](ctx, at.Tx, sql, args...)
}

// query lists the page. It goes on after the call that After names: after its rank and, among those of the same, after
// its identifier. The rank is read by a query of its own, once, which leaves the comparison to an index.
func (p *CallPage) query(account string) (string, []any) {
	conditions, args := p.conditions([]any{account})
	column, rank, by, order := "c.session_id", "", "desc", "<"
	r, ranked := ranks[p.Sort]
	if p.Sort == Oldest || ranked && !r.down {
		by, order = "", ">"
	}
	from := ""
	if ranked {
		column, rank = "r.session_id", "r."+r.column
		from = fmt.Sprintf(" join call_ranks r on r.session_id = c.session_id and r.account_id = $1 and %s is not null", rank)
	}
	sql := selectCalls + from + ofAccount + conditions
	if p.After != "" {
		args = append(args, p.After)
		place, after := column, fmt.Sprintf("$%d", len(args))
		if ranked {
			place = fmt.Sprintf("(%s, %s)", rank, column)
			after = fmt.Sprintf("((select %s from call_ranks where session_id = $%d and account_id = $1), $%[2]d)", r.column, len(args))
		}
		sql += fmt.Sprintf(" and %s %s %s", place, order, after)
	}
	sql += " order by "
	if ranked {
		sql += rank + " " + by + ", "
	}
	return p.Bound(sql+column+" "+by, args)
}

// conditions are on calls c and sessions s. Identifiers begin with the time at which
// a call began, so bounds of time become bounds of the index that the list is read by;
// the milliseconds at both ends are distinguished by the time itself.
func (p *CallPage) conditions(args []any) (string, []any) {
	var sql strings.Builder
	add := func(condition string, arg any) {
		args = append(args, arg)
		sql.WriteString(strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(args))))
	}
	if !p.From.IsZero() {
		add(" and c.session_id >= ?", store.FloorID(store.SessionID, p.From))
		add(" and s.opened_at >= ?", p.From)
	}
	if !p.To.IsZero() {
		add(" and c.session_id < ?", store.FloorID(store.SessionID, p.To.Add(time.Millisecond)))
		add(" and s.opened_at < ?", p.To)
	}
	if p.Direction != "" {
		add(" and s.kind = ?", string(p.Direction))
	}
	if p.Agent != "" {
		add(" and c.agent_id = ?", p.Agent)
	}
	if p.Number != "" {
		digits := strings.TrimPrefix(p.Number, "+") // carriers write the callers of incoming calls in their own way
		add(" and (c.from_number = any(?) or c.to_number = any(?))", []string{"+" + digits, digits, "00" + digits})
	}
	if p.EndReason != "" {
		add(" and s.end_reason = ?", p.EndReason)
	}
	if len(p.Metadata) > 0 {
		add(" and c.metadata @> ?", store.Pairs(p.Metadata))
	}
	if len(p.Headers) > 0 {
		add(" and c.headers @> ?", store.Pairs(p.Headers))
	}
	if p.Tag != "" {
		add(" and c.tags @> array[?]::text[]", p.Tag)
	}
	if p.Said != "" { // $1 is the account
		add(" and c.session_id in (select session_id from call_words where words @@ (('''' || $1 || '''')::tsquery && websearch_to_tsquery('simple', ?)))", p.Said)
	}
	switch p.State {
	case LiveCalls:
		sql.WriteString(" and s.account_id = c.account_id and s.state = 'live'") // both columns: of the index of live ones
	case EndedCalls:
		sql.WriteString(" and s.state = 'closed'")
	}
	return sql.String(), args
}
