// Package webhook manages the webhooks of an account, under /v1/webhooks, and makes the
// signed requests that they get (Standard Webhooks). It does not send them: where requests
// may go is decided elsewhere. Programs take those of webhooks that listen.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/webhook"
)

// Check says why requests may not go to an address, in a sentence for its owner.
type Check func(address string) error

// Mount adds the routes.
func Mount(a *api.API, db *store.DB, hooks *webhook.Store, check Check) {
	m := &webhooks{db: db, hooks: hooks, check: check, waiting: map[string]int{}}
	const all, one = "/v1/webhooks", "/v1/webhooks/{id}"
	api.Register(a, routes.Get(all, "list-webhooks", "List the account's webhooks", "The newest first."), m.list)
	api.Register(a, routes.Post(all, "create-webhook", "Create a webhook",
		"An account has 10 at most. The answer is the only one that holds the secret: keep it. The address must be on the public Internet and take https, unless it listens.").Created().ShownOnce(), m.create)
	api.Register(a, routes.Get(one, "get-webhook", "Read a webhook", "Without its secret.", http.StatusNotFound), m.get)
	api.Register(a, routes.Patch(one, "update-webhook", "Change a webhook",
		"Fields that are not sent stay. Disabling it drops pending deliveries; enabling it resets its failures; it gets the events from then on.", http.StatusNotFound), m.change)
	api.Register(a, routes.Delete(one, "delete-webhook", "Delete a webhook", "With its deliveries.", http.StatusNotFound), m.remove)
	api.Register(a, routes.Post(one+"/rotate", "rotate-webhook-secret", "Give a webhook a new secret",
		"For 24 hours both secrets sign; of several rotations the last two secrets do.", http.StatusNotFound), m.rotate)
	api.Register(a, routes.Post(one+"/test", "test-webhook", "Send a test event",
		"An event `webhook.test`, whatever the webhook asks for. The result is among the deliveries.", http.StatusNotFound).Accepted(), m.test)
	api.Register(a, routes.Get(one+"/deliveries", "list-webhook-deliveries", "List a webhook's deliveries",
		"The newest first, for 30 days.", http.StatusNotFound), m.deliveries)
	api.Register(a, routes.Post(one+"/deliveries/{delivery}/retry", "retry-webhook-delivery", "Deliver an event again",
		"Once, now, whether it arrived before or not; under the same `webhook-id`.", http.StatusNotFound).Accepted(), m.retry)
	api.Register(a, routes.Post(one+"/deliveries/take", "take-webhook-event", "Take the next event of a webhook that listens",
		"For programs that have no address on the public Internet: they are answered the request that would be sent, signed now, and send it where they like. The next event "+
			"comes when they have said how it went, or 30 seconds later. Without an event the answer comes after `wait` seconds. What was taken and is not reported is taken again.", http.StatusNotFound), m.take)
	api.Register(a, routes.Post(one+"/deliveries/{delivery}/attempts", "report-webhook-attempt", "Report how it went with an event that was taken",
		"It is delivered with a status from 200 to 299, else given up, and is not tried again unless somebody asks for it. A second report changes nothing.", http.StatusNotFound), m.took)
	describe(a)
}

var routes = api.Managed("Webhooks")

// webhooks serves the routes.
type webhooks struct {
	db    *store.DB
	hooks *webhook.Store
	check Check

	mu      sync.Mutex
	waiting map[string]int // requests of accounts that wait for an event
}

func view(w *webhook.Webhook) wire.Webhook {
	return wire.Webhook{ID: w.ID, URL: w.URL, Description: w.Description, Events: append([]string{}, w.Kinds...), Enabled: w.Enabled, DisabledReason: w.DisabledReason,
		FailingSince: w.FailingSince, OldSecretUntil: w.OldSecretUntil, ListensUntil: w.ListensUntil, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt}
}

