package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"parley/api"
	"parley/store"
)

// One node asks another for something by a POST below postPath, sealed as what it sends on, and its body with it: what is too large
// for the bus.

const (
	postPath = "/peer/"
	maxPost  = 8 << 20 // bytes
)

// Answer answers what other nodes ask about, with what is written as JSON. An error is sent as its text, and the node that asks gets a
// *Refusal.
type Answer func(ctx context.Context, body []byte) (any, error)

// Answers sets how what nodes ask about is answered. Call it before the HTTP side serves.
func (m *Member) Answers(about string, f Answer) {
	if m.answers == nil {
		m.answers = map[string]Answer{}
	}
	m.answers[about] = f
}

// Refusal is why another node does not do what it was asked for.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return "refused: " + r.Reason }

// question is a sealed request to a node.
func (m *Member) question(ctx context.Context, to store.Peer, about string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.scheme()+"://"+to.Advertised+postPath+about, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	sum := sha256.Sum256(body)
	r.Header.Set(peerHeader, m.word(vouched{Node: to.ID, Epoch: to.Epoch, Method: r.Method, URI: r.URL.RequestURI(), Until: m.cfg.Store.Now().Add(peerValid), Sum: sum[:]}))
	return r, nil
}

// Post asks a node for something, and reads its answer into out unless that is nil. A *Refusal says that the node did nothing; after
// any other error nobody knows.
func (m *Member) Post(ctx context.Context, to store.Peer, about string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := m.question(ctx, to, about, body)
	if err != nil {
		return err
	}
	res, err := m.way.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxPost))
	switch {
	case err != nil:
		return err
	case res.StatusCode == http.StatusConflict:
		return &Refusal{string(answer)}
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("a node answered %d", res.StatusCode)
	case out == nil:
		return nil
	}
	return json.Unmarshal(answer, out)
}

// posted answers what another node asks. Who is no node finds nothing here.
func (m *Member) posted(w http.ResponseWriter, r *http.Request) {
	about := strings.TrimPrefix(r.URL.Path, postPath)
	if about == aboutAlive {
		m.hold(w, r)
		return
	}
	answer := m.answers[about]
	v, ok := m.said(r)
	if !ok || answer == nil { // of a stranger nothing is read
		api.WriteError(w, api.ErrNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPost))
	if sum := sha256.Sum256(body); err != nil || !bytes.Equal(v.Sum, sum[:]) {
		api.WriteError(w, api.ErrNotFound)
		return
	}
	out, err := answer(r.Context(), body)
	var text []byte
	if err == nil {
		text, err = json.Marshal(out)
	}
	if err != nil {
		w.WriteHeader(http.StatusConflict)
		text = []byte(err.Error())
	}
	if _, err := w.Write(text); err != nil && !errors.Is(err, context.Canceled) {
		m.cfg.Log.Debug("a question of another node was not answered", "err", err)
	}
}
