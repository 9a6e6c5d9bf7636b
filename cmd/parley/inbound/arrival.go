package inbound

import (
	"context"
	"time"

	"parley/api/mediastream"
	"parley/cmd/parley/conversation"
	"parley/media"
	"parley/media/rtp"
	"parley/pipeline"
	"parley/pipeline/bridge"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/transport"
)

// arrival is a call that comes in and was not answered yet, whatever brings it: what is known of it, as of a sip.Incoming, and the
// line by which it is answered.
type arrival struct {
	line
	CallID         string
	User, Called   string
	From, Asserted header.Identity
	Trusted        bool
	Headers        header.Fields
	Source         string // where it comes from, for the log
	Trunk, Account string
	Extension      string
}

// line is what brings a call.
type line interface {
	// Ring, Answer, Reject and Rate are as those of a sip.Incoming.
	Ring() error
	Answer(ctx context.Context) (leg, error)
	Reject(code int, phrase string, retry time.Duration)
	Rate() media.Rate
	// Redirects says whether the far end calls another number in place of us, which Redirect asks for.
	Redirects() bool
	Redirect(number string) error
	// callsOut says whether calls go out on it, to which this one could be connected.
	callsOut() bool
	// Trace is the call's signalling; nil: it has none.
	Trace() *transport.Trace
	// patience is how long a call may ring of what its agent wants.
	patience(ring time.Duration) time.Duration
	// functions are those of telephone calls that an agent has on this line.
	functions(all functions) functions
}

// functions gives an agent's configuration what it may do on the telephone.
type functions = func(*pipeline.Config, *conversation.Plan)

// leg is an answered call.
type leg interface {
	media.Leg
	// Answered is when it was.
	Answered() time.Time
}

// sipLine is a call over SIP.
type sipLine struct{ *sip.Incoming }

func overSIP(in *sip.Incoming) *arrival {
	return &arrival{line: sipLine{in}, CallID: in.CallID, User: in.User, Called: in.Called, From: in.From, Asserted: in.Asserted, Trusted: in.Trusted, Headers: in.Headers,
		Source: in.Source.Addr().String(), Trunk: in.Trunk, Account: in.Account, Extension: in.Extension}
}

func (l sipLine) Answer(ctx context.Context) (leg, error) {
	answered, err := l.Incoming.Answer(ctx)
	if err != nil {
		return nil, err
	}
	return answered, nil
}

func (sipLine) patience(ring time.Duration) time.Duration { return ring }
func (sipLine) functions(all functions) functions         { return all }
func (sipLine) callsOut() bool                            { return true }

// measured is a leg over RTP, of which it is known how it sounds.
type measured interface{ Stats() rtp.Stats }

// follow has the wire of a call follow its answered leg.
func follow(w *conversation.Wire, l leg) {
	if m, ok := l.(measured); ok {
		w.Answered(m)
	}
}

// measure counts how a call that is over sounded.
func (n *Answerer) measure(session string, l leg) {
	if m, ok := l.(measured); ok {
		n.Maker.Metrics.Telephone(session, m.Stats())
	}
}

// movable is the leg of a call that can go on at another node; nil: it cannot. The leg of a call that was received is one end of another.
func movable(l leg, received *reception) *sip.Leg {
	over, _ := l.(*sip.Leg)
	if received != nil {
		return nil
	}
	return over
}

// onTelephone is a leg as an agent has it.
func (n *Answerer) onTelephone(l leg, p *conversation.Plan, s *session.Session, r *route) bridge.Telephone {
	if over, ok := l.(*sip.Leg); ok {
		return n.Transfers.Leg(over, p, s, r.line)
	}
	return n.Transfers.Stream(streamLeg{l.(*mediastream.Leg)}, p, s, r.line)
}
