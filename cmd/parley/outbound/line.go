package outbound

import (
	"parley/billing"
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

// terms are what a call to a destination is priced by on the line.
func (l *Line) terms(t billing.Terms) billing.Terms {
	t.OwnTrunk = l.Own
	return t
}
