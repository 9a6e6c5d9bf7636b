package cluster

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"parley/store"
	"parley/store/bus"
)

// command is what one node asks of another, as JSON.
type command struct {
	Do      string `json:"do"` // "hangup" or "show"
	Account string `json:"account"`
	Call    string `json:"call"`
	// Seal proves that the sender has the master key: reaching the bus is not enough to hang up
	// or read calls. It binds the command to one life of the receiving node. A repeated command
	// is harmless, because a call ends once.
	Seal []byte `json:"seal,omitempty"`
}

// sealFor is the seal that a command for a node must have.
func (m *Member) sealFor(to store.Node, c command) []byte {
	text, _ := json.Marshal([]string{to.ID, strconv.FormatInt(to.Epoch, 10), c.Do, c.Account, c.Call}) // texts always can be
	h := hmac.New(sha256.New, []byte(m.cfg.Key))
	h.Write(text)
	return h.Sum(nil)
}

// request asks another node to do something.
func (m *Member) request(ctx context.Context, to store.Node, c command) (answer []byte, err error) {
	c.Seal = m.sealFor(to, c)
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return m.cfg.Bus.Request(ctx, to, text)
}

// done answers it.
type done struct {
	Done bool `json:"done"`
}

// obey does what another node asks.
func (m *Member) obey(in bus.Message) {
	var c command
	err := json.Unmarshal(in.Payload, &c)
	var result any
	switch {
	case err == nil && !hmac.Equal(c.Seal, m.sealFor(m.cfg.Life, c)):
		m.cfg.Log.Warn("a command without the seal of this server's master key came over the bus; do all nodes have the same PARLEY_SECRET?", "do", c.Do)
		return
	case err == nil && c.Do == "hangup":
		result = done{m.cfg.Calls.Hangup(c.Account, c.Call)}
	case err == nil && c.Do == "show":
		result, _ = m.cfg.Calls.Snapshot(c.Account, c.Call) // without a status when it is not here
	default:
		m.cfg.Log.Warn("a command of another node was not understood", "err", err)
		return // it runs into its timeout
	}
	answer, err := json.Marshal(result)
	if err == nil {
		err = in.Answer(answer)
	}
	if err != nil {
		m.cfg.Log.Debug("a command of another node was not answered", "err", err)
	}
}

// hangupPatience is how long an owner that does not hear a hang-up has to find it in the
// database: a checkpoint and a close. hangupLook is how often that is looked for.
const (
	hangupPatience = 8 * time.Second
	hangupLook     = 250 * time.Millisecond
)

// Hangup ends a call of the account, on any node: at once, or at the next checkpoint of its
// owner, within 5 s, when the message is lost. It returns nil for a call that has ended,
// store.ErrNotFound when the account has no such call, and store.ErrUnavailable when the owner
// neither answers nor has ended the call; other nodes end the calls of a dead owner within 20 s.
func (m *Member) Hangup(ctx context.Context, account, call string) error {
	// The database first: what follows may be lost.
	owner, err := m.cfg.Ledger.RequestHangup(ctx, account, call)
	switch {
	case err != nil:
		return err
	case owner == store.Node{}:
		return nil
	case owner == m.cfg.Life:
		m.cfg.Calls.Hangup(account, call)
		return nil
	}
	if _, err = m.request(ctx, owner, command{Do: "hangup", Account: account, Call: call}); err == nil {
		return nil
	}
	m.cfg.Log.Info("the owner of a call did not get its hang-up, and reads it at the next checkpoint", "session", call, "node", owner.ID, "err", err)
	return m.awaitEnd(ctx, account, call)
}

// awaitEnd waits until a call that another node ends has ended.
func (m *Member) awaitEnd(ctx context.Context, account, call string) error {
	look := time.NewTicker(hangupLook)
	defer look.Stop()
	for patience := time.After(hangupPatience); ; {
		owner, err := m.cfg.Ledger.CallOwner(ctx, account, call)
		if err != nil || owner == (store.Node{}) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-patience:
			return fmt.Errorf("hang up: the node that has the call does not answer: %w", store.ErrUnavailable)
		case <-look.C:
		}
	}
}