// OneWebhook names a webhook in an address.
type OneWebhook struct {
	ID string `path:"id" doc:"The webhook's identifier." maxLength:"100" example:"wh_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func (m *webhooks) list(ctx context.Context, in *api.Paging) (*api.Listed[wire.Webhook], error) {
	return api.Pages(in.Limit, func(w webhook.Webhook) string { return w.ID }, view)(m.hooks.List(ctx, api.AccountOf(ctx), in.Page()))
}

func (m *webhooks) create(ctx context.Context, in *struct{ Body wire.NewWebhook }) (*api.Secret[wire.SecretWebhook], error) {
	hook := webhook.Webhook{URL: in.Body.URL, Description: in.Body.Description, Kinds: in.Body.Events}
	if in.Body.Listen {
		hook.ListensUntil = new(time.Time)
	} else if err := m.allowed(in.Body.URL); err != nil {
		return nil, err
	}
	w, secret, err := m.hooks.Create(ctx, api.AccountOf(ctx), hook)
	if err != nil {
		return nil, err
	}
	return api.NotStored(wire.SecretWebhook{Webhook: view(w), Secret: secret}), nil
}

// allowed refuses an address that no request may go to.
func (m *webhooks) allowed(address string) error {
	if err := m.check(address); err != nil {
		return api.Bad("url: %v", err)
	}
	return nil
}

func (m *webhooks) get(ctx context.Context, in *OneWebhook) (*api.Reply[wire.Webhook], error) {
	return api.Show(view)(m.hooks.Get(ctx, api.AccountOf(ctx), in.ID))
}

type changeInput struct {
	OneWebhook
	Body struct {
		URL         *string   `json:"url,omitempty" doc:"Where events are sent." minLength:"1" maxLength:"2000" example:"https://example.com/parley"`
		Description *string   `json:"description,omitempty" doc:"What it is for." maxLength:"500" example:"Bookings"`
		Events      *[]string `json:"events,omitempty" doc:"The types of events that it wants; an empty list: all." maxItems:"50" nullable:"false"`
		Enabled     *bool     `json:"enabled,omitempty" doc:"Whether events are sent to it."`
	}
}

func (m *webhooks) change(ctx context.Context, in *changeInput) (*api.Reply[wire.Webhook], error) {
	b := in.Body
	if b.URL != nil {
		if err := m.allowed(*b.URL); err != nil {
			return nil, err
		}
	}
	return api.Show(view)(m.hooks.Change(ctx, api.AccountOf(ctx), in.ID, webhook.Change{URL: b.URL, Description: b.Description, Kinds: b.Events, Enabled: b.Enabled}))
}

func (m *webhooks) remove(ctx context.Context, in *OneWebhook) (*struct{}, error) {
	return nil, m.hooks.Delete(ctx, api.AccountOf(ctx), in.ID)
}

func (m *webhooks) rotate(ctx context.Context, in *OneWebhook) (*api.Secret[wire.SecretWebhook], error) {
	w, secret, err := m.hooks.Rotate(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return api.NotStored(wire.SecretWebhook{Webhook: view(w), Secret: secret}), nil
}

// Headers of a delivery (Standard Webhooks, "Webhook headers").
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

// Tolerance is how far a receiver's clock may be from the timestamp of what it takes.
const Tolerance = 5 * time.Minute

const secretPrefix = "whsec_"

// Sign sets the headers of a delivery: a signature by each secret, of the identifier, the
// time of the attempt and the body (Standard Webhooks, "Signature scheme"). Secrets are
// as their owner was shown them; the error holds none.
func Sign(h http.Header, secrets []string, id string, at time.Time, body []byte) error {
	stamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, secretPrefix))
		if err != nil {
			return fmt.Errorf("secret %d of the webhook is none", i)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + stamp + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set(headerID, id)
	h.Set(headerTimestamp, stamp)
	h.Set(headerSignature, strings.Join(signatures, " "))
	return nil
}
