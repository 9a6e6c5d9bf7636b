package cluster

import (
	"context"
	"slices"
	"time"

	"parley/api/callcenter"
	"parley/api/calls"
	"parley/api/wire"
	"parley/pipeline/session"
	"parley/store/history"
)

// Log implements callcenter.Calls. The end of a call is what the books know of it, so
// it is there also where the log was lost with its node.
func (m *Member) Log(ctx context.Context, account, id string) (*callcenter.CallLog, error) {
	c, err := m.cfg.History.Call(ctx, account, id)
	if err != nil || c.EndedAt == nil {
		return nil, err
	}
	kept, err := m.cfg.History.CallLog(ctx, account, id)
	if err != nil {
		return nil, err
	}
	last, end := stored(c)
	if kept.Status == "" { // there is none
		kept.At, kept.Lines = last.EndedAt, len(last.Transcript)
	}
	return &callcenter.CallLog{Omitted: kept.Omitted, Events: func(yield func(time.Time, callcenter.Change) bool) {
		over := last.EndedAt
		if n := len(kept.Events); n > 0 && kept.Events[n-1].At.After(over) {
			over = kept.Events[n-1].At // the last words are known after the clock has stopped
		}
		if replay(kept, last, yield) {
			yield(over, callcenter.Change{Kind: callcenter.Over, State: *shown(&last, end, over)})
		}
	}}, nil
}

// replay tells a log again; last is how its call stood in the end.
func replay(l *history.CallLog, last session.CallSnapshot, yield func(time.Time, callcenter.Change) bool) bool {
	s := session.CallSnapshot{Status: session.CallStatus(l.Status), AnsweredBy: l.AnsweredBy, Transcript: slices.Clone(last.Transcript[:min(l.Lines, len(last.Transcript))])}
	if s.Status == "" {
		s = last
	}
	var function wire.CallFunction
	say := func(at time.Time, kind callcenter.ChangeKind, line wire.SpokenLine) bool {
		if s.Status == session.CallConnected && s.StartedAt.IsZero() {
			s.StartedAt = last.StartedAt
		}
		c := callcenter.Change{Kind: kind, Line: line, Function: function}
		if kind == callcenter.Snapshot || kind == callcenter.Corrected {
			c.State = *shown(&s, ending{}, at)
		} else {
			c.State = wire.CallState{Status: string(s.Status), AnsweredBy: s.AnsweredBy}
		}
		c.State.Duration = int64(s.Duration(at) / time.Second)
		return yield(at, c)
	}
	if !say(l.At, callcenter.Snapshot, wire.SpokenLine{}) {
		return false
	}
	for _, e := range l.Events {
		kind, line := callcenter.StatusChanged, wire.SpokenLine{}
		function = wire.CallFunction{}
		switch {
		case e.Status != "":
			s.Status = session.CallStatus(e.Status)
		case e.AnsweredBy != "":
			s.AnsweredBy = e.AnsweredBy
		case e.Line != nil:
			s.Transcript = append(s.Transcript, *e.Line)
			kind, line = callcenter.LineAdded, lineOf(*e.Line)
		case e.Function != nil:
			kind, function = callcenter.FunctionCalled, calls.Function(e.Function)
		case e.Correction != nil && e.Correction.Line < len(s.Transcript):
			s.Transcript[e.Correction.Line].Text = e.Correction.Text
			kind = callcenter.Corrected
		default: // of a later version
			continue
		}
		if !say(e.At, kind, line) {
			return false
		}
	}
	return true
}
