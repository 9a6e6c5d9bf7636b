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

// crossing is how long, in T1, the end of a call that we give up waits for an answer
// that may have crossed its CANCEL: 2 s.
const crossing = 4

// giveUp ends the attempt for a cause and returns its outcome: an answer that was
// already on its way is paid for by us, and must not count as none.
func (a *attempt) giveUp(cause error) *NotAnswered {
	known := a.state != clientSent || a.tried != (dialog.AuthAttempts{})
	answered := make(chan struct{})
	ended := make(chan struct{})
	// Giving up may take long; the call's goroutine, which Run waits for, lasts until then.
	isolate.Go("sip/cancel", nil, func() { a.cancel(answered) }, a.quit, a.drop, func() { close(ended) })
	switch {
	case !known && errors.Is(cause, context.DeadlineExceeded):
		return &NotAnswered{Err: transport.ErrSilent} // the server had no time to answer
	case !known:
		return &NotAnswered{Err: cause}
	}
	patience := time.NewTimer(crossing * a.ua.cfg.T1)
	defer patience.Stop()
	select {
	case <-answered:
		return &NotAnswered{Rang: a.rang(), Err: errAfterCancel}
	case <-ended:
	case <-patience.C:
	}
	return &NotAnswered{Rang: a.rang(), Err: cause}
}

// cancel gives up (RFC 3261 section 9.1): a CANCEL, but not before the first
// provisional response; and when a 200 has crossed it, ACK and BYE, or the
// callee would hold a call without a caller. answered is closed then, before them;
// it may be nil.
func (a *attempt) cancel(answered chan<- struct{}) {
	timeout := time.NewTimer(64 * a.ua.cfg.T1)
	defer timeout.Stop()
	look := time.NewTicker(a.ua.cfg.T1)
	defer look.Stop()
	for {
		if a.state == clientProceeding {
			a.state = clientCanceled
			req, done := a.cancelRequest(), false
			// The call's goroutine still counts, so Run has not stopped waiting.
			a.ua.work.Add(1)
			isolate.Go("sip/cancel-request", nil, func() {
				ctx, cancel := context.WithTimeout(context.Background(), 64*a.ua.cfg.T1)
				defer cancel()
				_, _ = a.ua.layer.Do(ctx, a.call.dialog.By, 0, req)
				done = true
			}, func() {
				if !done { // after a panic
					a.ua.layer.Write(req)
				}
			}, a.ua.work.Done)
		}
		select {
		case res := <-a.tx.Responses():
			switch {
			case res.IsProvisional():
				if a.state == clientSent {
					a.state = clientProceeding
				}
			case res.IsSuccess():
				if answered != nil {
					close(answered)
				}
				var seq uint32
				a.call.do(func() { seq = a.call.dialog.LocalSeq })
				a.ua.hangupOn(res, a.call, seq)
				return
			default:
				return
			}
		case <-a.tx.Done():
			return
		case <-look.C:
			if transport.ConnectionClosed(a.tx.Connection()) {
				return
			}
		case <-a.ua.layer.Closed():
			return
		case <-timeout.C:
			return
		}
	}
}

// quit is the end of cancel, also after a panic: the callee's phone must not ring on, and
// an answer that still comes is an unmatched one.
func (a *attempt) quit() {
	if a.state == clientProceeding {
		a.ua.layer.Write(a.cancelRequest())
	}
	a.tx.Terminate()
}

// cancelRequest is the CANCEL of the INVITE: the same branch, so that the far
// end finds what it is to cancel.
func (a *attempt) cancelRequest() *gosip.Request {
	req := gosip.NewRequest(gosip.CANCEL, *a.req.Recipient.Clone())
	req.AppendHeader(a.req.Via().Clone())
	for _, name := range []string{"Route", "From", "To", "Call-ID"} {
		gosip.CopyHeaders(name, a.req, req)
	}
	forwards := gosip.MaxForwardsHeader(70)
	req.AppendHeader(&gosip.CSeqHeader{SeqNo: a.req.CSeq().SeqNo, MethodName: gosip.CANCEL})
	req.AppendHeader(&forwards)
	req.SetBody(nil)
	req.SetTransport(a.req.Transport())
	req.SetDestination(a.req.Destination())
	req.Laddr = a.req.Laddr
	return req
}
