// Package simulated is a payment.Provider that moves no money. It behaves like a
// real one seen from outside: a page to pay on (Handler), cards kept for later,
// webhooks that are signed and delivered over HTTP (Run), state that survives a
// restart. Wherever a person looks it says that it is simulated.
//
// The cents of an amount choose what happens, so that every case can be played
// through the ordinary interface (10.02 dollars: insufficient funds):
//
//	.01  declined (generic_decline)
//	.02  declined (insufficient_funds)
//	.03  authentication_required; paid all the same on the page, where somebody is present
//	.04  Charge succeeds but answers ErrUnknown the first time
//	.05  the webhook comes 60 s late
//	.06  the webhook comes twice, 1 s apart
//	.07  out of order: a failed first try is reported 2 s after the success
//	.08  the webhook never comes
//	.09  disputed: opened after 2 s, funds withdrawn after 3 s
//	.10  disputed as .09, and won after 10 s
//	.11  disputed as .09, and lost after 10 s
//	.12  refunded in full by hand at the provider after 2 s
//	else the payment succeeds and the webhook comes at once
//
// Times are by the clock of the Config, and the same calls at the same times give
// the same ids and events for one Instance. OpenDispute, CloseDispute, Refund,
// Pay, Decline and Cancel do by hand what the table and the page do.
//
// A webhook is sent until it is answered with a 2xx: again after 1 s, 2 s, 4 s
// and so on up to 5 minutes, for three days, then it is dropped. At most 1,000
// wait; one more drops the oldest. Drops are counted (Dropped) and logged. Those
// that wait do not hold up younger ones, so order is not kept.
package simulated

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"parley/billing/payment"
	"parley/billing/statefile"
)

// SignatureHeader carries the signature of a webhook, as made by payment.Sign.
const SignatureHeader = "Simulated-Signature"

// Config is what a Provider needs. PageURL, WebhookURL and WebhookSecret are required.
type Config struct {
	File          string // where the state is kept, mode 0600; empty: in memory only
	PageURL       string // where Handler is reached, such as http://127.0.0.1:8080/simulated/
	WebhookURL    string // absolute http or https
	WebhookSecret string
	// Instance is part of every id. A file has its own; without one, and when this is empty,
	// it is drawn at random, so that ids never repeat those of a state that was lost.
	Instance string
	Now      func() time.Time // nil: time.Now
	Client   *http.Client     // sends webhooks; nil: one with a 10 s limit that follows no redirect
	Log      *slog.Logger     // nil: silent
}

// patient is the client without another.
var patient = &http.Client{
	Timeout:       10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Provider is a payment.Provider. It is safe for concurrent use.
type Provider struct {
	file    string
	pages   string
	hook    string
	secret  string
	now     func() time.Time
	client  *http.Client
	log     *slog.Logger
	wake    chan struct{} // one token is enough to look again
	sending sync.Mutex    // taken before mu; one delivery at a time

	mu sync.Mutex
	st *state
}

var _ payment.Provider = (*Provider)(nil)

// New reads the state file, if there is one. It starts nothing.
func New(c Config) (*Provider, error) {
	hook, err := url.Parse(c.WebhookURL)
	switch {
	case err != nil || hook.Host == "" || (hook.Scheme != "http" && hook.Scheme != "https"):
		return nil, errors.New("simulated payments: the webhook URL must be absolute")
	case c.WebhookSecret == "":
		return nil, errors.New("simulated payments: the webhook secret is missing")
	case c.PageURL == "":
		return nil, errors.New("simulated payments: the page URL is missing")
	}
	st, err := load(c.File)
	if err != nil {
		return nil, fmt.Errorf("simulated payments: %w", err)
	}
	st.Instance = statefile.Instance(st.Instance, c.Instance)
	p := &Provider{
		file: c.File, pages: strings.TrimSuffix(c.PageURL, "/") + "/", hook: c.WebhookURL, secret: c.WebhookSecret,
		now: c.Now, client: cmp.Or(c.Client, patient), log: cmp.Or(c.Log, slog.New(slog.DiscardHandler)), wake: make(chan struct{}, 1), st: st,
	}
	if p.now == nil {
		p.now = time.Now
	}
	return p, nil
}

// Name implements payment.Provider.
func (p *Provider) Name() string { return "sim" }
