package sip

import (
	"context"
	"errors"
	"math/rand/v2"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
	"parley/sip/sdp"
)

// The methods of this file run on the call's goroutine and answer the INVITE
// that began it.

// setState leaves the undecided state.
func (c *call) setState(s state) {
	if c.state == early {
		c.invite.decided()
	}
	c.state = s
}

// canceled says whether the caller has given up.
func (c *call) canceled() bool {
	return errors.Is(context.Cause(c.invite.ctx), errCanceled)
}

// send sends a response to the INVITE. A CANCEL may be faster: the transaction
// has then sent 487 by itself, and must be given one again, because it keeps
// the last response it saw for repetitions.
func (c *call) send(res *gosip.Response) error {
	if c.canceled() {
		return errCanceled
	}
	err := c.invite.tx.Respond(res)
	if errors.Is(err, gosip.ErrTransactionCanceled) {
		_ = c.invite.tx.Respond(response(c.invite.req, 487, "", c.dialog.LocalTag))
		c.invite.cancel(errCanceled)
		return errCanceled
	}
	return err
}

// decline refuses the call with a final response, once.
func (c *call) decline(code int, phrase string, extra ...gosip.Header) {
	if c.state != early {
		return
	}
	_ = c.send(response(c.invite.req, code, phrase, c.dialog.LocalTag, extra...))
	c.ua.counters.refused.Add(1)
	c.ua.refused(c.invite.req, code)
	c.setState(over)
}

// prepare reserves what an answer needs: ports and an answer to their offer.
func (c *call) prepare() error {
	if c.state != early {
		return ErrDecided
	}
	if err := context.Cause(c.invite.ctx); err != nil {
		return err
	}
	if c.pair != nil {
		return nil
	}
	pair, err := c.ua.cfg.Ports.Open()
	if err != nil {
		c.decline(503, "", retryAfter(retryOverload))
		return &Refused{Code: 503, Err: err}
	}
	c.pair = pair
	c.sdp = sdp.New(c.described(rand.Uint64() >> 2))
	body := c.invite.req.Body()
	if len(body) == 0 {
		return nil
	}
	c.invite.answer, c.invite.media, err = c.sdp.Answer(body)
	if err != nil {
		code := offerCode(err)
		c.decline(code, "")
		return &Refused{Code: code, Err: err}
	}
	return nil
}

// offerCode is how an offer that cannot be answered is refused.
func offerCode(err error) int {
	switch {
	case errors.Is(err, sdp.ErrNotAcceptable):
		return 488
	case errors.Is(err, sdp.ErrMalformed):
		return 400
	}
	return 500
}

// ring sends 180.
func (c *call) ring() error {
	if err := c.prepare(); err != nil {
		return err
	}
	if c.rel != nil {
		return nil // it rings, reliably
	}
	res := response(c.invite.req, 180, "", c.dialog.LocalTag, c.dialog.Contact(), dialog.Allow())
	if dialog.Listed(c.invite.req, "100rel", "require") {
		return c.reliably(res)
	}
	return c.send(res)
}

// accept sends 200. What comes of it arrives on the channel: nil when the far end
// has confirmed it and there is a leg.
func (c *call) accept() (<-chan error, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	k := &confirm{tx: c.invite.tx, seq: c.invite.req.CSeq().SeqNo, first: true, answered: make(chan error, 1), media: c.invite.media}
	body := c.invite.answer
	if body == nil && !c.rel.answerNegotiated() {
		var err error
		if body, err = c.sdp.Offer(sdp.SendRecv); err != nil {
			c.decline(500, "")
			return nil, err
		}
		k.offer = true
	}
	c.learn(c.invite.req)
	discard(c.pair.RTP)
	k.res = c.success(c.invite.req, body, c.granted(c.invite.req)...)
	if err := c.send(k.res); err != nil {
		c.setState(over)
		return nil, err
	}
	c.setState(up)
	c.sent(k)
	if !k.offer {
		c.awaitMedia(k)
	}
	return k.answered, nil
}
