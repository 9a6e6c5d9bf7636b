package node

import (
	"context"
	"errors"
	"time"

	"parley/media/isolate"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/transport"
	"parley/store"
	"parley/store/history"
)

// wireLog is how a telephone call went on the wire, to be kept with it.
type wireLog struct {
	node    *Node
	session *session.Session
	trace   *transport.Trace
	leg     *sip.Leg // nil: it was never answered
}

// Bounds of storing it: the call is over by then, and nobody waits.
const (
	wireOver    = 40 * time.Second // for the last of the signalling; its own bound is 32 s
	wireStore   = 5 * time.Second
	wireRetry   = time.Second
	wireRetries = 3
)

// wire begins to follow a call that was admitted; keep must be called at its end.
// Close waits for what is followed.
func (n *Node) wire(session *session.Session, trace *transport.Trace) *wireLog {
	n.wires.Add(1)
	return &wireLog{node: n, session: session, trace: trace}
}

// keep stores the wire of a call that is over, when its last messages are through.
// It does not wait for that.
func (w *wireLog) keep() {
	isolate.Go("cmd/parley/node/wire", nil, func() { // ends within the bounds above; Close waits for it
		patience := time.NewTimer(wireOver)
		defer patience.Stop()
		select {
		case <-w.trace.Over():
		case <-patience.C:
		}
		w.store()
	}, w.node.wires.Done)
}

func (w *wireLog) store() {
	var kept history.Wire
	if w.leg != nil {
		stats := w.leg.Stats()
		report := stats.Quality()
		kept.Quality = &report
	}
	messages, dropped := w.trace.Messages()
	kept.Dropped = dropped
	for _, m := range messages {
		kept.SIP = append(kept.SIP, history.SIPMessage{At: m.At.UTC(), Sent: m.Sent, Transport: m.Transport, From: m.From, To: m.To, Text: m.Text})
	}
	var err error
	for range wireRetries {
		ctx, cancel := context.WithTimeout(context.Background(), wireStore)
		err = history.New(w.node.db).SaveWire(ctx, w.session.Account(), w.session.ID(), kept)
		cancel()
		if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
			break
		}
		time.Sleep(wireRetry)
	}
	if err != nil {
		w.node.log.Warn("the quality and the signalling of a call were not stored", "session", w.session.ID(), "err", err)
	}
}
