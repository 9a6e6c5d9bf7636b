package move

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"parley/inference"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/journal"
	"parley/sip/transport"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// A node has died. Of its calls the node that fences it off asks each living one to take over a part (Rescue); those take what is stored
// of a call, make it theirs in the books, ask the far end to go on with them, and speak.

// orphan is a call whose node is dead.
type orphan struct {
	Account, Session string
	Node             store.Node // its last life
}

// errVersion refuses what another release has stored.
var errVersion = errors.New("what is stored of the call is of another release")

// rescueTimeout is how long one node may take to take a call over: what is asked of engines and of the far end, see transferPatience.
const rescueTimeout = offerPatience + transferPatience

// Rescue has this node and the others take over the calls of a dead node that can be, and returns what is left of lost. Its node is
// fenced off. A nil Mover takes none.
func (m *Mover) Rescue(ctx context.Context, lost []ledger.Lost) (left []ledger.Lost) {
	if m == nil || len(lost) == 0 {
		return lost
	}
	ids := make([]string, len(lost))
	for i, l := range lost {
		ids[i] = l.ID
	}
	has, err := m.cfg.Passports.Has(ctx, ids)
	if err != nil {
		m.cfg.Log.Warn("the calls of a dead node cannot be taken over", "err", err)
		return lost
	}
	peers, err := m.cfg.Store.Peers(ctx, m.cfg.Life)
	if err != nil {
		m.cfg.Log.Warn("no other node is known that could take calls over", "err", err)
	}
	peers = slices.DeleteFunc(peers, func(p store.Peer) bool { return p.ID == lost[0].Node.ID }) // which may not be silent yet
	peers = append(peers, store.Peer{Node: m.cfg.Life, Calls: m.cfg.Calls.Live()})
	taken := make([]bool, len(lost))
	slots := make(chan struct{}, together)
	var all sync.WaitGroup
	for i, l := range lost {
		if !has[l.ID] {
			continue
		}
		slots <- struct{}{}
		all.Add(1)
		isolate.Go("cmd/parley/move/rescue", nil, func() {
			nodes := m.byRoom(slices.Clone(peers))
			if l.Node.ID == m.cfg.Life.ID { // the far end knows this address
				i := slices.IndexFunc(nodes, func(p store.Peer) bool { return p.Node == m.cfg.Life })
				nodes[0], nodes[i] = nodes[i], nodes[0]
			}
			taken[i] = m.rescue(ctx, orphan{l.Account, l.ID, l.Node}, nodes)
		}, func() { <-slots }, all.Done)
	}
	all.Wait()
	for i, l := range lost {
		if !taken[i] {
			left = append(left, l)
		}
	}
	return left
}

// rescue asks nodes to take a call over until one does.
func (m *Mover) rescue(ctx context.Context, o orphan, nodes []store.Peer) bool {
	for _, to := range nodes {
		asking, cancel := context.WithTimeout(ctx, rescueTimeout)
		var err error
		if to.Node == m.cfg.Life {
			err = m.takeOver(asking, o)
		} else {
			err = m.cfg.Peers.Post(asking, to, aboutRescue, o, nil)
		}
		cancel()
		if err == nil {
			return true
		}
		m.cfg.Log.Info("a node does not take a call of a dead one over", "session", o.Session, "node", to.ID, "err", err)
	}
	return false
}

// rescued takes a call over that another node asks this one to.
func (m *Mover) rescued(ctx context.Context, body []byte) (any, error) {
	var o orphan
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, err
	}
	return nil, m.takeOver(ctx, o)
}

