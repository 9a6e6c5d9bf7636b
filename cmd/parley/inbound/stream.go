package inbound

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"parley/api/mediastream"
	"parley/billing/destination"
	"parley/cmd/parley/conversation"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/toolbox"
	"parley/sip/header"
	"parley/sip/transport"
)

// streamRing bounds how long a call rings that a carrier brings over a WebSocket: it waits for a document meanwhile, Vonage for 5 s,
// and gives up then.
const streamRing = time.Second

// streamLine is a call that a carrier brings over a WebSocket of its own.
type streamLine struct{ *mediastream.Call }

func overStream(c *mediastream.Call) *arrival {
	in := &arrival{line: streamLine{c}, Source: c.Trunk().Carrier, Trunk: c.Trunk().ID, Account: c.Trunk().Account}
	in.asked(&c.Asked)
	return in
}

// asked is what a carrier says of a call. It is the carrier that the trunk names, which vouches for the caller.
func (in *arrival) asked(a *mediastream.Asked) {
	in.CallID, in.User, in.Called, in.Trusted = a.ID, a.To, a.To, true
	in.From = header.Identity{Number: a.From, Display: a.Name, Verstat: a.Verstat}
	in.Headers.Withheld = !strings.HasPrefix(a.From, "+")
}

// Ring does nothing: the caller hears it ring until the carrier has its document.
func (streamLine) Ring() error { return nil }

func (l streamLine) Answer(ctx context.Context) (leg, error) {
	answered, err := l.Call.Answer(ctx)
	if err != nil {
		return nil, err
	}
	return answered, nil
}

// Reject refuses the call in the carrier's words, which know of busy lines and nothing else.
func (l streamLine) Reject(code int, _ string, _ time.Duration) { l.Refuse(code == 486) }

func (streamLine) Redirects() bool         { return true }
func (streamLine) callsOut() bool          { return false }
func (streamLine) Trace() *transport.Trace { return nil }

func (streamLine) patience(ring time.Duration) time.Duration { return min(ring, streamRing) }

// functions leaves out what such a line cannot do: press keys, and call somebody beside the call. The carrier calls numbers in our place,
// and nobody is announced to them.
func (streamLine) functions(all functions) functions {
	return func(cfg *pipeline.Config, p *conversation.Plan) {
		all(cfg, p)
		if t := cfg.Transfer; t != nil {
			t.Consult, t.Listen, t.Hold = nil, nil, nil
			t.To = slices.DeleteFunc(slices.Clone(t.To), func(d agent.Destination) bool { return destination.IsAddress(d.Number) })
		}
		cfg.Keys = slices.DeleteFunc(cfg.Keys, func(k string) bool { return k == toolbox.SendDTMF })
	}
}

// streamLeg is a leg as an agent has it that a carrier brings over a WebSocket.
type streamLeg struct{ *mediastream.Leg }

var errNoKeys = errors.New("the far end takes no keys")

// SendDigits implements media.Keypad.
func (streamLeg) SendDigits(string) error { return errNoKeys }
