package mediastream

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"parley/api"
	"parley/media"
	"parley/media/isolate"
)

const (
	// streamPatience is how long a carrier may take to open the socket of a call that was answered, and beginPatience to begin the
	// stream on it.
	streamPatience = 15 * time.Second
	beginPatience  = 5 * time.Second
)

// errSignature refuses a question that the trunk's carrier has not signed.
var errSignature = errors.New("mediastream: the question is not signed by the carrier")

// ErrDecided is the error of a call that was answered, refused or given up before.
var ErrDecided = errors.New("mediastream: the call is decided")

// Call is one that a carrier asks about. Its methods may be called from any goroutine.
type Call struct {
	Asked
	trunk   *Trunk
	dialect dialect
	token   string
	socket  string // its address
	after   string // where the carrier asks when it is closed
	claimed bool   // the socket was opened; the handler's lock guards it
	onward  onward

	once    sync.Once
	decided chan string   // capacity 1: the carrier's document
	legs    chan *Leg     // capacity 1
	gone    chan struct{} // closed when its socket was there and is not any more
	over    chan struct{} // closed when Handler.Take is done with it
}

// Trunk is the line on which it comes.
func (c *Call) Trunk() *Trunk { return c.trunk }

// Rate is that of its audio.
func (c *Call) Rate() media.Rate { return c.dialect.rate() }

// name names it among all calls.
func (c *Call) name() string { return c.trunk.ID + " " + c.Asked.ID }

// decide gives the carrier its document, unless it has one.
func (c *Call) decide(document func() string) error {
	err := ErrDecided
	c.once.Do(func() {
		c.decided <- document()
		err = nil
	})
	return err
}

// Answer has the carrier bring the audio, and waits until it does, or ctx ends.
func (c *Call) Answer(ctx context.Context) (*Leg, error) {
	if err := c.decide(func() string { return c.dialect.connect(c.socket, c.after, &c.Asked) }); err != nil {
		return nil, err
	}
	t := time.NewTimer(streamPatience)
	defer t.Stop()
	select {
	case leg := <-c.legs:
		return leg, nil
	case <-c.gone:
	case <-t.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return nil, errGaveUp
}

// errGaveUp is how a call ends that was answered and never came.
var errGaveUp = &media.Ended{Reason: media.UserHangup, Detail: "canceled"}

// Refuse refuses the call; busy: because all lines are. It does nothing once the call is decided.
func (c *Call) Refuse(busy bool) { _ = c.decide(func() string { return c.dialect.refuse(busy) }) }

// Redirect has the carrier call a number in place of us, at its customer's cost.
func (c *Call) Redirect(number string) error {
	return c.decide(func() string { return c.dialect.redirect(number, &c.Asked) })
}

// ask answers a carrier's question.
func (h *Handler) ask(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return api.ReadError(err)
	}
	trunk, err := h.Trunk(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	d, origin := dialects[trunk.Carrier], h.origin(r)
	asked, err := d.ask(h.question(r, trunk, body))
	if err == nil && asked.ID == "" {
		err = api.Bad("the question names no call")
	}
	if err != nil {
		api.LogOf(r.Context(), h.Log).Warn("a carrier's question was refused", "trunk", trunk.ID, "carrier", trunk.Carrier, "err", err)
		return api.ErrBadRequest
	}
	asked.From = cmp.Or(asked.From, Anonymous)
	c := &Call{Asked: *asked, trunk: trunk, dialect: d, decided: make(chan string, 1), legs: make(chan *Leg, 1), gone: make(chan struct{}), over: make(chan struct{})}
	if !h.wait(c) {
		return api.Bad("the call was asked about before")
	}
	c.socket = "ws" + strings.TrimPrefix(origin, "http") + socket + c.token
	c.after = origin + Path + trunk.ID + "/" + c.token
	ctx, giveUp := context.WithCancelCause(context.WithoutCancel(r.Context()))
	isolate.Go("api/mediastream/call", nil, func() { h.Take(ctx, c) }, func() { c.Refuse(false) }, func() { h.forget(c) }, func() { giveUp(nil) }, func() { close(c.over) })
	select {
	case document := <-c.decided:
		w.Header().Set("Content-Type", d.document())
		_, _ = io.WriteString(w, document) // a carrier that has gone does not open the socket
	case <-r.Context().Done():
		giveUp(errGaveUp)
	}
	return nil
}

// carry holds the socket of a call as long as that lasts.
func (c *Call) carry(ctx context.Context, leg *Leg) {
	t := time.NewTimer(beginPatience)
	defer t.Stop()
	select {
	case <-leg.began:
		c.legs <- leg
		<-c.over
	case <-ctx.Done():
	case <-t.C:
	}
}
