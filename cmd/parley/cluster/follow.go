package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"parley/api/callcenter"
	"parley/api/calls"
	"parley/api/export"
	"parley/api/wire"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/bus"
	"parley/store/history"
)

// happened is an update of a call on its way to its followers.
type happened struct {
	Account string `json:"account"`
	session.CallUpdate
	call string
}

// maxNews wait to be published. What does not fit is a gap, after which followers take a snapshot.
const maxNews = 4096

// OnUpdate implements session.Watcher.
func (m *Member) OnUpdate(account, call string, u session.CallUpdate) {
	select {
	case m.news <- happened{account, u, call}:
	default:
	}
}

// publishNews publishes updates of calls until ctx ends.
func (m *Member) publishNews(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case h := <-m.news:
			s, err := bus.Call(h.call)
			text, unwritten := json.Marshal(h)
			m.publish(s, cmp.Or(err, unwritten), text, "news of a call were not published", "session", h.call)
		}
	}
}

// Placed implements callcenter.Calls.
func (m *Member) Placed(ctx context.Context, account, id string) (*wire.Placed, error) {
	c, err := m.cfg.History.Call(ctx, account, id)
	if err != nil {
		return nil, err
	}
	return &wire.Placed{CallID: c.ID, Status: string(session.CallDialing), From: c.From, To: c.To,
		AgentID: export.Optional(c.Agent), CreatedAt: c.OpenedAt}, nil
}

// Look implements callcenter.Calls.
func (m *Member) Look(ctx context.Context, account, id string) (*wire.CallState, error) {
	s, end, err := m.look(ctx, account, id)
	if err != nil {
		return nil, err
	}
	return shown(&s, end, m.cfg.Store.Now()), nil
}

// ending is why a call has ended; empty while it lasts.
type ending struct{ reason, detail string }

// look is how a call stands: its owner knows best, then the database.
func (m *Member) look(ctx context.Context, account, id string) (s session.CallSnapshot, end ending, err error) {
	if s, ok := m.cfg.Calls.Snapshot(account, id); ok && s.Status != session.CallEnded {
		return s, ending{}, nil
	}
	owner, err := m.cfg.Ledger.CallOwner(ctx, account, id)
	if err != nil {
		return s, ending{}, err
	}
	if owner != (store.Node{}) && owner != m.cfg.Life {
		if s, ok := m.ask(ctx, owner, account, id); ok && s.Status != session.CallEnded {
			return s, ending{}, nil
		}
	}
	c, err := m.cfg.History.Call(ctx, account, id)
	if err != nil {
		return s, ending{}, err
	}
	s, end = stored(c)
	return s, end, nil
}

// stored is how a call stands by the database.
func stored(c *history.Call) (s session.CallSnapshot, end ending) {
	s = session.CallSnapshot{Status: session.CallDialing, AnsweredBy: c.AnsweredBy, Transcript: c.Transcript}
	if c.RangAt != nil {
		s.Status = session.CallRinging
	}
	if c.StartedAt != nil {
		s.Status, s.StartedAt = session.CallConnected, *c.StartedAt
	}
	if c.EndedAt != nil {
		s.Status, s.EndedAt = session.CallEnded, *c.EndedAt
	}
	return s, ending{export.Optional(c.EndReason), export.Optional(c.EndDetail)}
}

// ask has another node show a call.
func (m *Member) ask(ctx context.Context, owner store.Node, account, id string) (s session.CallSnapshot, ok bool) {
	answer, err := m.request(ctx, owner, command{Do: "show", Account: account, Call: id})
	if err != nil {
		return s, false
	}
	return s, json.Unmarshal(answer, &s) == nil && s.Status != ""
}

// shown is a sight as the call center shows it at a time.
func shown(s *session.CallSnapshot, end ending, now time.Time) *wire.CallState {
	out := &wire.CallState{Status: string(s.Status), Transcript: make([]wire.SpokenLine, len(s.Transcript)),
		Duration: int64(s.Duration(now) / time.Second), AnsweredBy: s.AnsweredBy, EndReason: end.reason, EndDetail: end.detail}
	for i, l := range s.Transcript {
		out.Transcript[i] = lineOf(l)
	}
	return out
}

func lineOf(l history.TranscriptLine) wire.SpokenLine {
	return wire.SpokenLine{Role: l.Role, Text: l.Text, At: float64(l.AtMS) / 1000}
}

