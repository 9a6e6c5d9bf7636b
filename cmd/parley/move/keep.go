package move

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"parley/cmd/parley/conversation"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/journal"
	"parley/pipeline/session"
	"parley/pipeline/turn"
	"parley/sip"
	"parley/store/passports"
)

// documentVersion is of what is stored of a call. A node takes over no call whose document is of another version.
const documentVersion = 1

// document is what is stored of a call for the case that this node dies.
type document struct {
	Version  int
	Began    conversation.Began
	Rate     media.Rate
	Passport sip.Passport
	Books    *session.Moved        // without what was said, which is stored as it happens
	At       *journal.Conversation // the last moment between two turns
}

const (
	// keepEvery is how often it is looked which calls are further than what is stored of them.
	keepEvery = 250 * time.Millisecond
	// signalEvery is how often it is looked whether the signalling of one is.
	signalEvery = 5 * time.Second
	// sweepEvery is how often documents are looked for that their nodes have not dropped.
	sweepEvery  = 10 * time.Minute
	keepTimeout = 3 * time.Second
)

// written is what is stored of a call; it belongs to the goroutine of Keep.
type written struct {
	events   int    // that the conversation had
	passport []byte // of its leg; nil: nothing is stored
	at       *journal.Conversation
	looked   time.Time
}

// Keep stores what another node needs to go on with the calls of this one, as often as they are further, until ctx ends. A nil Mover has
// no calls.
func (m *Mover) Keep(ctx context.Context) error {
	if m == nil {
		<-ctx.Done()
		return nil
	}
	calls := map[*conversation.Movable]*written{}
	var swept time.Time
	return isolate.Every(ctx, keepEvery, func() {
		isolate.Do("cmd/parley/move/keep", nil, func() {
			if now := time.Now(); now.Sub(swept) >= sweepEvery {
				swept = now
				m.logged(ctx, "sweep", m.cfg.Passports.Sweep(ctx))
			}
			m.keep(ctx, calls)
			m.drop(ctx, calls)
			m.kept.Set(float64(len(calls)))
		})
	})
}

// keep stores the calls that are further.
func (m *Mover) keep(ctx context.Context, calls map[*conversation.Movable]*written) {
	var list []passports.Passport
	var of []func()
	for _, c := range m.cfg.Maker.Movable() {
		w := calls[c]
		if w == nil {
			w = &written{}
		}
		next, text := m.further(ctx, c, w)
		if text == nil {
			continue
		}
		list = append(list, passports.Passport{Account: c.Session.Account(), Session: c.Session.ID(), Text: text})
		of = append(of, func() {
			if w.passport == nil {
				m.cfg.Maker.Rescuable(c)
			}
			*w = next
			calls[c] = w
		})
	}
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	err := m.cfg.Passports.Save(ctx, m.cfg.Life, list)
	if err == nil {
		for _, f := range of {
			f()
		}
	}
	m.logged(ctx, "save", err)
}

// further returns what is to be stored of a call; nil: what is stored is enough, or the call is in the middle of a turn, of which the
// words are stored as they are said.
func (m *Mover) further(ctx context.Context, c *conversation.Movable, w *written) (next written, text []byte) {
	next = written{events: c.Session.Happened(), looked: w.looked}
	now := time.Now()
	if w.passport != nil && w.events == next.events && now.Sub(w.looked) < signalEvery {
		return next, nil
	}
	doc := document{Version: documentVersion, Began: c.Began, Rate: c.Leg.Format().In}
	var err error
	if doc.Passport, err = c.Leg.Passport(); err != nil {
		return next, nil
	}
	if doc.Books, err = c.Session.Progress(); err != nil {
		return next, nil
	}
	signalling, err := json.Marshal(doc.Passport)
	if err != nil {
		return next, nil
	}
	w.looked, next.looked = now, now
	if w.events == next.events && bytes.Equal(w.passport, signalling) {
		return next, nil
	}
	at, rests := c.Call.Pause(ctx)
	switch {
	case rests:
	case w.at == nil: // as if nothing had been said yet: what was is stored
		at = &journal.Conversation{State: turn.State{Phase: turn.Listening}, Language: c.Began.Language}
	case bytes.Equal(w.passport, signalling):
		w.looked = time.Time{} // again, until it rests
		return next, nil
	default:
		at, next.events = w.at, w.events
	}
	doc.At, next.at, next.passport = at, at, signalling
	if text, err = json.Marshal(doc); err != nil {
		m.cfg.Log.Error("what another node needs of a call cannot be stored", "session", c.Session.ID(), "err", err)
	}
	return next, text
}

// drop deletes what is stored of calls that are over.
func (m *Mover) drop(ctx context.Context, calls map[*conversation.Movable]*written) {
	live := map[*conversation.Movable]bool{}
	for _, c := range m.cfg.Maker.Movable() {
		live[c] = true
	}
	var over []string
	for c := range calls {
		if !live[c] {
			if !c.Session.Released() { // else it is another node's, which stores it
				over = append(over, c.Session.ID())
			}
			delete(calls, c)
		}
	}
	if len(over) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	m.logged(ctx, "drop", m.cfg.Passports.Drop(ctx, over)) // else they are swept
}

func (m *Mover) logged(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		m.cfg.Log.Debug("what other nodes need of calls", "not done", what, "err", err)
	}
}
