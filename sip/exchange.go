package sip

import (
	"context"
	"net/netip"

	gosip "github.com/emiago/sipgo/sip"
)

// query sends a request other than ACK and CANCEL; then runs on the call's
// goroutine with it as it was sent last and with what came of it, unless the
// call is over by then.
func (c *call) query(req *gosip.Request, then func(*gosip.Request, *gosip.Response, error)) {
	c.ua.work.Go(func() { // the call's goroutine still counts, so Run has not stopped waiting
		sent, res, err := c.ask(req)
		c.do(func() { then(sent, res, err) })
	})
}

// ask sends an in-dialog request other than ACK, meets the challenges that come,
// and returns the request as it was sent last with the final response. A
// challenge that cannot be met is returned with an error that wraps ErrAuth. Not
// from the call's own goroutine.
func (c *call) ask(req *gosip.Request) (*gosip.Request, *gosip.Response, error) {
	var r round
	for {
		res, err := c.ua.exchangeUntil(c.dialog.line, c.over, req)
		if err != nil || !challenged(res) {
			return req, res, err
		}
		if err := c.dialog.auth.meet(res, &r); err != nil {
			return req, res, err
		}
		if !c.do(func() { req = c.dialog.again(req) }) {
			return req, res, ErrAuth
		}
	}
}

// exchange sends a request on a trunk, nil for none, and waits for its final response.
// That of an INVITE stays with its transaction, which confirms it again if it must.
func (u *UserAgent) exchange(l *line, req *gosip.Request) (*gosip.Response, error) {
	return u.exchangeUntil(l, nil, req)
}

// exchangeUntil is exchange for as long as somebody cares.
func (u *UserAgent) exchangeUntil(l *line, over <-chan struct{}, req *gosip.Request) (*gosip.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 64*u.cfg.T1)
	defer cancel()
	return u.transact(ctx, l, over, req)
}

// transact is exchange until ctx ends, or over is closed.
func (u *UserAgent) transact(ctx context.Context, l *line, over <-chan struct{}, req *gosip.Request) (*gosip.Response, error) {
	if err := u.connect(ctx, l, req); err != nil {
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
	for {
		select {
		case res := <-tx.Responses():
			if !res.IsProvisional() {
				kept = req.Method == gosip.INVITE
				return res, nil
			}
		case <-tx.Done():
			return nil, tx.Err()
		case <-u.kill:
			return nil, ErrClosed
		case <-over:
			return nil, ErrOver
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
