package sip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip/header"
	"parley/sip/mediasession"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// Incoming is a call that rings here. Its fields are for reading. Its methods
// belong to the goroutine of Config.OnCall, which decides once: Reject or
// Answer.
type Incoming struct {
	CallID string
	// User is what was dialled: the Request-URI's user, else To's. Called is the number that it is: a trunk's dial
	// plan has made E.164 of it, and of the numbers of From, To and Asserted, where it knows how.
	User, Called string
	From         header.Identity // who the caller says to be
	To           header.Identity // whom the caller meant to call; Called decides
	Asserted     header.Identity // what P-Asserted-Identity says; zero when there is none
	Trusted      bool            // a trunk vouches for Asserted, for the verstat of From where that is zero, and for the attestation
	Headers      header.Fields   // what else the INVITE says
	Source       netip.AddrPort  // where the INVITE came from
	Transport    string          // "UDP", "TCP", "TLS" or transport.OverWebSocket
	Trunk        string          // the name of the one it came on; empty: its source is allowed without one
	Account      string          // whose trunk that is; empty: the operator's, or none
	// Extension is the agent that answers User on this trunk where Called is nobody's number (trunk.Extension);
	// empty: there is none.
	Extension string

	call *call
}

// arrivedOn says on which trunk the call has come, and reads its numbers by the trunk's dial plan.
func (in *Incoming) arrivedOn(l *trunk.Trunk) {
	in.Trunk, in.Account, in.Trusted = l.Name, l.Account, !l.Has(trunk.DistrustIdentity)
	in.From.Number, in.Asserted.Number = l.Plan.Calling(in.From.Number), l.Plan.Calling(in.Asserted.Number)
	for i := range in.Headers.Diversions {
		by := &in.Headers.Diversions[i].By
		by.Number = l.Plan.Calling(by.Number)
	}
	for i := range in.Headers.History {
		to := &in.Headers.History[i].To
		to.Number = l.Plan.Calling(to.Number)
	}
	meant := in.To.Number
	in.To.Number = l.Plan.Called(meant)
	in.Extension, _ = l.Plan.Extension(in.User)
	in.Called = l.Plan.Called(in.User)
	if in.Extension != "" || !l.Has(trunk.Register) || in.User != l.ContactUser() || slices.Contains(l.Numbers, in.Called) {
		return
	}
	// A registrar sends calls to our Contact, so that the number stands in To, and for a line with one
	// number perhaps nowhere.
	in.User, in.Called = meant, in.To.Number
	if len(l.Numbers) == 1 {
		in.Called = l.Numbers[0]
	}
	in.Extension, _ = l.Plan.Extension(meant)
}

// errCanceled is the cause of an Incoming's context when the caller gave up.
var errCanceled = &media.Ended{Reason: media.UserHangup, Detail: DetailCanceled}

// ErrDecided is returned when a call was refused, answered or given up before.
var ErrDecided = errors.New("sip: the call is decided")

// Refused says that Ring or Answer could not go on and has refused the call.
type Refused struct {
	Code int // that the caller got
	Err  error
}

func (e *Refused) Error() string { return fmt.Sprintf("sip: refused with %d: %v", e.Code, e.Err) }
func (e *Refused) Unwrap() error { return e.Err }

// Reject refuses the call. An empty phrase takes the code's usual one; retry,
// when above 0, tells the carrier when to come again, in whole seconds. It does
// nothing once the call is decided.
func (in *Incoming) Reject(code int, phrase string, retry time.Duration) {
	in.call.do(func() {
		var extra []gosip.Header
		if retry > 0 {
			extra = append(extra, header.RetryAfter(int((retry+time.Second-1)/time.Second)))
		}
		in.call.decline(code, phrase, extra...)
	})
}

// Ring tells the caller that it rings here (180). It reserves all that Answer
// needs first, so that what rings can also be answered: a *Refused says that
// it cannot be, and that the caller has the answer (488 without a common codec,
// 503 without a free port).
func (in *Incoming) Ring() error {
	err := error(ErrDecided)
	in.call.do(func() { err = in.call.ring() })
	if errors.Is(err, ErrDecided) {
		err = in.call.undone(err)
	}
	return err
}

// Rate is that of the audio of the leg to come, as far as the caller's offer says it and Ring or Progress has taken that;
// 8 kHz before.
func (in *Incoming) Rate() (rate media.Rate) {
	rate = media.Rate8k
	in.call.do(func() {
		if in.call.server.answer != nil {
			rate = in.call.server.media.Codec.Rate()
		}
	})
	return rate
}

// ErrNoOffer says that a caller has not said where early media goes, or cannot be reached before the answer.
var ErrNoOffer = errors.New("sip: the INVITE has no offer")

// Early plays to a caller before the call is answered.
type Early = mediasession.Early

// Progress tells the caller that there is something to hear before the answer (183 with
// the answer to their offer, RFC 3960 section 3.1), and returns what it is played with.
// The description is that of the answer to come. ErrNoOffer: the caller made none;
// ErrUnconfirmed: try again; a *Refused is as in Ring.
func (in *Incoming) Progress() (*Early, error) {
	var e *Early
	err := error(ErrDecided)
	in.call.do(func() { e, err = in.call.progress() })
	return e, err
}

// Answer answers the call and returns its leg, whose Run the caller must call. It
// waits, until ctx ends or 64*T1, for the far end to confirm the answer: by its ACK or,
// where that was lost, by media (see rtp.Proof). That is when the call is answered, and
// when what it costs begins. One that is never confirmed ends as *media.Ended with the
// detail no_ack. A *Refused is as in Ring.
func (in *Incoming) Answer(ctx context.Context) (*Leg, error) {
	err := error(ErrDecided)
	var answered <-chan error
	var unready <-chan struct{}
	in.call.do(func() { unready = in.call.undecided() })
	if unready != nil {
		select {
		case <-unready:
		case <-in.call.gone.Done(): // then accept knows
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	in.call.do(func() { answered, err = in.call.accept() })
	if err != nil {
		return nil, in.call.undone(err)
	}
	c := in.call
	err = c.outcome(ctx, answered, errCanceled, func(err error) error {
		c.do(func() { c.hangup(err) })
		return err
	})
	if err != nil {
		return nil, c.undone(err)
	}
	return c.leg, nil
}

// Trace is the signalling of the call so far, also after its end.
func (in *Incoming) Trace() *transport.Trace { return in.call.trace }

// finish is called when the handler is done: nothing of the call may be left.
func (in *Incoming) finish() {
	c := in.call
	c.do(func() {
		if c.server.ctx.Err() != nil {
			c.decline(503, "", header.RetryAfter(retryDraining))
		} else {
			c.decline(500, "") // a handler that does not decide is at fault
		}
		c.hangup(context.Cause(c.server.ctx))
	})
}