// takeOver takes a call over. Where it returns an error the call is still the dead node's, or over.
func (m *Mover) takeOver(ctx context.Context, o orphan) error {
	if err := m.cfg.Calls.Room(); err != nil {
		return err
	}
	begun := time.Now()
	text, err := m.cfg.Passports.Take(ctx, o.Account, o.Session)
	if err != nil {
		return err
	}
	var d document
	switch err := json.Unmarshal(text, &d); {
	case err != nil:
		return err
	case d.Version != documentVersion:
		return errVersion
	}
	d.Books.From = o.Node
	rested := d.At.Heard
	d.At.Lost, d.At.Heard = true, max(rested, media.FromDuration(m.cfg.Store.Now().Sub(d.Books.StartedAt)))
	a := newArrival(m)
	a.offer = offer{Account: o.Account, Session: o.Session, Began: d.Began, Rate: d.Rate, At: d.At}
	a.rested, a.lost = rested, true
	t := &transfer{Session: o.Session, Passport: d.Passport, Books: d.Books, At: d.At}
	if wire, err := m.cfg.Maker.History.Wire(ctx, o.Account, o.Session); err == nil {
		t.Signalling, t.Forgotten = signallingOf(wire), wire.Dropped
	}
	a.given <- t
	isolate.Go("cmd/parley/move/rescuer", a.broke, a.run, a.leave)
	if err := a.wait(ctx, a.prepared); err != nil {
		return err
	}
	err = a.wait(ctx, a.taken)
	outcome := "taken"
	if err != nil {
		outcome = "lost"
		m.cfg.Log.Warn("a call of a dead node ends", "session", o.Session, "err", err)
	} else {
		m.gap.Observe(time.Since(begun).Seconds())
	}
	m.rescues.WithLabelValues(outcome).Inc()
	return nil // it is this node's, also where its far end does not go on
}

// wait waits for an outcome of the arrival.
func (a *arrival) wait(ctx context.Context, outcome chan error) error {
	select {
	case err := <-outcome:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// signallingOf is the signalling of a call as it is stored.
func signallingOf(w *history.Wire) (list []transport.TraceMessage) {
	for _, m := range w.SIP {
		list = append(list, transport.TraceMessage{At: m.At, Sent: m.Sent, Transport: m.Transport, From: m.From, To: m.To, Text: m.Text})
	}
	return list
}

// inherit takes the books of the dead node over, and what was said since the call rested.
func (a *arrival) inherit(ctx context.Context, t *transfer) error {
	said, err := a.session.TakeOver(ctx, t.Books)
	if err == nil {
		since(t.At, a.rested, &said)
	}
	return err
}

// since adds to how far a call was, when it had heard so much, what is stored of what followed.
func since(at *journal.Conversation, rested media.Time, said *history.Conversation) {
	type entry struct {
		ms int64
		inference.Message
	}
	var entries []entry
	for _, l := range said.Transcript {
		role := inference.RoleUser
		switch {
		case l.AtMS <= rested.Milliseconds(), l.Role == "supervisor":
			continue
		case l.Role == "agent":
			role = inference.RoleAgent
		}
		entries = append(entries, entry{l.AtMS, inference.Message{Role: role, Text: l.Text, Interrupted: l.Interruption != nil}})
	}
	for _, f := range said.Functions {
		if f.BeganMS <= rested.Milliseconds() {
			continue
		}
		entries = append(entries, entry{f.BeganMS, inference.Message{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: f.ID, Name: f.Name, Arguments: f.Arguments}}}})
		if f.Outcome != "" {
			if at.Results == nil {
				at.Results = map[string]string{}
			}
			at.Results[f.ID] = f.Result
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.ms, b.ms) })
	for _, e := range entries {
		at.Entries = append(at.Entries, e.Message)
	}
	at.Number += len(entries)
	at.Begun += lostReplies // the dead node may have begun more than are stored, and their numbers are in use
}

// lostReplies is more replies than can have been begun since a call rested.
const lostReplies = 1000

// end ends a call that was taken over, and whose far end does not go on here.
func (a *arrival) end() {
	a.giveUp(nil)
	ctx, cancel := context.WithTimeout(context.Background(), askPatience)
	defer cancel()
	lost, err := a.mover.cfg.Ledger.CloseLost(ctx, []ledger.Lost{{Account: a.Account, ID: a.Session, Node: a.mover.cfg.Life}})
	a.mover.cfg.Calls.Lost(lost)
	if err != nil {
		a.mover.cfg.Log.Error("a call of a dead node is not closed yet", "session", a.Session, "err", err)
	}
}
