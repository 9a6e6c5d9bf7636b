package telnyx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"parley/sip/carrier"
)

// What an order of Telnyx can be, and a number.
const (
	success = "success"
	failure = "failure"

	active = "active"
)

// Order implements carrier.Carrier.
func (c *Carrier) Order(ctx context.Context, o carrier.Order) (carrier.Ordered, error) {
	if err := o.Check(); err != nil {
		return carrier.Ordered{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	unclear := false
	for i := 1; ; i++ {
		old, err := c.find(ctx, o.Reference)
		switch {
		case err == nil && old.number() != o.Number:
			return carrier.Ordered{}, carrier.ErrReferenceReused
		case err == nil:
			return c.ordered(ctx, old)
		case !errors.Is(err, carrier.ErrNotFound):
			return carrier.Ordered{}, err
		}
		if _, err := c.Offer(ctx, o.Number); err != nil {
			return c.lost(ctx, o, unclear, err)
		}
		placed, err := c.place(ctx, o)
		switch {
		case err == nil:
			return c.ordered(ctx, placed)
		case !errors.Is(err, carrier.ErrUnavailable):
			return c.lost(ctx, o, unclear, err)
		case !errors.Is(err, carrier.ErrUnclear), i == attempts, c.sleep(ctx, firstWait<<(i-1)) != nil:
			return carrier.Ordered{}, err
		}
		unclear = true
	}
}

// place sends the order, once.
func (c *Carrier) place(ctx context.Context, o carrier.Order) (*numberOrder, error) {
	type number struct {
		PhoneNumber string `json:"phone_number"`
	}
	var answer struct{ Data numberOrder }
	err := c.call(ctx, request{method: http.MethodPost, path: "/number_orders", once: true, body: struct {
		Numbers    []number `json:"phone_numbers"`
		Connection string   `json:"connection_id"`
		Profile    string   `json:"messaging_profile_id,omitempty"`
		Reference  string   `json:"customer_reference"`
	}{[]number{{o.Number}}, c.connection, c.profile, o.Reference}}, &answer)
	switch {
	case errors.Is(err, carrier.ErrNotFound): // the route is there, so something the order names is not
		return nil, carrier.ErrNotAvailable
	case err == nil && answer.Data.number() != o.Number:
		err = fmt.Errorf("%w: telnyx: the answer is about another number: %w", carrier.ErrUnavailable, carrier.ErrUnclear)
	}
	return &answer.Data, err
}

// lost decides what it means that a number cannot be had. Another process may have ordered it with the
// same reference meanwhile; an earlier try of ours may be on its way into Telnyx's list; or somebody
// else was faster.
func (c *Carrier) lost(ctx context.Context, o carrier.Order, unclear bool, refusal error) (carrier.Ordered, error) {
	if errors.Is(refusal, carrier.ErrUnavailable) {
		return carrier.Ordered{}, refusal
	}
	old, err := c.find(ctx, o.Reference)
	switch {
	case err == nil && old.number() == o.Number:
		return c.ordered(ctx, old)
	case err != nil && !errors.Is(err, carrier.ErrNotFound):
		return carrier.Ordered{}, err
	}
	n, err := c.owned(ctx, o.Number)
	switch {
	case err == nil && n.Reference == o.Reference:
		return c.ordered(ctx, &numberOrder{Status: success, Numbers: []orderedNumber{{PhoneNumber: o.Number}}})
	case err != nil && !errors.Is(err, carrier.ErrNotFound):
		return carrier.Ordered{}, err
	case unclear:
		return carrier.Ordered{}, fmt.Errorf("%w: telnyx: an earlier try may have been taken: %w", carrier.ErrUnavailable, carrier.ErrUnclear)
	case errors.Is(refusal, carrier.ErrNotAvailable):
		return carrier.Ordered{}, refusal
	}
	if _, err := c.Offer(ctx, o.Number); err != nil { // not on offer any more, which is why
		return carrier.Ordered{}, err
	}
	return carrier.Ordered{}, refusal
}

// Lookup implements carrier.Carrier.
func (c *Carrier) Lookup(ctx context.Context, reference string) (carrier.Ordered, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	o, err := c.find(ctx, reference)
	if err != nil {
		return carrier.Ordered{}, err
	}
	return c.ordered(ctx, o)
}

// find looks for the order with a reference. Should there be several, one that failed gives way.
func (c *Carrier) find(ctx context.Context, reference string) (*numberOrder, error) {
	if !carrier.ValidReference(reference) {
		return nil, carrier.ErrNotFound
	}
	var answer struct{ Data []numberOrder }
	err := c.call(ctx, request{method: http.MethodGet, path: "/number_orders", query: url.Values{
		"filter[customer_reference]": {reference}, "page[size]": {"20"},
	}}, &answer)
	if err != nil {
		return nil, misplaced(err)
	}
	var found *numberOrder
	for i := range answer.Data {
		o := &answer.Data[i]
		if o.Reference == reference && (found == nil || found.status() == failure) {
			found = o
		}
	}
	if found == nil {
		return nil, carrier.ErrNotFound
	}
	return found, nil
}

// ordered returns the state of an order, and finds its number once it succeeded.
func (c *Carrier) ordered(ctx context.Context, o *numberOrder) (carrier.Ordered, error) {
	out := carrier.Ordered{State: carrier.Pending, Number: o.number()}
	switch o.status() {
	case success:
	case failure:
		out.State, out.Reason = carrier.Failed, "The carrier could not activate the number."
		if o.waitsForDocuments() {
			out.Reason = "The carrier did not get the documents that the country demands."
		}
		return out, nil
	default:
		if o.waitsForDocuments() {
			out.Reason = "The country demands documents; the carrier waits for them."
		}
		return out, nil
	}
	n, err := c.owned(ctx, out.Number)
	switch {
	case errors.Is(err, carrier.ErrNotFound): // not listed yet
	case err != nil:
		return carrier.Ordered{}, err
	case n.Status == active:
		out.State, out.NumberID = carrier.Active, n.ID
	}
	return out, nil
}

// owned finds a number of the account by the number itself.
func (c *Carrier) owned(ctx context.Context, number string) (*phoneNumber, error) {
	var answer struct{ Data []phoneNumber }
	err := c.call(ctx, request{method: http.MethodGet, path: "/phone_numbers", query: url.Values{
		"filter[phone_number]": {number[1:]}, "page[size]": {"20"}, // digits only: with its "+" nothing is found
	}}, &answer)
	if err != nil {
		return nil, misplaced(err)
	}
	for i := range answer.Data {
		n := &answer.Data[i]
		if n.PhoneNumber == number && n.Status != "deleted" && n.Status != "ported-out" && numberID.MatchString(n.ID) {
			return n, nil
		}
	}
	return nil, carrier.ErrNotFound
}

// misplaced is what an error of a list means: a list is never missing and no search of
// it wrong, so nothing is known.
func misplaced(err error) error {
	if errors.Is(err, carrier.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: telnyx: a list cannot be read: %s", carrier.ErrUnavailable, err)
}

// numberID is how ids look; nothing else gets into a path.
var numberID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Route implements carrier.Carrier.
func (c *Carrier) Route(ctx context.Context, id string) error {
	if !numberID.MatchString(id) {
		return carrier.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.call(ctx, request{method: http.MethodPatch, path: "/phone_numbers/" + id, body: map[string]string{"connection_id": c.connection}}, nil)
}

// Release implements carrier.Carrier.
func (c *Carrier) Release(ctx context.Context, id string) error {
	if !numberID.MatchString(id) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := c.call(ctx, request{method: http.MethodDelete, path: "/phone_numbers/" + id}, nil)
	if errors.Is(err, carrier.ErrNotFound) {
		return nil
	}
	return err
}
