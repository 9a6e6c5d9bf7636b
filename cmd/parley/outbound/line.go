package outbound

import (
	"fmt"

	"parley/api"
	"parley/billing"
	"parley/billing/destination"
	"parley/sip/trunk"
	"parley/store/numbers"
)

// Line is what a call of an account goes out on, and the number that its callee sees.
type Line struct {
	trunk.Caller
	Own bool // the trunk is the account's: what it costs is between the account and its carrier
}

// LineOf is the line of an account's number.
func LineOf(n *numbers.Number) Line {
	l := Line{Caller: trunk.Caller{Number: n.E164}}
	if n.Trunk != nil {
		l.Trunk, l.Own = *n.Trunk, true
	}
	return l
}

// lineTo is the line of an account to a SIP address: one of its own trunks, with the address's server among its targets. Nobody
// else's line leads there, so that no account has others called at addresses of its choice.
func lineTo(phone Phone, account string, a destination.Address) (Line, error) {
	t, ok := phone.TrunkTo(account, trunk.Target{Host: a.Host, Port: a.Port, Transport: a.Transport})
	switch {
	case !ok:
		return Line{}, fmt.Errorf("%w: %w", api.ErrDestination, errNoLine)
	case a.EmergencyIn(t.Plan.Country):
		return Line{}, fmt.Errorf("%w: %w", api.ErrEmergency, &destination.Error{Err: destination.ErrEmergency, Reason: destination.EmergencyRefused})
	}
	return Line{Caller: trunk.Caller{Trunk: t.Name}, Own: true}, nil
}

// terms are what a call to a destination is priced by on the line.
func (l *Line) terms(t billing.Terms) billing.Terms {
	t.OwnTrunk = l.Own
	return t
}
