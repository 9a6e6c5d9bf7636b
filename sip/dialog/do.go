package dialog

import (
	"context"
	"errors"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/transport"
)

// Owner runs a function on the goroutine that owns a dialog, and waits for it. False says that
// the dialog is over and the function did not run.
type Owner func(func(*Dialog)) bool

// Own is the Owner of a dialog that belongs to the calling goroutine.
func (d *Dialog) Own() Owner {
	return func(f func(*Dialog)) bool { f(d); return true }
}

// detourAfter is how long, in T1, a request waits for an answer where the route of a dialog leads,
// before its request goes to where the far end's messages come from: 2 s, in which it was
// sent three times. Contacts behind address translators, and names of other networks, are
// what the route often leads to.
const detourAfter = 4

// errInside is why a request is not sent where its route leads, see Dialog.Forbids.
var errInside = errors.New("the far end names a host inside of our network")

// Do sends a request of the dialog, other than ACK and CANCEL, answers the challenges that
// come, and returns the request as it was sent last with its final response. It ends with ctx,
// or 64*T1 after the request was sent. A challenge that cannot be answered is returned with an
// error that wraps ErrAuth. Not from the goroutine that owns the dialog, unless by Own.
func (own Owner) Do(ctx context.Context, req *gosip.Request) (*gosip.Request, *gosip.Response, error) {
	var d Dialog // as it is now
	if !own(func(now *Dialog) { d = *now }) {
		return req, nil, ErrOver
	}
	var attempts AuthAttempts
	for {
		sent, res, err := own.deliver(ctx, &d, req)
		req = sent
		if err != nil || !Challenged(res) {
			return req, res, err
		}
		if !d.vouched(res) {
			return req, res, ErrAuth
		}
		if err := d.Auth.HandleChallenge(res, &attempts); err != nil {
			return req, res, err
		}
		next := own.again(req, d.Detour)
		if next == nil {
			return req, res, ErrAuth
		}
		req = next
	}
}

// again is Dialog.Again, aimed at the far end's peer if there is a detour; nil: the dialog is over.
func (own Owner) again(req *gosip.Request, detour bool) (next *gosip.Request) {
	own(func(d *Dialog) {
		next = d.Again(req)
		if detour {
			d.AimAtPeer(next)
		}
	})
	return next
}

// deliver sends a request of the dialog d, which is the caller's copy, and waits for its
// final response. Without an answer it sends the request again to d.Peer, and records the
// detour if an answer comes from there. It returns the request as it was sent last.
func (own Owner) deliver(ctx context.Context, d *Dialog, req *gosip.Request) (*gosip.Request, *gosip.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, 64*d.T1)
	defer cancel()
	if req.Destination() == d.Peer.String() {
		res, err := d.Layer.Do(ctx, d.By, 0, req)
		return req, res, err
	}
	patience := detourAfter * d.T1
	err := d.resolveHop(ctx, patience, req)
	if err == nil {
		var res *gosip.Response
		if res, err = d.Layer.Do(ctx, d.By, patience, req); err == nil {
			return req, res, nil
		}
	}
	if errors.Is(err, transport.ErrClosed) || ctx.Err() != nil {
		return req, nil, err
	}
	next := own.again(req, true)
	if next == nil {
		return req, nil, err
	}
	res, err := d.Layer.Do(ctx, d.By, 0, next)
	if d.Detour = err == nil; d.Detour {
		own(func(now *Dialog) { now.Detour = true })
	}
	return next, res, err
}

// resolveHop looks up the host that a request goes to, if that is a name, and says whether
// it may go there.
func (d *Dialog) resolveHop(ctx context.Context, patience time.Duration, req *gosip.Request) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	at, err := d.locate(ctx, req.Destination(), req.Transport())
	if err != nil {
		return err
	}
	if d.Forbids(at.Addr().Unmap(), req.Transport()) {
		return errInside
	}
	if !strings.EqualFold(req.Transport(), "TLS") { // a certificate is for the name
		req.SetDestination(at.String())
	}
	return nil
}
