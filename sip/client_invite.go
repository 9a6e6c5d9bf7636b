package sip

import (
	"context"
	"errors"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/transport"
)

// clientInvite is an INVITE of ours until its final response. It belongs to the goroutine of
// Dial, and to that of cancel once the call is given up.
type clientInvite struct {
	call *call // its methods wait for its goroutine, and do nothing once it is over

	req   *gosip.Request
	tx    *gosip.ClientTx
	tried dialog.AuthAttempts
	state clientState
	heard progress
}

// clientState is that of the INVITE's transaction.
type clientState uint8

const (
	clientSent       clientState = iota // no response came
	clientProceeding                    // a provisional response came: the callee may be canceled
	clientCanceled                      // it is
)

// progress is what the callee's side has said at most.
type progress uint8

const (
	heardNothing  progress = iota
	heardProgress          // 183: carriers send it before they know whether they can place the call
	heardRinging           // 180: a phone rings
)

// await reads responses until the final one.
func (i *clientInvite) await(ctx context.Context, p placement) (*Leg, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(i.call.gone, func() { stop(i.call.undone(ErrClosed)) })() // one of its goroutines may have panicked
	patient := ctx
	if p.patience > 0 {
		var done context.CancelFunc
		patient, done = context.WithTimeoutCause(ctx, p.patience, transport.ErrSilent)
		defer done()
	}
	for {
		res, err := i.call.ua.layer.Next(patient, i.tx)
		switch {
		case err != nil && patient.Err() != nil:
			return nil, i.giveUp(context.Cause(patient))
		case errors.Is(err, ErrClosed):
			i.call.drop()
			return nil, ErrClosed
		case err != nil:
			i.tx.Terminate()
			i.call.drop()
			return nil, &NotAnswered{Rang: i.rang(), Err: err}
		case res.IsProvisional():
			i.provisional(res, p.ringing)
		case res.IsSuccess():
			return i.call.answer(ctx, i.req, res, i.rang())
		case i.again(ctx, res):
		default:
			i.call.drop()
			return nil, notAnswered(res, i.heard)
		}
		if i.known() {
			patient = ctx
		}
	}
}

// again repeats an INVITE, in a transaction of its own (RFC 3261 section 22.2, RFC 4028 section
// 7.3); false: the response is the last word.
func (i *clientInvite) again(ctx context.Context, res *gosip.Response) bool {
	req := i.call.again(i.req, res, &i.tried)
	if req == nil {
		return false
	}
	tx, err := i.call.ua.layer.Begin(ctx, req)
	if err != nil {
		return false
	}
	i.req, i.tx, i.state = req, tx, clientSent
	return true
}

func (i *clientInvite) provisional(res *gosip.Response, ringing func(int)) {
	i.state = clientProceeding
	if res.StatusCode == 100 {
		return
	}
	i.call.provisional(res)
	switch res.StatusCode {
	case 180:
		i.heard = heardRinging
	case 183:
		i.heard = max(i.heard, heardProgress)
	default:
		return
	}
	if ringing != nil {
		ringing(res.StatusCode)
	}
}

// rang says whether 180 or 183 came.
func (i *clientInvite) rang() bool { return i.heard >= heardProgress }

// known says whether the server has answered anything, so the callee may have heard of the call.
func (i *clientInvite) known() bool {
	return i.state != clientSent || i.tried != (dialog.AuthAttempts{})
}

// crossing is how long, in T1, the end of a call that we give up waits for an answer
// that may have crossed its CANCEL: 2 s.
const crossing = 4

// giveUp ends the INVITE for a cause and returns its outcome: an answer that was
// already on its way is paid for by us, and must not count as none.
func (i *clientInvite) giveUp(cause error) *NotAnswered {
	known := i.known()
	answered := make(chan struct{})
	ended := make(chan struct{})
	// Giving up may take long; the call's goroutine, which Run waits for, lasts until then.
	isolate.Go("sip/cancel", nil, func() { i.cancel(answered) }, i.quit, i.call.drop, func() { close(ended) })
	switch {
	case !known && errors.Is(cause, context.DeadlineExceeded):
		return &NotAnswered{Err: transport.ErrSilent} // the server had no time to answer
	case !known:
		return &NotAnswered{Err: cause}
	}
	if crossed(answered, ended, crossing*i.call.ua.cfg.T1) {
		cause = errAfterCancel
	}
	return &NotAnswered{Rang: i.rang(), Err: cause}
}

// crossed says whether a call was answered before it ended, or patience did.
func crossed(answered, ended <-chan struct{}, patience time.Duration) bool {
	select {
	case <-answered:
	case <-ended:
	case <-time.After(patience):
	}
	select {
	case <-answered: // also when it has ended since
		return true
	default:
		return false
	}
}

// cancel gives up (RFC 3261 section 9.1): a CANCEL, but not before the first
// provisional response; and when a 200 has crossed it, ACK and BYE, or the
// callee would hold a call without a caller. answered is closed then, before them.
func (i *clientInvite) cancel(answered chan<- struct{}) {
	ctx, stop := context.WithTimeout(context.Background(), 64*i.call.ua.cfg.T1)
	defer stop()
	for {
		if i.state == clientProceeding {
			i.state = clientCanceled
			i.call.cancel(i.cancelRequest())
		}
		res, err := i.call.ua.layer.Next(ctx, i.tx)
		switch {
		case err == nil && res.IsProvisional():
			if i.state == clientSent {
				i.state = clientProceeding
			}
			continue
		case err == nil && res.IsSuccess():
			close(answered)
			i.call.refuseAnswer(res)
		}
		return
	}
}

// quit is the end of cancel, also after a panic: the callee's phone must not ring on, and
// an answer that still comes is an unmatched one.
func (i *clientInvite) quit() {
	if i.state == clientProceeding {
		i.call.ua.layer.Write(i.cancelRequest())
	}
	i.tx.Terminate()
}

// cancelRequest is the CANCEL of the INVITE: the same branch, so that the far
// end finds what it is to cancel.
func (i *clientInvite) cancelRequest() *gosip.Request {
	req := gosip.NewRequest(gosip.CANCEL, *i.req.Recipient.Clone())
	req.AppendHeader(i.req.Via().Clone())
	for _, name := range []string{"Route", "From", "To", "Call-ID"} {
		gosip.CopyHeaders(name, i.req, req)
	}
	forwards := gosip.MaxForwardsHeader(70)
	req.AppendHeader(&gosip.CSeqHeader{SeqNo: i.req.CSeq().SeqNo, MethodName: gosip.CANCEL})
	req.AppendHeader(&forwards)
	req.SetBody(nil)
	req.SetTransport(i.req.Transport())
	req.SetDestination(i.req.Destination())
	req.Laddr = i.req.Laddr
	return req
}
