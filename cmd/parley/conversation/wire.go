package conversation

import (
	"context"
	"errors"
	"time"

	"parley/api/webrtc"
	"parley/media/isolate"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/transport"
	"parley/store"
	"parley/store/history"
)

// Wire is how a telephone call went on the wire: its signalling and the quality of its audio.
type Wire struct {
	Trace *transport.Trace
	Leg   *sip.Leg // nil: it was never answered

	maker   *Maker
	session *session.Session
}

// Bounds of storing it, after the call.
const (
	wireOver    = 40 * time.Second // for the last of the signalling; its own bound is 32 s
	wireStore   = 5 * time.Second
	wireRetry   = time.Second
	wireRetries = 3
)

// Wire begins to follow a call that was admitted. Keep must be called at its end.
func (m *Maker) Wire(session *session.Session, trace *transport.Trace) *Wire {
	m.saving.Add(1)
	return &Wire{maker: m, session: session, Trace: trace}
}

// Keep stores the wire of a call that is over, when its last messages are through. It does not
// wait for that; Maker.Wait does.
func (w *Wire) Keep() {
	isolate.Go("cmd/parley/conversation/wire", nil, func() { // ends within the bounds above
		patience := time.NewTimer(wireOver)
		defer patience.Stop()
		select {
		case <-w.Trace.Over():
		case <-patience.C:
		}
		w.store()
	}, w.maker.saving.Done)
}

func (w *Wire) store() {
	var kept history.Wire
	if w.Leg != nil {
		stats := w.Leg.Stats()
		report := stats.Quality()
		kept.Quality = &report
	}
	messages, dropped := w.Trace.Messages()
	kept.Dropped = dropped
	for _, m := range messages {
		kept.SIP = append(kept.SIP, history.SIPMessage{At: m.At.UTC(), Sent: m.Sent, Transport: m.Transport, From: m.From, To: m.To, Text: m.Text})
	}
	w.maker.save(w.session, kept)
}

// KeepQuality stores how a session over WebRTC sounded. It does not wait for that; Wait does.
func (m *Maker) KeepQuality(session *session.Session, leg *webrtc.Leg) {
	stats := leg.Stats()
	report := stats.Quality()
	m.Metrics.Quality(session.ID(), report)
	m.saving.Add(1)
	isolate.Go("cmd/parley/conversation/quality", nil, func() { m.save(session, history.Wire{Quality: &report}) }, m.saving.Done)
}

func (m *Maker) save(session *session.Session, kept history.Wire) {
	var err error
	for range wireRetries {
		ctx, cancel := context.WithTimeout(context.Background(), wireStore)
		err = m.History.SaveWire(ctx, session.Account(), session.ID(), kept)
		cancel()
		if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
			break
		}
		time.Sleep(wireRetry)
	}
	if err != nil {
		m.Log.Warn("the quality and the signalling of a call were not stored", "session", session.ID(), "err", err)
	}
}
