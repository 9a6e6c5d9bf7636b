package sip

import (
	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/trunk"
)

// Redirects says whether the trunk that the call came on has its far end call others in our place: trunk.Refer.
func (in *Incoming) Redirects() bool {
	return in.call.trunk != nil && in.call.trunk.Has(trunk.Refer)
}

// Redirect asks the caller's side to call a number in our place (302, RFC 3261 section 21.3.3), which takes the form of Leg.Transfer's
// target. That decides the call: nobody reports how the other one ends. An error: it was decided before, or the target is no number.
func (in *Incoming) Redirect(number string) error {
	err := error(ErrDecided)
	in.call.do(func() { err = in.call.redirect(number) })
	return err
}

func (c *call) redirect(number string) error {
	to, err := c.referred(number)
	switch {
	case err != nil:
		return err
	case c.state != early:
		return ErrDecided
	case c.canceled():
		return errCanceled
	}
	c.decline(302, "", gosip.NewHeader("Contact", "<"+to+">"))
	return nil
}
