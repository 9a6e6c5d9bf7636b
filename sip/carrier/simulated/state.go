package simulated

import (
	"fmt"
	"time"

	"parley/billing/statefile"
	"parley/sip/carrier"
)

// maxOrders bounds the state, which is written whole at each change; a tool for
// trying things out needs no more.
const maxOrders = 10_000

// state is everything the carrier knows.
type state struct {
	Instance string
	Seq      int64
	Orders   map[string]*order // by reference
}

type order struct {
	Number   string
	NumberID string
	At       time.Time
	Fails    bool // after Late
	Routed   bool
	Released time.Time // zero: not
}

// seenLocked is an order as it is now.
func (c *Carrier) seenLocked(o *order) carrier.Ordered {
	out := carrier.Ordered{State: carrier.Active, Number: o.Number}
	switch settled := c.now().Sub(o.At) >= Late; {
	case !settled && (o.Fails || isLate(o.Number)):
		out.State, out.Reason = carrier.Pending, "the simulated carrier activates it within three seconds"
	case o.Fails:
		out.State, out.Reason = carrier.Failed, "the simulated carrier is set to fail"
	default:
		out.NumberID = o.NumberID
	}
	return out
}

// takenLocked are the numbers that are not for sale.
func (c *Carrier) takenLocked() map[string]bool {
	taken, now := map[string]bool{}, c.now()
	for _, o := range c.st.Orders {
		free := !o.Released.IsZero() && now.Sub(o.Released) >= Quarantine
		if !free && c.seenLocked(o).State != carrier.Failed {
			taken[o.Number] = true
		}
	}
	return taken
}

// heldLocked finds the order of a number that is ours now, or nil.
func (c *Carrier) heldLocked(numberID string) *order {
	for _, o := range c.st.Orders {
		if o.NumberID == numberID && o.Released.IsZero() && c.seenLocked(o).State == carrier.Active {
			return o
		}
	}
	return nil
}

func load(file string) (*state, error) {
	s := &state{}
	if err := statefile.Load(file, s); err != nil {
		return nil, err
	}
	if s.Orders == nil {
		s.Orders = map[string]*order{}
	}
	return s, nil
}

// saveLocked writes the state. When that fails the change is known here but not on
// disk, which is an unknown outcome until it was tried again.
func (c *Carrier) saveLocked() error {
	err := statefile.Save(c.file, c.st)
	if c.unsaved = err != nil; c.unsaved {
		return fmt.Errorf("%w: the simulated carrier cannot be saved: %w", carrier.ErrUnavailable, err)
	}
	return nil
}
