package conversation

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"parley/media/isolate"
	"parley/media/stream"
	"parley/pipeline/session"
	"parley/sip/transport"
	"parley/store"
	"parley/store/history"
)

// Wire is how a call goes on the wire: the signalling of a telephone call, and the quality of the audio of any call
// over RTP. It is stored while the call lasts (Maker.KeepWires), and once more after it (Keep).
type Wire struct {
	Trace *transport.Trace // nil: it has no signalling

	maker   *Maker
	session *session.Session
	leg     atomic.Pointer[audio] // nil: it was not answered so far
	stored  stored
}

// audio is an answered call.
type audio interface{ Stats() stream.Stats }

// stored is what was stored of a call in progress; it belongs to the goroutine of KeepWires.
type stored struct {
	at       time.Time // zero: nothing was
	messages int       // with those that are no longer kept
	quality  bool
}

// Bounds of storing it.
const (
	// WiresEvery is how often the wires of calls in progress are stored, those that have changed: with a node that
	// dies no more is lost.
	WiresEvery = 5 * time.Second
	// qualityEvery is how often one is stored of which only the quality changes, as it does with each packet.
	qualityEvery = time.Minute
	maxWires     = 100 // at once

	wireOver    = 40 * time.Second // for the last of the signalling; its own bound is 32 s
	wireStore   = 5 * time.Second
	wireRetry   = time.Second
	wireRetries = 3
)

// wires are those of the calls in progress.
type wires struct {
	mu   sync.Mutex
	live map[*Wire]struct{}
	// storing is held while some are stored, so that none of them is stored after the last time.
	storing sync.Mutex
}

// Wire begins to follow a call that was admitted; trace is nil for one without signalling. Keep must be called at its
// end.
func (m *Maker) Wire(session *session.Session, trace *transport.Trace) *Wire {
	w := &Wire{maker: m, session: session, Trace: trace}
	m.saving.Add(1)
	m.wires.mu.Lock()
	defer m.wires.mu.Unlock()
	if m.wires.live == nil {
		m.wires.live = map[*Wire]struct{}{}
	}
	m.wires.live[w] = struct{}{}
	return w
}

// Answered says that the call has audio now.
func (w *Wire) Answered(leg audio) { w.leg.Store(&leg) }

// Keep stores the wire of a call that is over, when its last messages are through. It does not
// wait for that; Maker.Wait does. Of a call that goes on at another node, that one stores it.
func (w *Wire) Keep() {
	if w.session.Released() {
		w.leave()
		w.maker.saving.Done()
		return
	}
	isolate.Go("cmd/parley/conversation/wire", nil, func() { // ends within the bounds above
		if w.Trace != nil {
			patience := time.NewTimer(wireOver)
			defer patience.Stop()
			select {
			case <-w.Trace.Over():
			case <-patience.C:
			}
		}
		w.leave()
		w.maker.save(w)
	}, w.leave, w.maker.saving.Done)
}

// leave has it stored as one in progress no more.
func (w *Wire) leave() {
	m := &w.maker.wires
	m.storing.Lock() // what is stored now may have it
	defer m.storing.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, w)
}

// seen is the wire by now, and how many messages there were.
func (w *Wire) seen() (kept history.Wire, messages int) {
	if leg := w.leg.Load(); leg != nil {
		stats := (*leg).Stats()
		report := stats.Quality()
		kept.Quality = &report
	}
	if w.Trace == nil {
		return kept, 0
	}
	list, dropped := w.Trace.Messages()
	kept.Dropped = dropped
	for _, m := range list {
		kept.SIP = append(kept.SIP, history.SIPMessage{At: m.At.UTC(), Sent: m.Sent, Transport: m.Transport, From: m.From, To: m.To, Text: m.Text})
	}
	return kept, len(list) + dropped
}

func (m *Maker) save(w *Wire) {
	kept, _ := w.seen()
	var err error
	for range wireRetries {
		ctx, cancel := context.WithTimeout(context.Background(), wireStore)
		err = m.History.SaveWire(ctx, w.session.Account(), w.session.ID(), kept)
		cancel()
		if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
			break
		}
		time.Sleep(wireRetry)
	}
	if err != nil {
		m.Log.Warn("the quality and the signalling of a call were not stored", "session", w.session.ID(), "err", err)
	}
}

// KeepWires stores the wires of calls in progress, every so often those that have changed, until ctx ends.
func (m *Maker) KeepWires(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			isolate.Do("cmd/parley/conversation/wires", nil, func() { m.keepLive(ctx, now) })
		}
	}
}

// keepLive stores those that have changed. What the database does not take now it gets in a later round.
func (m *Maker) keepLive(ctx context.Context, now time.Time) {
	m.wires.storing.Lock()
	defer m.wires.storing.Unlock()
	var batch []history.CallWire
	var of []func()
	flush := func() bool {
		ctx, cancel := context.WithTimeout(ctx, wireStore)
		defer cancel()
		if err := m.History.SaveWires(ctx, batch); err != nil {
			m.Log.Warn("the quality and the signalling of calls in progress are not stored now", "calls", len(batch), "err", err)
			return false
		}
		for _, done := range of {
			done()
		}
		batch, of = nil, nil
		return true
	}
	for _, w := range m.wires.list() {
		kept, messages := w.seen()
		next := stored{at: now, messages: messages, quality: kept.Quality != nil}
		if was := w.stored; was.messages == next.messages && was.quality == next.quality && (!next.quality || now.Sub(was.at) < qualityEvery) {
			continue
		}
		batch = append(batch, history.CallWire{Account: w.session.Account(), Call: w.session.ID(), Wire: kept})
		of = append(of, func() { w.stored = next })
		if len(batch) == maxWires && !flush() {
			return
		}
	}
	if len(batch) > 0 {
		flush()
	}
}

func (m *wires) list() []*Wire {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]*Wire, 0, len(m.live))
	for w := range m.live {
		list = append(list, w)
	}
	return list
}
