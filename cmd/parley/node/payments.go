package node

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/topup"
	"parley/billing/payment"
	"parley/billing/payment/simulated"
	"parley/billing/payment/stripe"
)

// till is what a server needs to take payments.
type till struct {
	provider  payment.Provider
	simulated *simulated.Provider // nil when money is real
	home      string              // the server's public base address
}

// TakePayments makes the configured payment provider. Call it before Parts and
// Handler; listening is the address that the public HTTP side really listens on, and
// DataDir must be set. Without payments it does nothing.
func (n *Node) TakePayments(listening, secret string) error {
	own, err := ownURL(listening, n.cfg.TLSCert != "")
	if err != nil {
		return err
	}
	n.till.home = own
	if n.cfg.BaseURL != "" {
		n.till.home = n.cfg.BaseURL
	}
	switch n.cfg.Payments {
	case "stripe":
		n.till.provider, err = stripe.New(stripe.Config{Key: n.cfg.StripeKey, WebhookSecret: n.cfg.StripeWebhookSecret})
	case "simulated":
		var client *http.Client // the usual
		if n.cert != nil {
			client = n.cert.client(webhookPatience)
		}
		n.till.simulated, err = simulated.New(simulated.Config{
			Client:  client,
			File:    filepath.Join(n.DataDir, "simulated-payments.json"),
			PageURL: n.till.home + "/simulated/",
			// Its webhooks come from this process: a public address need not lead back here.
			WebhookURL: own + "/hooks/simulated", WebhookSecret: derived(secret, "simulated payments"), Log: n.log,
		})
		n.till.provider = n.till.simulated
	}
	return err
}

// webhookPatience is how long a webhook of simulated payments may take.
const webhookPatience = 10 * time.Second

// ownURL is where this process reaches an address that it listens on.
func ownURL(listening string, secure bool) (string, error) {
	host, port, err := net.SplitHostPort(listening)
	if err != nil {
		return "", fmt.Errorf("payments: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port), nil
}

// derived makes a secret for one purpose from the master key.
func derived(secret, purpose string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(purpose))
	return hex.EncodeToString(h.Sum(nil))
}

// desk is where payments are taken.
func (n *Node) desk() *topup.Service {
	return &topup.Service{Store: n.db, Provider: n.till.provider, Hook: n.cfg.Payments, Home: n.till.home, Card: n.db.RateCard, Disputed: n.cluster.Freeze, Log: n.log}
}

// mountPayments adds the routes of top-ups, and the pages of the simulated provider.
func (n *Node) mountPayments(a *api.API) {
	if n.cfg.Payments == "none" {
		return
	}
	topup.Mount(a, n.desk())
	if n.till.simulated == nil {
		return
	}
	pages := n.till.simulated.Handler()
	for method, id := range map[string]string{http.MethodGet: "show-simulated-payment", http.MethodPost: "make-simulated-payment"} {
		a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, Operation: huma.Operation{
			Method: method, Path: "/simulated/pay/{checkout}", OperationID: id, Hidden: true,
		}}, pages)
	}
}
