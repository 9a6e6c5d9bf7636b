package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"

	"parley/api"
)

const (
	aboutAlive = "alive"
	// heldFor is how long a node holds the request of one that watches it, which then asks again.
	heldFor = 10 * time.Minute
)

// What a request that was held is answered with.
const (
	answerAgain  = "again"
	answerLeaves = "leaves"
)

// errYounger says that a younger life than the one that was asked answers at its address.
var errYounger = errors.New("a younger life answers")

// Depart says that this node leaves in good order: those that watch it stop. Call it when the HTTP side stops, any number of times,
// from any goroutine.
func (m *Member) Depart() { m.depart() }

// hold holds the request of a node that watches this one.
func (m *Member) hold(w http.ResponseWriter, r *http.Request) {
	v, sealed := m.unsealed(r.Header.Get(peerHeader))
	if sealed && v.Epoch < m.cfg.Life.Epoch { // the life that it asks is not the one here
		w.Header().Set(peerHeader, m.word(vouched{Node: m.cfg.Life.ID, Epoch: m.cfg.Life.Epoch, Until: m.cfg.Store.Now().Add(peerValid)}))
		w.WriteHeader(http.StatusGone)
		return
	}
	if _, ok := m.said(r); !ok || v.Sum == nil {
		api.WriteError(w, api.ErrNotFound)
		return
	}
	w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(w).Flush(); err != nil {
		return
	}
	over := time.NewTimer(heldFor)
	defer over.Stop()
	answer := answerAgain
	select {
	case <-r.Context().Done():
		return
	case <-m.departs:
		answer = answerLeaves
	case <-over.C:
	}
	_, _ = io.WriteString(w, answer) // who asked may have gone
}

// askToHold has a node hold a request, and returns with the answer, or when the request breaks or is not held.
func (m *Member) askToHold(ctx context.Context, w *watched) (answer string, err error) {
	w.held = false
	connected := func(i httptrace.GotConnInfo) { w.at = i.Conn.RemoteAddr().String() }
	r, err := m.question(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: connected}), w.Peer, aboutAlive, nil)
	if err != nil {
		return "", err
	}
	res, err := m.holding.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusGone:
		if v, ok := m.unsealed(res.Header.Get(peerHeader)); ok && v.Epoch > w.Epoch && m.cfg.Store.Now().Before(v.Until) {
			return "", errYounger
		}
		fallthrough
	default:
		return "", fmt.Errorf("a node answered %d", res.StatusCode)
	}
	w.held = true
	if !w.seen {
		if w.seen, err = m.connected(ctx, w); err != nil {
			return "", err
		}
		m.cfg.Log.Info("another node is watched", "node", w.ID, "at", w.at, "connections_seen", w.seen)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, int64(len(answerLeaves))))
	return string(text), err
}

// connected says whether the database has connections of a node's process; see store.DB.NodeConnected.
func (m *Member) connected(ctx context.Context, w *watched) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	return m.cfg.Store.NodeConnected(ctx, w.Node)
}
