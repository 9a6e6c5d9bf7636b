package callcenter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/jobs"
	"parley/store/numbers"
)

const (
	// sweepEvery is how often what carriers have to do is looked for: each knows its own time, so this is how late it may
	// be noticed.
	sweepEvery = time.Minute
	// timeout of one sweep.
	timeout = 5 * time.Minute
	// maxClaims of one sweep.
	maxClaims = 100
	// followEvery and followFor are how closely a new order is followed.
	followEvery = 500 * time.Millisecond
	followFor   = 15 * time.Second
	// attemptPatience is how long an answer waits for what can be done later.
	attemptPatience = 3 * time.Second
)

// monthsArgs ask for months to be charged.
type monthsArgs struct{}

// Kind implements jobs.Args.
func (monthsArgs) Kind() string { return "number_months" }

// carrierArgs ask for what carriers have to do.
type carrierArgs struct{}

// Kind implements jobs.Args.
func (carrierArgs) Kind() string { return "number_carrier" }

// Work adds the desk's kinds of jobs to a queue that is not open yet. Months go on
// being charged by their own line while a carrier is away.
func (d *Numbers) Work(q *jobs.Queue) {
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: timeout}, func(ctx context.Context, _ monthsArgs) error { return d.Months(ctx) })
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: timeout}, func(ctx context.Context, _ carrierArgs) error { return d.Sweep(ctx) })
	jobs.WhenDue(q, numbers.MonthsDue+" or "+store.RequestsToForget, monthsArgs{})
	jobs.Every(q, sweepEvery, carrierArgs{})
}

// Months charges the months that have begun, and forgets answers that are not given
// again.
func (d *Numbers) Months(ctx context.Context) error {
	sum, err := d.numbers.Charge(ctx, d.Card())
	if sum.Released > 0 || sum.Unpaid > 0 {
		d.Log.Warn("numbers could not be paid", "kept", sum.Unpaid, "lost", sum.Released)
	}
	if err != nil {
		return err
	}
	return d.Store.ForgetRequests(ctx)
}

// Sweep turns to the carrier about every number that it is time for. One that fails
// holds up no other.
func (d *Numbers) Sweep(ctx context.Context) error {
	if d.Carrier == nil {
		return nil
	}
	claimed, err := d.numbers.Claim(ctx, d.Carrier.Name(), maxClaims)
	if err != nil {
		return err
	}
	for i := range claimed {
		if err := d.attend(ctx, &claimed[i], true); err != nil {
			d.Log.Warn("a number is not done and is tried again", "number", claimed[i].ID, "state", claimed[i].State, "err", err)
		}
	}
	return ctx.Err()
}

// attempt does now what Sweep would do later.
func (d *Numbers) attempt(ctx context.Context, n *numbers.Number) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptPatience)
	defer cancel()
	if err := d.attend(ctx, n, false); err != nil {
		d.Log.Warn("a number is not done and is tried again", "number", n.ID, "state", n.State, "err", err)
	}
}

// errStrange is an order that was taken and of which its carrier knows nothing.
var errStrange = errors.New("the carrier does not know an order that it has taken")

// attend does with a number what comes next. late says that an order of which the
// carrier knows nothing was never placed, for its process has had its time.
func (d *Numbers) attend(ctx context.Context, n *numbers.Number, late bool) error {
	if n.CarrierID == "" {
		o, err := d.Carrier.Lookup(ctx, n.OrderRef)
		switch {
		case errors.Is(err, carrier.ErrNotFound) && n.State == numbers.Ordered:
			return errStrange
		case errors.Is(err, carrier.ErrNotFound) && late:
			o = carrier.Ordered{State: carrier.Failed}
		case err != nil:
			return fmt.Errorf("look order up: %w", err)
		}
		settled, err := d.numbers.Reconcile(ctx, n.Account, n.ID, o)
		if err != nil {
			return err
		}
		*n = *settled
	}
	switch {
	case n.CarrierID == "", n.State == numbers.Released:
	case n.State == numbers.Releasing:
		if err := d.Carrier.Release(ctx, n.CarrierID); err != nil {
			return fmt.Errorf("release: %w", err)
		}
		return d.numbers.FinishRelease(ctx, n.ID)
	case !n.Routed:
		if err := d.Carrier.Route(ctx, n.CarrierID); err != nil {
			return fmt.Errorf("route: %w", err)
		}
		return d.numbers.Routed(ctx, n.ID)
	}
	return nil
}

// follow has an order looked up often for a while. When the desk follows as many as
// it can, the next sweep finds it.
func (d *Numbers) follow(n *numbers.Number) {
	select {
	case d.recent <- *n:
	default:
	}
}

// Run follows new orders until ctx ends.
func (d *Numbers) Run(ctx context.Context) error {
	type order struct {
		numbers.Number
		until time.Time
	}
	var open []order
	look := time.NewTicker(followEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-d.recent:
			if len(open) < maxRecent {
				open = append(open, order{n, time.Now().Add(followFor)})
			}
			continue
		case <-look.C:
		}
		left := open[:0]
		for _, o := range open {
			d.attempt(ctx, &o.Number)
			if o.CarrierID == "" && o.State != numbers.Released && time.Now().Before(o.until) {
				left = append(left, o)
			}
		}
		open = left
	}
}

// maxNotice bounds a webhook's body, in bytes.
const maxNotice = 256 << 10

// mountHook adds the webhook of a carrier that has one.
func (d *Numbers) mountHook(a *api.API) {
	if c, ok := d.Carrier.(carrier.Notifier); ok {
		a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, Operation: huma.Operation{
			Method: http.MethodPost, Path: "/hooks/" + c.Name(), OperationID: "receive-carrier-event", Hidden: true, MaxBodyBytes: maxNotice,
		}}, d.notice(c))
	}
}

// notice takes a webhook. One about an order only leads to a look at it; those about text messages go to
// Texts. The answer is 2xx when that was done, so that the carrier sends it again otherwise.
func (d *Numbers) notice(c carrier.Notifier) api.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return api.ReadError(err)
		}
		notice, err := c.Notice(r.Header, body, d.Store.Now())
		if err != nil {
			api.LogOf(r.Context(), d.Log).Warn("a carrier's webhook was refused", "carrier", c.Name(), "err", err)
			return api.ErrBadRequest
		}
		if err := d.heed(r.Context(), c, notice); err != nil {
			api.LogOf(r.Context(), d.Log).Error("a carrier's webhook could not be followed", "carrier", c.Name(), "err", err)
			return api.ErrCarrier
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// heed does what a webhook gives reason to.
func (d *Numbers) heed(ctx context.Context, c carrier.Notifier, n carrier.Notice) error {
	if d.Texts != nil && (n.Delivery != nil || n.Received != nil) {
		return d.Texts(ctx, n)
	}
	if n.Order == "" {
		return nil
	}
	ordered, err := d.numbers.ByOrder(ctx, c.Name(), n.Order)
	if err == nil {
		err = d.attend(ctx, ordered, false)
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return err
}
