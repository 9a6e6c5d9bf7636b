package node

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"parley/media/isolate"
	"parley/store"
	"parley/store/bus"
)

// busMouth is what a node has to say to the others. It is the manager's announcer.
type busMouth struct {
	accounts chan string
	news     chan happened
	alive    chan struct{}
}

// maxAnnouncements wait to be said: more than the accounts that reach their floor in
// one checkpoint of a full node. What does not fit is not said; the other nodes
// find it out by their own checkpoints, 5 s later at most.
const maxAnnouncements = 1024

// busRetry is the pause before a subscription that failed is made again.
const busRetry = time.Second

// Goodbye implements session.Announcer.
func (m busMouth) Goodbye(account string) {
	select {
	case m.accounts <- account:
	default:
	}
}

// Alive implements session.Announcer.
func (m busMouth) Alive() {
	select {
	case m.alive <- struct{}{}:
	default:
	}
}

// frozen has an account's sessions end everywhere: a payment of it is disputed. It is
// a hint, as what is said on the bus is; the database has the dispute.
func (n *Node) frozen(account string) {
	n.manager.Goodbye(account)
	n.mouth.Goodbye(account)
}

// command is what one node asks of another, as JSON.
type command struct {
	Do      string `json:"do"` // "hangup" or "show"
	Account string `json:"account"`
	Call    string `json:"call"`
	// Seal proves that whoever asks has the master key, so that nobody who merely reaches the
	// bus hangs up calls or reads them. It binds the command to the life of the node that it
	// is for; a call ends once, so one that is sent again does no harm.
	Seal []byte `json:"seal,omitempty"`
}

// sealFor is the seal that a command for a node must have.
func (n *Node) sealFor(to store.Node, c command) []byte {
	text, _ := json.Marshal([]string{to.ID, strconv.FormatInt(to.Epoch, 10), c.Do, c.Account, c.Call}) // texts always can be
	h := hmac.New(sha256.New, []byte(n.busKey))
	h.Write(text)
	return h.Sum(nil)
}

// request asks another node to do something.
func (n *Node) request(ctx context.Context, to store.Node, c command) (answer []byte, err error) {
	c.Seal = n.sealFor(to, c)
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return n.bus.Request(ctx, to, text)
}

// done answers it.
type done struct {
	Done bool `json:"done"`
}

// openBus connects the node with the others. The manager exists, and does not run yet.
func (n *Node) openBus(ctx context.Context) (err error) {
	n.bus, err = bus.Open(ctx, bus.Config{Name: n.cfg.Node, URL: n.cfg.NATSURL, Cluster: n.cfg.Cluster, Log: n.log})
	if err == nil && n.bus.RouteAddr() != "" {
		n.log.Info("listening", "for", "other nodes", "addr", n.bus.RouteAddr())
	}
	n.mouth = busMouth{make(chan string, maxAnnouncements), make(chan happened, maxNews), make(chan struct{}, 1)}
	n.manager.Announce(n.mouth)
	n.manager.Watch(n.mouth)
	return err
}

// runBus says and hears what nodes tell each other until ctx ends.
func (n *Node) runBus(ctx context.Context) error {
	commands, err := bus.Commands(n.life)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Add(5)
	isolate.Keep(ctx, "cmd/parley/node/announce", func() { n.announce(ctx) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/node/news", func() { n.publishNews(ctx) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/node/goodbyes", func() { n.listen(ctx, bus.Goodbyes(), func(m bus.Message) { n.manager.Goodbye(m.About) }) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/node/commands", func() { n.listen(ctx, commands, n.obey) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/node/heartbeats", func() { n.listen(ctx, bus.Heartbeats(), n.hearAlive) }, wg.Done)
	wg.Wait()
	return nil
}

// announce says what the manager has to say.
func (n *Node) announce(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.mouth.alive:
			n.sayAlive()
		case account := <-n.mouth.accounts:
			s, err := bus.Goodbye(account)
			if err == nil {
				err = n.bus.Publish(s, nil)
			}
			if err != nil {
				n.log.Debug("other nodes were not told of an account that may not go on", "account", account, "err", err)
			}
		}
	}
}

// listen hands messages about s to f until ctx ends. Whoever was too slow begins
// again: what was lost is in the database.
func (n *Node) listen(ctx context.Context, s bus.Subject, f func(bus.Message)) {
	for ctx.Err() == nil {
		err := n.listenOnce(ctx, s, f)
		if ctx.Err() == nil {
			n.log.Warn("messages of other nodes were lost", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(busRetry):
		}
	}
}

func (n *Node) listenOnce(ctx context.Context, s bus.Subject, f func(bus.Message)) error {
	sub, err := n.bus.Subscribe(ctx, s)
	if err != nil {
		return err
	}
	defer sub.Close()
	for {
		m, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		f(m)
	}
}

// obey does what another node asks.
func (n *Node) obey(m bus.Message) {
	var c command
	err := json.Unmarshal(m.Payload, &c)
	var result any
	switch {
	case err == nil && !hmac.Equal(c.Seal, n.sealFor(n.life, c)):
		n.log.Warn("a command without the seal of this server's master key came over the bus; do all nodes have the same PARLEY_SECRET?", "do", c.Do)
		return
	case err == nil && c.Do == "hangup":
		result = done{n.manager.Hangup(c.Account, c.Call)}
	case err == nil && c.Do == "show":
		result, _ = n.manager.Snapshot(c.Account, c.Call) // without a status when it is not here
	default:
		n.log.Warn("a command of another node was not understood", "err", err)
		return // it runs into its timeout
	}
	answer, err := json.Marshal(result)
	if err == nil {
		err = m.Answer(answer)
	}
	if err != nil {
		n.log.Debug("a command of another node was not answered", "err", err)
	}
}

// hangupPatience is how long an owner that does not hear a hang-up has to find it in the
// database: a checkpoint and a close. hangupLook is how often that is looked for.
const (
	hangupPatience = 8 * time.Second
	hangupLook     = 250 * time.Millisecond
)

// Hangup ends a call of the account, on whichever node it is: at once, or within
// 5 s, at the next checkpoint of its owner, when that does not hear. A call that
// has ended is no error. store.ErrNotFound: the account has no such call.
// store.ErrUnavailable: its owner does not answer, nor has it ended the call; when the
// owner is gone, others end the call within 20 s.
func (n *Node) Hangup(ctx context.Context, account, call string) error {
	// The database first: what follows may be lost.
	owner, err := n.db.RequestHangup(ctx, account, call, n.db.Now())
	switch {
	case err != nil:
		return err
	case owner == store.Node{}:
		return nil
	case owner == n.life:
		n.manager.Hangup(account, call)
		return nil
	}
	if _, err = n.request(ctx, owner, command{Do: "hangup", Account: account, Call: call}); err == nil {
		return nil
	}
	n.log.Info("the owner of a call did not hear that it is to be hung up; its next checkpoint tells it", "session", call, "node", owner.ID, "err", err)
	return n.awaitEnd(ctx, account, call)
}

// awaitEnd waits until a call that somebody else ends has ended.
func (n *Node) awaitEnd(ctx context.Context, account, call string) error {
	look := time.NewTicker(hangupLook)
	defer look.Stop()
	for patience := time.After(hangupPatience); ; {
		owner, err := n.db.CallOwner(ctx, account, call)
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
