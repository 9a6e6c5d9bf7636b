// Package topup fills the balance through a payment provider: the customer's routes
// under /v1/topups and /v1/auto-recharge, the charges of saved cards, the provider's
// webhook, and what makes the ledger agree with the provider.
//
// The provider alone decides what a payment is. A webhook, or a client that reads a top-up
// that is not settled, only leads to a look at the provider, and what that look saw is
// settled: so news that come late, twice, in another order or never end in the same.
package topup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/payments"
)

// Service takes payments. Its fields are not changed after Mount; it is used by several
// goroutines.
type Service struct {
	Store    *store.DB
	Payments *payments.Store
	// Provider takes the money; nil only where the routes are described and not used.
	Provider payment.Provider
	// Hook is the last part of the webhook's path, below /hooks/.
	Hook string
	// Home is the server's public base address, without a final slash: on its page
	// about the balance the customer lands after paying or giving up.
	Home string
	Card func() *billing.RateCard // the one in force
	// Disputed receives an account that has a dispute; nil: it is not reported.
	Disputed func(account string)
	Log      *slog.Logger
}

// Mount adds the routes.
func Mount(a *api.API, d *Service) {
	api.Register(a, routes.Post("/v1/topups", "create-topup", "Top up the balance",
		"Makes a page on which the customer pays `amount` by card: send the customer to `url`. The balance grows when the provider says that "+
			"the payment has succeeded, not when the customer comes back. Amounts are in US dollars, whole cents, within the rate card's "+
			"`wallet.min_topup` and `wallet.max_topup`. Twenty may be begun in an hour. A server that takes no payments does not have this.",
		http.StatusPaymentRequired).Created().OwnChecks().Repeatable(), d.create)
	api.Register(a, routes.Get("/v1/topups", "list-topups", "List top-ups",
		"Newest first, also those that were never paid."), d.list)
	api.Register(a, routes.Get("/v1/topups/{id}", "get-topup", "Read a top-up",
		"One that is not settled is looked up at the payment provider, so that the answer is what has happened there.", http.StatusNotFound), d.read)
	d.mountSettings(a)
	a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, Operation: huma.Operation{
		Method: http.MethodPost, Path: "/hooks/" + d.Hook, OperationID: "receive-payment-event", Hidden: true, MaxBodyBytes: maxEvent,
	}}, api.HandlerFunc(d.receive))
}

var routes = api.Managed("Account")

// begin makes a top-up and its page. A provider that did not answer in time is asked
// once more: for the same top-up it has the same page.
func (d *Service) begin(ctx context.Context, account string, amount billing.Money) (*payments.TopUp, error) {
	t, err := d.Payments.CreateTopUp(ctx, account, d.Provider.Name(), amount)
	if err != nil {
		return nil, err
	}
	customer, err := d.Payments.Customer(ctx, account, t.Provider)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	home := d.Home + "/app/balance?topup=" + t.ID // the page asks how the payment stands
	order := payment.CheckoutRequest{TopUp: t.ID, Account: account, Customer: customer, Amount: amount,
		SuccessURL: home, CancelURL: home}
	page, err := d.Provider.Checkout(ctx, order)
	if errors.Is(err, payment.ErrUnknown) {
		page, err = d.Provider.Checkout(ctx, order)
	}
	if err != nil {
		api.LogOf(ctx, d.Log).Error("the payment provider made no page", "topup", t.ID, "err", err)
		return nil, fmt.Errorf("%w: %w", api.ErrPayments, err)
	}
	return d.Payments.OpenTopUp(ctx, account, t.ID, page)
}

// errForeign is a payment that is no top-up of ours: the provider's account may
// serve other purposes too.
var errForeign = errors.New("not a payment of ours")

// look asks the provider how a payment stands, by any of its names, and settles what
// it says. event led here; the zero Event when none did.
func (d *Service) look(ctx context.Context, id string, event payment.Event) (*payments.TopUp, error) {
	return d.settle(ctx, id, event, nil)
}

// settle is look for a refund, too, that has come to its end.
func (d *Service) settle(ctx context.Context, id string, event payment.Event, refund *payments.Refund) (*payments.TopUp, error) {
	n, err := d.Payments.NextReadVersion(ctx)
	if err != nil {
		return nil, err
	}
	p, err := d.Provider.Payment(ctx, id)
	if errors.Is(err, payment.ErrNotFound) {
		return nil, errForeign
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrPayments, err)
	}
	t, err := d.Payments.ReconcilePayment(ctx, payments.PaymentRead{Provider: d.Provider.Name(), Version: n, Payment: p, Event: event, Refund: refund})
	if errors.Is(err, store.ErrNotFound) {
		return nil, errForeign
	}
	if err == nil && event.Dispute.Ref != "" && d.Disputed != nil {
		d.Disputed(t.Account) // the receiver looks whether it is still open
	}
	return t, err
}
