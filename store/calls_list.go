package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/billing"
)

// CallPage is a part of an account's calls, newest first. Zero fields pick all.
type CallPage struct {
	Page
	Range                  // when it began to ring, to be dialled or to be set up
	Direction billing.Kind // billing.Web, Inbound or Outbound
	Agent     string       // an identifier
	Number    string       // E.164, that called or was called
	EndReason string
	State     CallState
}

// CallState says whether a call lasts.
type CallState string

// States of a call.
const (
	LiveCalls  CallState = "live"
	EndedCalls CallState = "ended"
)

// Calls lists the account's calls without what was said in them: no transcript, turns or
// generations.
func (db *DB) Calls(ctx context.Context, account string, p CallPage) ([]Call, error) {
	conditions, args := p.conditions([]any{account})
	where, args := p.Clause("c.session_id", args)
	return List(ctx, db, "list calls", scanListed, selectCalls+conditions+where, args...)
}

// Calls lists the account's calls as DB.Calls does, all pages from one moment.
func (s *Statement) Calls(ctx context.Context, p CallPage) ([]Call, error) {
	conditions, args := p.conditions([]any{s.account})
	where, args := p.Clause("c.session_id", args)
	return rowsOf(ctx, s, scanListed, selectCalls+conditions+where, args...)
}

// conditions are on calls c and sessions s. Identifiers begin with the time at which
// a call began, so bounds of time become bounds of the index that the list is read by;
// the milliseconds at both ends are told apart by the time itself.
func (p *CallPage) conditions(args []any) (string, []any) {
	var sql strings.Builder
	add := func(condition string, arg any) {
		args = append(args, arg)
		sql.WriteString(strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(args))))
	}
	if !p.From.IsZero() {
		add(" and c.session_id >= ?", FloorID(sessionID, p.From))
		add(" and s.opened_at >= ?", p.From)
	}
	if !p.To.IsZero() {
		add(" and c.session_id < ?", FloorID(sessionID, p.To.Add(time.Millisecond)))
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
	switch p.State {
	case LiveCalls:
		sql.WriteString(" and s.account_id = c.account_id and s.state = 'live'") // both columns: of the index of live ones
	case EndedCalls:
		sql.WriteString(" and s.state = 'closed'")
	}
	return sql.String(), args
}
