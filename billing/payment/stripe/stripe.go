// Package stripe is the payment.Provider that takes real money, through Stripe.
//
// A top-up is a Checkout session in payment mode whose PaymentIntent keeps the
// card for off-session use; a charge is a PaymentIntent confirmed off-session
// with the customer's newest card. Our payments carry metadata: "account",
// and "topup" or "key". Payments of the same Stripe account without it are not
// found and their events ignored.
//
// Stripe forgets idempotency keys after a day. Charge and Refund therefore look
// for an earlier request with their key among the customer's (or the payment's)
// newest hundred before they send one; Stripe's key only keeps two that are sent
// at the same time apart. A page is good for that day too: the same top-up later
// gets a new one.
//
// The webhook endpoint needs the events in readers (event.go) and may be set to any
// API version.
package stripe

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"parley/billing/payment"
)

const (
	callTimeout    = 45 * time.Second // a whole method, tries included
	attemptTimeout = 15 * time.Second // one HTTP request; Stripe answers a charge in seconds
	retries        = 2                // the library's, with the same idempotency key
	lookBack       = 100              // the largest page Stripe gives

	metaAccount = "account"
	metaTopUp   = "topup"
	metaKey     = "key"
)

// Config is what a Provider needs.
type Config struct {
	Key           string // secret API key, sk_... or rk_...
	WebhookSecret string // signing secret of the webhook endpoint, whsec_...
	// Backend overrides where and how Stripe is reached; zero is Stripe with the bounds above.
	// Its logger is not used, for what the library logs is more than we want written.
	Backend stripego.BackendConfig
}

// Provider is a payment.Provider. It is safe for concurrent use.
type Provider struct {
	api    *stripego.Client
	secret string
}

var _ payment.Provider = (*Provider)(nil)

// New checks the configuration; it does not reach out to Stripe.
func New(c Config) (*Provider, error) {
	switch {
	case c.Key == "" || strings.ContainsAny(c.Key, " \t\r\n"):
		return nil, errors.New("stripe: the API key is missing or contains white space")
	case c.WebhookSecret == "":
		return nil, errors.New("stripe: the webhook secret is missing")
	}
	b := c.Backend
	b.LeveledLogger = &stripego.LeveledLogger{Level: stripego.LevelNull}
	b.EnableTelemetry = stripego.Bool(false)
	if b.HTTPClient == nil {
		b.HTTPClient = &http.Client{Timeout: attemptTimeout}
	}
	if b.MaxNetworkRetries == nil {
		b.MaxNetworkRetries = stripego.Int64(retries)
	}
	backends := stripego.NewBackendsWithConfig(&b)
	return &Provider{api: stripego.NewClient(c.Key, stripego.WithBackends(backends)), secret: c.WebhookSecret}, nil
}

// Name implements payment.Provider.
func (p *Provider) Name() string { return "stripe" }

// Payment implements payment.Provider.
func (p *Provider) Payment(ctx context.Context, id string) (payment.Payment, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	switch {
	case strings.HasPrefix(id, "cs_"):
		params := &stripego.CheckoutSessionRetrieveParams{}
		params.AddExpand("payment_intent.latest_charge")
		s, err := p.api.V1CheckoutSessions.Retrieve(ctx, id, params)
		if err != nil {
			return payment.Payment{}, lookupError("read checkout", err)
		}
		return fromSession(s)
	case strings.HasPrefix(id, "pi_"):
		params := &stripego.PaymentIntentRetrieveParams{}
		params.AddExpand("latest_charge")
		pi, err := p.api.V1PaymentIntents.Retrieve(ctx, id, params)
		if err != nil {
			return payment.Payment{}, lookupError("read payment", err)
		}
		return fromIntent(pi)
	}
	return payment.Payment{}, payment.ErrNotFound
}
