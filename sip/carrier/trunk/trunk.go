// Package trunk is a carrier.Carrier that sells nothing: behind it is a plain SIP
// trunk whose numbers the operator rents and points at this server by other means,
// and lists by hand.
package trunk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"parley/sip/carrier"
)

// Number is a number of the list.
type Number struct {
	ID   string // made of the number, always the same, and unlike it
	E164 string
}

// Trunk is a carrier.Carrier. It is safe for concurrent use.
type Trunk struct {
	mu   sync.Mutex
	list []Number
}

var _ carrier.Carrier = (*Trunk)(nil)

// New checks the list, which may be empty and may name a number twice. Whatever has
// the form of E.164 is accepted: a trunk may bring calls to free numbers, and an
// exchange has numbers of its own.
func New(numbers []string) (*Trunk, error) {
	t := &Trunk{}
	for _, s := range numbers {
		if !carrier.ValidNumber(s) {
			return nil, fmt.Errorf("trunk number %q is not of the form +34911234567", s)
		}
		n := Number{ID: id(s), E164: s}
		if !slices.Contains(t.list, n) {
			t.list = append(t.list, n)
		}
	}
	return t, nil
}

func id(e164 string) string {
	sum := sha256.Sum256([]byte(e164))
	return "trunk_" + hex.EncodeToString(sum[:8])
}

// Name implements carrier.Carrier.
func (*Trunk) Name() string { return "sip" }

// Numbers lists the numbers that were not released; the slice is the caller's.
func (t *Trunk) Numbers() []Number {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

// Search implements carrier.Carrier: there is nothing for sale.
func (*Trunk) Search(_ context.Context, q carrier.Query) (carrier.Page, error) {
	_, err := q.Check()
	return carrier.Page{}, err
}

// Offer implements carrier.Carrier.
func (*Trunk) Offer(context.Context, string) (carrier.Offer, error) {
	return carrier.Offer{}, carrier.ErrNotAvailable
}

// Order implements carrier.Carrier.
func (*Trunk) Order(_ context.Context, o carrier.Order) (carrier.Ordered, error) {
	if err := o.Check(); err != nil {
		return carrier.Ordered{}, err
	}
	return carrier.Ordered{}, carrier.ErrNotAvailable
}

// Lookup implements carrier.Carrier.
func (*Trunk) Lookup(context.Context, string) (carrier.Ordered, error) {
	return carrier.Ordered{}, carrier.ErrNotFound
}

// Route implements carrier.Carrier: the calls of the list come by themselves.
func (t *Trunk) Route(_ context.Context, numberID string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.ContainsFunc(t.list, func(n Number) bool { return n.ID == numberID }) {
		return carrier.ErrNotFound
	}
	return nil
}

// Release implements carrier.Carrier. It strikes the number from the list for as
// long as the server runs; to give it back for good is up to the operator.
func (t *Trunk) Release(_ context.Context, numberID string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = slices.DeleteFunc(t.list, func(n Number) bool { return n.ID == numberID })
	return nil
}
