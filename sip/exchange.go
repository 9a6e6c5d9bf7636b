package sip

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
)

// query sends a request other than ACK and CANCEL; then runs on the call's
// goroutine with it as it was sent last and with what came of it, unless the
// call is over by then.
func (c *call) query(req *gosip.Request, then func(*gosip.Request, *gosip.Response, error)) {
	c.ua.work.Add(1) // the call's goroutine still counts, so Run has not stopped waiting
	isolate.Go("sip/query", c.lost, func() {
		sent, res, err := c.ask(req)
		c.do(func() { then(sent, res, err) })
	}, c.ua.work.Done)
}

// ask sends an in-dialog request other than ACK, meets the challenges that come,
// and returns the request as it was sent last with the final response. A
// challenge that cannot be met is returned with an error that wraps ErrAuth. Not
// from the call's own goroutine.
func (c *call) ask(req *gosip.Request) (*gosip.Request, *gosip.Response, error) {
	var d dialog // as it is now
	if !c.do(func() { d = c.dialog }) {
		return req, nil, ErrOver
	}
	again := func(detour bool) (next *gosip.Request) {
		c.do(func() {
			next = c.dialog.again(req)
			if detour {
				c.ua.back(&c.dialog, next)
			}
		})
		return next
	}
	var r round
	for {
		sent, res, err := c.ua.deliver(&d, c.over, req, again)
		if req = sent; d.detour {
			c.do(func() { c.dialog.detour = true })
		}
		if err != nil || !challenged(res) {
			return req, res, err
		}
		if !d.vouched(res) {
			return req, res, ErrAuth
		}
		if err := d.auth.meet(res, &r); err != nil {
			return req, res, err
		}
		next := again(d.detour)
		if next == nil {
			return req, res, ErrAuth
		}
		req = next
	}
}

// detourAfter is how long, in T1, nobody may answer where the route of a dialog leads,
// before its request goes to where the far end's messages come from: 2 s, in which it was
// sent three times. Contacts behind address translators, and names of other networks, are
// what the route often leads to.
const detourAfter = 4

// deliver sends a request of the dialog d, which is the caller's copy, and waits for its
// final response. Where nobody answers it sends the request that again makes of it to
// d.peer, and notes in d.detour that somebody answered there. It returns the request as it
// was sent last.
func (u *UserAgent) deliver(d *dialog, over <-chan struct{}, req *gosip.Request, again func(detour bool) *gosip.Request) (*gosip.Request, *gosip.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 64*u.cfg.T1)
	defer cancel()
	if req.Destination() == d.peer.String() {
		res, err := u.transact(ctx, d.line, over, 0, req)
		return req, res, err
	}
	patience := detourAfter * u.cfg.T1
	err := u.settleName(ctx, patience, d, req)
	if err == nil {
		var res *gosip.Response
		if res, err = u.transact(ctx, d.line, over, patience, req); err == nil {
			return req, res, nil
		}
	}
	if errors.Is(err, ErrOver) || errors.Is(err, ErrClosed) || ctx.Err() != nil {
		return req, nil, err
	}
	next := again(true)
	if next == nil {
		return req, nil, err
	}
	res, err := u.transact(ctx, d.line, over, 0, next)
	d.detour = err == nil
	return next, res, err
}

// settleName looks up the host that a request goes to, if that is a name, and says whether
// it may go there.
func (u *UserAgent) settleName(ctx context.Context, patience time.Duration, d *dialog, req *gosip.Request) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	at, err := u.locateHop(ctx, d, req.Destination(), req.Transport())
	if err != nil {
		return err
	}
	if d.forbids(at.Addr().Unmap(), req.Transport()) {
		return errInside
	}
	if !strings.EqualFold(req.Transport(), "TLS") { // a certificate is for the name
		req.SetDestination(at.String())
	}
	return nil
}

// errInside is why a request is not sent where its route leads, see dialog.forbids.
var errInside = errors.New("the far end names a host inside of our network")

// exchange sends a request on a trunk, nil for none, and waits for its final response.
// That of an INVITE stays with its transaction, which confirms it again if it must.
func (u *UserAgent) exchange(l *line, req *gosip.Request) (*gosip.Response, error) {
	return u.exchangeUntil(l, nil, req)
}

// exchangeUntil is exchange for as long as somebody cares.
func (u *UserAgent) exchangeUntil(l *line, over <-chan struct{}, req *gosip.Request) (*gosip.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 64*u.cfg.T1)
	defer cancel()
	return u.transact(ctx, l, over, 0, req)
}

// transact is exchange until ctx ends, or over is closed. Above 0, patience bounds the
// wait for any response at all, with errSilent.
func (u *UserAgent) transact(ctx context.Context, l *line, over <-chan struct{}, patience time.Duration, req *gosip.Request) (*gosip.Response, error) {
	var silent <-chan time.Time
	if patience > 0 {
		t := time.NewTimer(patience)
		defer t.Stop()
		silent = t.C
	}
	way, stop := ctx, func() {}
	if patience > 0 {
		way, stop = context.WithTimeout(ctx, patience)
	}
	err := u.connect(way, l, req)
	stop()
	if err != nil {
		return nil, err
	}
	if to, err := netip.ParseAddrPort(req.Destination()); err == nil {
		u.expect(to.Addr().Unmap()) // who is asked is heard
		defer u.forget(to.Addr().Unmap())
	}
	tx, err := u.txl.Request(ctx, req)
	if err != nil {
		return nil, err
	}
	kept := false
	defer func() {
		if !kept {
			tx.Terminate()
		}
	}()
	if req.Method == gosip.INVITE {
		tx.OnRetransmission(u.stray)
	}
	look := time.NewTicker(u.cfg.T1)
	defer look.Stop()
	for {
		select {
		case res := <-tx.Responses():
			if !res.IsProvisional() {
				kept = req.Method == gosip.INVITE
				return res, nil
			}
			silent = nil
		case <-silent:
			return nil, errSilent
		case <-tx.Done():
			return nil, tx.Err()
		case <-look.C:
			if closed(tx.Connection()) {
				return nil, errClosed
			}
		case <-u.kill:
			return nil, ErrClosed
		case <-over:
			return nil, ErrOver
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
