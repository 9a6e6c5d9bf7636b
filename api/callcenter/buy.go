package callcenter

import (
	"context"
	"errors"
	"regexp"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/billing/destination"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/numbers"
)

// How long a purchase waits for the carrier: for its answers altogether, and for the
// activation of an order that it has taken.
const (
	carrierPatience    = 30 * time.Second
	activationPatience = 600 * time.Millisecond
	activationLook     = 200 * time.Millisecond
)

type buyInput struct {
	Key     string `header:"Idempotency-Key" doc:"Of your choice, up to 255 characters; makes it safe to send the request again." maxLength:"255" example:"order-42"`
	RawBody []byte
	Body    struct {
		PhoneNumber string   `json:"phone_number" doc:"Exactly as the search has it." example:"+34911234567"`
		AgentID     agentRef `json:"agent_id,omitempty"`
	}
}

type buyOutput struct {
	Status int
	Body   wire.Number
}

var phoneNumber = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

func (d *Numbers) buy(ctx context.Context, in *buyInput) (*buyOutput, error) {
	if in.Body.PhoneNumber == "" {
		return nil, api.Bad("body.phone_number: say which number, from the search")
	}
	account := api.AccountOf(ctx)
	n, err := once(ctx, d.Store, store.IdempotencyKey{Account: account, Route: "POST /callcenter/numbers", Key: in.Key}, in.RawBody,
		func(o *store.IdempotencyKey) (*wire.Number, error) {
			n, err := d.purchase(ctx, account, in.Body.PhoneNumber, in.Body.AgentID.id, o)
			if err != nil {
				return nil, err
			}
			v := d.view(n)
			return &v, nil
		})
	if err != nil {
		return nil, err
	}
	return &buyOutput{statusOf(n), *n}, nil
}

// purchase buys a number that the search has found.
func (d *Numbers) purchase(ctx context.Context, account, number, agent string, o *store.IdempotencyKey) (*numbers.Number, error) {
	if o != nil && o.Subject != "" { // a process began it and died
		n, err := d.numbers.Number(ctx, account, o.Subject)
		if errors.Is(err, store.ErrNotFound) {
			return nil, api.ErrNotOffered // it came to nothing
		}
		if err != nil {
			return nil, err
		}
		return d.place(ctx, n)
	}
	if err := d.knows(ctx, account, agent); err != nil {
		return nil, err
	}
	if !phoneNumber.MatchString(number) {
		return nil, api.ErrNotOffered
	}
	offer, err := d.Carrier.Offer(ctx, number)
	switch {
	case errors.Is(err, carrier.ErrNotAvailable), errors.Is(err, carrier.ErrRefused):
		return nil, api.ErrNotOffered
	case err != nil:
		return nil, d.away(ctx, err)
	case !included(offer, d.Card()):
		return nil, api.ErrNumberPrice
	}
	if _, err := destination.ClassifyLocal(number, offer.Country); err != nil {
		// Its calls would be priced by another country, or not at all.
		api.LogOf(ctx, d.Log).Error("the carrier offers a number that is not local", "carrier", d.Carrier.Name(), "country", offer.Country, "err", err)
		return nil, api.ErrNotOffered
	}
	n, err := d.numbers.Order(ctx, numbers.Order{Account: account, E164: number, Country: offer.Country, Agent: agent,
		Carrier: d.Carrier.Name(), Monthly: offer.Monthly, Upfront: offer.Upfront, Card: d.Card(), Once: o})
	if errors.Is(err, store.ErrNotFound) {
		return nil, api.ErrNoAgent // deleted this moment
	}
	if err != nil {
		return nil, err
	}
	return d.place(ctx, n)
}

// place turns to the carrier with an order that is held. From here on it is followed
// to its end, whether or not the client waits for it.
func (d *Numbers) place(ctx context.Context, n *numbers.Number) (*numbers.Number, error) {
	if n.State == numbers.Owned || n.State == numbers.Grace {
		return n, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), carrierPatience)
	defer cancel()
	order := carrier.Order{Reference: n.OrderRef, Number: n.E164}
	placed, err := d.Carrier.Order(ctx, order)
	if err != nil && !final(err) {
		placed, err = d.Carrier.Order(ctx, order) // the same reference orders nothing twice
	}
	if final(err) {
		api.LogOf(ctx, d.Log).Warn("the carrier refused an order", "carrier", n.Carrier, "number", n.ID, "err", err)
		placed = carrier.Ordered{State: carrier.Failed}
	} else if err != nil {
		// It is not known whether it was placed: it stays held, and is looked up until
		// that is known.
		api.LogOf(ctx, d.Log).Error("the carrier may have taken an order", "carrier", n.Carrier, "number", n.ID, "err", err)
		d.follow(n)
		return n, nil
	}
	soon, enough := context.WithTimeout(ctx, activationPatience)
	placed = carrier.Await(soon, d.Carrier, n.OrderRef, placed, activationLook)
	enough()
	settled, err := d.numbers.Reconcile(ctx, n.Account, n.ID, placed)
	switch {
	case err != nil:
		return nil, err
	case settled.State == numbers.Released:
		return nil, api.ErrNotOffered
	case settled.State == numbers.Releasing:
		d.attempt(ctx, settled) // it came too late, and goes back
		return nil, api.ErrNotOffered
	case placed.State == carrier.Active:
		d.attempt(ctx, settled)
	default:
		d.follow(settled)
	}
	return settled, nil
}

// final says whether an order that was refused so will never be placed.
func final(err error) bool {
	return errors.Is(err, carrier.ErrNotAvailable) || errors.Is(err, carrier.ErrRefused) || errors.Is(err, carrier.ErrReferenceReused)
}
