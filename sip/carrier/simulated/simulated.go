// Package simulated is a carrier.Carrier whose numbers reach nobody: an inventory
// for trying things out, with the same states and delays as a real one. Its calls
// are the simulated carrier's of package sip/simulated; this is its shop.
//
// Each of seven countries has 60 numbers in five or six towns, always the same. The
// last digit says how a number behaves:
//
//	4     the order is Pending at first and Active after Late
//	9     costs more a month than a number of the service includes
//	else  the order is Active at once
//
// A number whose order failed, which Fail brings about, is for sale again; one that was
// released not for Quarantine. What was ordered survives a restart.
//
// A text message is delivered after Late: to a number that was bought here it comes in, all
// others are of nobody. The last two digits of the called number bring about the rest, as they
// do in calls:
//
//	02    the telephone is off: undelivered after Late
//	03    the carrier refuses the message
//	09    nobody has the number: undelivered after Late
//
// The newest messages are known, until a restart.
package simulated

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/billing/statefile"
	"parley/sip/carrier"
)

const (
	// Late is how long an order of a late number stays Pending.
	Late = 2500 * time.Millisecond
	// Quarantine is how long a released number rests before it is sold again.
	Quarantine = 30 * 24 * time.Hour
)

// Config is what a Carrier needs; everything may be empty.
type Config struct {
	File string // where the state is kept, mode 0600; empty: in memory only
	// Instance is part of every number's id. A file has its own; without one, and when this is
	// empty, it is drawn at random, so that ids never repeat those of a state that was lost.
	Instance string
	Now      func() time.Time // nil: time.Now
}

// Carrier is a carrier.Carrier. It is safe for concurrent use.
type Carrier struct {
	file string
	now  func() time.Time

	mu      sync.Mutex
	st      *state
	unsaved bool            // the file lacks something
	failing map[string]bool // numbers whose next order fails
	texts   []*text         // oldest first; maxTexts at most
}

var _ carrier.Mailbox = (*Carrier)(nil)

// New reads the state file, if there is one.
func New(c Config) (*Carrier, error) {
	st, err := load(c.File)
	if err != nil {
		return nil, fmt.Errorf("simulated carrier: %w", err)
	}
	st.Instance = statefile.Instance(st.Instance, c.Instance)
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Carrier{file: c.File, now: c.Now, st: st, failing: map[string]bool{}}, nil
}

// Name implements carrier.Carrier.
func (c *Carrier) Name() string { return "simulated" }

// Search implements carrier.Carrier.
func (c *Carrier) Search(_ context.Context, q carrier.Query) (carrier.Page, error) {
	q, err := q.Check()
	if err != nil {
		return carrier.Page{}, err
	}
	c.mu.Lock()
	taken := c.takenLocked()
	c.mu.Unlock()
	left := slices.DeleteFunc(inventory(q.Country), func(o carrier.Offer) bool {
		return taken[o.Number] || (q.Region != "" && !strings.EqualFold(o.Region, q.Region)) ||
			(q.Locality != "" && !strings.EqualFold(o.Locality, q.Locality))
	})
	from := min((q.Page-1)*carrier.PageSize, len(left))
	to := min(from+carrier.PageSize, len(left))
	return carrier.Page{Offers: left[from:to:to], More: to < len(left)}, nil
}

// Offer implements carrier.Carrier.
func (c *Carrier) Offer(_ context.Context, number string) (carrier.Offer, error) {
	o, ok := find(number)
	if !ok {
		return carrier.Offer{}, carrier.ErrNotAvailable
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.takenLocked()[number] {
		return carrier.Offer{}, carrier.ErrNotAvailable
	}
	return o, nil
}

// Order implements carrier.Carrier.
func (c *Carrier) Order(_ context.Context, o carrier.Order) (carrier.Ordered, error) {
	if err := o.Check(); err != nil {
		return carrier.Ordered{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.st.Orders[o.Reference]; old != nil {
		if old.Number != o.Number {
			return carrier.Ordered{}, carrier.ErrReferenceReused
		}
		if c.unsaved {
			return c.seenLocked(old), c.saveLocked()
		}
		return c.seenLocked(old), nil
	}
	if _, ok := find(o.Number); !ok || c.takenLocked()[o.Number] {
		return carrier.Ordered{}, carrier.ErrNotAvailable
	}
	if len(c.st.Orders) >= maxOrders {
		return carrier.Ordered{}, carrier.Refused("the simulated carrier is full; delete its file")
	}
	c.st.Seq++
	n := &order{
		Number: o.Number, NumberID: fmt.Sprintf("sim_num_%s_%d", c.st.Instance, c.st.Seq), At: c.now(),
		Fails: c.failing[o.Number],
	}
	delete(c.failing, o.Number)
	c.st.Orders[o.Reference] = n
	return c.seenLocked(n), c.saveLocked()
}

// Lookup implements carrier.Carrier.
func (c *Carrier) Lookup(_ context.Context, reference string) (carrier.Ordered, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.st.Orders[reference]
	if o == nil {
		return carrier.Ordered{}, carrier.ErrNotFound
	}
	return c.seenLocked(o), nil
}

// Route implements carrier.Carrier.
func (c *Carrier) Route(_ context.Context, numberID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.heldLocked(numberID)
	if o == nil {
		return carrier.ErrNotFound
	}
	if o.Routed {
		return nil
	}
	o.Routed = true
	return c.saveLocked()
}

// Release implements carrier.Carrier.
func (c *Carrier) Release(_ context.Context, numberID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.heldLocked(numberID)
	if o == nil {
		return nil
	}
	o.Released = c.now()
	return c.saveLocked()
}

// Held is a number that was bought and not released.
type Held struct {
	ID, Number string
	Routed     bool
}

// Held lists the numbers that are active now, by number.
func (c *Carrier) Held() []Held {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Held
	for _, o := range c.st.Orders {
		if c.heldLocked(o.NumberID) == o {
			out = append(out, Held{o.NumberID, o.Number, o.Routed})
		}
	}
	slices.SortFunc(out, func(a, b Held) int { return strings.Compare(a.Number, b.Number) })
	return out
}

// Fail makes the next order of a number Pending, and Failed after Late. A restart forgets it.
func (c *Carrier) Fail(number string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failing[number] = true
}
