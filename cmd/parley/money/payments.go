package money

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/topup"
	"parley/billing/payment"
	"parley/billing/payment/simulated"
	"parley/billing/payment/stripe"
	"parley/cmd/parley/certificate"
	"parley/cmd/parley/config"
)

// webhookPatience is how long a webhook of simulated payments may take.
const webhookPatience = 10 * time.Second

// Payments are what a server needs to take payments.
type Payments struct {
	Provider  payment.Provider    // nil: no payments are taken
	Simulated *simulated.Provider // nil when money is real
	Home      string              // the server's public base address
}

// PaymentsConfig is what making the payment provider needs besides the settings.
type PaymentsConfig struct {
	Listening string            // address that the public HTTP side really listens on
	DataDir   string            // where simulated payments are kept
	Secret    string            // of the webhooks of simulated payments
	Own       *certificate.Pair // nil without TLS
	Log       *slog.Logger
}

// OpenPayments makes the configured payment provider, if there is one.
func OpenPayments(cfg *config.Config, o PaymentsConfig) (p Payments, err error) {
	own, err := config.OwnURL(o.Listening, o.Own != nil)
	if err != nil {
		return p, fmt.Errorf("payments: %w", err)
	}
	p.Home = cmp.Or(cfg.BaseURL, own)
	switch cfg.Payments {
	case "stripe":
		p.Provider, err = stripe.New(stripe.Config{Key: cfg.StripeKey, WebhookSecret: cfg.StripeWebhookSecret})
	case "simulated":
		var client *http.Client // the usual
		if o.Own != nil {
			client = o.Own.Client(webhookPatience)
		}
		p.Simulated, err = simulated.New(simulated.Config{
			Client:  client,
			File:    filepath.Join(o.DataDir, "simulated-payments.json"),
			PageURL: p.Home + "/simulated/",
			// Its webhooks come from this process: a public address need not lead back here.
			WebhookURL: own + "/hooks/simulated", WebhookSecret: o.Secret, Log: o.Log,
		})
		p.Provider = p.Simulated
	}
	return p, err
}

// Mount adds the routes of top-ups, and the pages of the simulated provider.
func (p *Payments) Mount(a *api.API, desk *topup.Service) {
	topup.Mount(a, desk)
	if p.Simulated == nil {
		return
	}
	pages := p.Simulated.Handler()
	for method, id := range map[string]string{http.MethodGet: "show-simulated-payment", http.MethodPost: "make-simulated-payment"} {
		a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, Operation: huma.Operation{
			Method: method, Path: "/simulated/pay/{checkout}", OperationID: id, Hidden: true,
		}}, pages)
	}
}