// aliveEvery is how often a follower hears that nothing has happened, and how soon it
// finds out that a call has ended with the node that had it.
const aliveEvery = 15 * time.Second

// Follow implements callcenter.Calls.
func (m *Member) Follow(ctx context.Context, account, id string, tell func(callcenter.Change) error) error {
	f := &follower{Member: m, account: account, id: id, tell: tell}
	subject, err := bus.Call(id)
	if err != nil {
		return store.ErrNotFound // no call has such a name
	}
	for first := true; ; first = false {
		// First the feed, then the sight: nothing falls between them.
		sub, err := m.cfg.Bus.Subscribe(ctx, subject)
		if err != nil {
			return err
		}
		over, err := f.resume(ctx, first)
		if err == nil && !over {
			over, err = f.read(ctx, sub)
		}
		sub.Close()
		if over || err != nil && !errors.Is(err, bus.ErrSlow) {
			return err
		}
	}
}

// follower is a client that follows a call.
type follower struct {
	*Member
	account, id string
	tell        func(callcenter.Change) error
	seen        session.CallSnapshot
}

// resume looks at the call and tells what is new; over says that it has ended.
func (f *follower) resume(ctx context.Context, first bool) (over bool, err error) {
	s, end, err := f.look(ctx, f.account, f.id)
	if err != nil {
		return false, err
	}
	was := f.seen
	f.seen = s
	c := callcenter.Change{State: *shown(&s, end, f.cfg.Store.Now())}
	say := func(kind callcenter.ChangeKind) {
		if err == nil {
			c.Kind = kind
			err = f.tell(c)
		}
	}
	if first {
		say(callcenter.Snapshot)
	} else if !sameLines(was.Transcript, s.Transcript) {
		say(callcenter.Corrected)
	}
	switch {
	case s.Status == session.CallEnded:
		say(callcenter.Over)
		return true, err
	case !first && (s.Status != was.Status || s.AnsweredBy != was.AnsweredBy):
		say(callcenter.StatusChanged)
	}
	return false, err
}

func sameLines(a, b []history.TranscriptLine) bool {
	return slices.EqualFunc(a, b, func(x, y history.TranscriptLine) bool { return lineOf(x) == lineOf(y) })
}

// read tells what the feed brings.
func (f *follower) read(ctx context.Context, sub *bus.Subscription) (over bool, err error) {
	for {
		quiet, cancel := context.WithTimeout(ctx, aliveEvery)
		in, err := sub.Next(quiet)
		cancel()
		switch {
		case err == nil:
			over, err = f.hear(ctx, in)
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case errors.Is(err, context.DeadlineExceeded):
			if over, err = f.resume(ctx, false); err == nil && !over {
				err = f.tell(callcenter.Change{Kind: callcenter.Alive})
			}
		}
		if over || err != nil {
			return over, err
		}
	}
}

// hear tells one message; after a gap, or when an earlier line has changed, it looks
// at the whole.
func (f *follower) hear(ctx context.Context, in bus.Message) (over bool, err error) {
	var h happened
	if json.Unmarshal(in.Payload, &h) != nil || h.Account != f.account {
		return false, nil
	}
	if h.Speaking != nil && h.Seq == f.seen.Seq { // of a later one the line is about to come
		return false, f.tell(callcenter.Change{Kind: callcenter.Speaking, Line: lineOf(*h.Speaking)})
	}
	if h.Speaking != nil || h.Seq <= f.seen.Seq {
		return false, nil
	}
	if h.Seq != f.seen.Seq+1 || h.Corrected || h.Status == session.CallEnded {
		return f.resume(ctx, false)
	}
	f.seen.Seq, f.seen.StartedAt = h.Seq, h.StartedAt
	c := callcenter.Change{Kind: callcenter.LineAdded}
	switch {
	case h.Function != nil:
		c.Kind, c.Function = callcenter.FunctionCalled, calls.Function(h.Function)
	case h.Line != nil:
		f.seen.Transcript = append(f.seen.Transcript, *h.Line)
		c.Line = lineOf(*h.Line)
	case h.AnsweredBy != "":
		c.Kind, f.seen.AnsweredBy = callcenter.StatusChanged, h.AnsweredBy
	default:
		c.Kind, f.seen.Status = callcenter.StatusChanged, h.Status
	}
	c.State = *shown(&f.seen, ending{}, f.cfg.Store.Now())
	return false, f.tell(c)
}
