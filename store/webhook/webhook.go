// Package webhook keeps the addresses at which accounts receive events, and the deliveries
// that are on their way there.
//
// A transaction that makes an event true puts a delivery of it in line for each webhook that
// wants it (store.DB.EnqueueDeliveries). Store.Claim leases one that is due to a sender,
// which reports by Store.Attempted; a lease that runs out counts as a failed attempt.
package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Webhook is an address at which an account receives events.
type Webhook struct {
	ID             string
	URL            string
	Description    string
	Kinds          []string // of events; empty: all
	Enabled        bool
	DisabledReason string     // failing, gone (it said so) or asked; empty while it is enabled
	FailingSince   *time.Time // nothing has arrived there since
	OldSecretUntil *time.Time // when the secret before the last rotation ceases to sign
	CreatedAt      time.Time
	UpdatedAt      time.Time
	// ListensUntil is when a webhook goes that listens, unless a program asks for its events before; nil: they are sent to URL.
	ListensUntil *time.Time
}

// Test is the kind of the events that are sent on request only.
const Test = "webhook.test"

// Kinds are the kinds of events that a webhook can ask for.
func Kinds() []string {
	return []string{store.CallIncoming, store.CallStarted, store.CallAnswered, store.CallEnded, store.CallTranscript, store.CallSummarized, store.CallAnalyzed, store.MessageReceived, store.MessageDelivered, store.MessageFailed, string(store.WarnBalanceLow), string(store.WarnNumberPastDue),
		string(store.WarnNumberReleased), string(store.WarnRechargeFailed), string(store.WarnDisputeOpened), string(store.WarnWebhookDisabled), string(store.WarnSpending), string(store.WarnEngineKey)}
}

// Bounds of webhooks.
const (
	Max            = 10   // of one account
	maxURL         = 2000 // bytes
	maxDescription = 500  // bytes
	// OldSecretFor is how long a secret goes on signing after a rotation.
	OldSecretFor = 24 * time.Hour
	secretBytes  = 32
)

// secretPrefix begins every secret (Standard Webhooks, "Signature scheme").
const secretPrefix = "whsec_"

// Store keeps webhooks, whose secrets are sealed, and deliveries. Several goroutines may use
// it.
type Store struct {
	db   *store.DB
	seal Sealer
}

// Sealer seals secrets by the server's master key, for an account and under a name.
type Sealer interface {
	Seal(account, name, secret string) []byte
	Open(account, name string, sealed []byte) (string, error)
}

// New returns the webhooks of a database, whose secrets s seals.
func New(db *store.DB, s Sealer) *Store { return &Store{db, s} }

// columns are the fields of a Webhook, in their order.
const columns = "id, url, description, kinds, enabled, disabled_reason, failing_since, old_until, created_at, updated_at, listens_until"

const selectWebhook = "select " + columns + " from webhooks where account_id = $1 and deleted_at is null"

// valid says what is wrong with what an owner wrote. Where requests may go is not the
// store's business.
func (w *Webhook) valid() error {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || len(w.URL) > maxURL:
		return store.Invalid("url: an absolute https address of at most %d bytes", maxURL)
	case u.User != nil || u.Fragment != "":
		return store.Invalid("url: without a user and without a fragment")
	case len(w.Description) > maxDescription:
		return store.Invalid("description: at most %d bytes", maxDescription)
	case strings.ContainsRune(w.URL+w.Description, 0):
		return store.Invalid("url, description: without zero characters")
	}
	known := Kinds()
	for _, k := range w.Kinds {
		if !slices.Contains(known, k) {
			return store.Invalid("events: %q is none; there are %s", k, strings.Join(known, ", "))
		}
	}
	slices.Sort(w.Kinds)
	w.Kinds = slices.Compact(append([]string{}, w.Kinds...)) // [] and not null
	return nil
}

// sealedAs is the name under which a webhook's secrets are sealed. No secret of an
// account can have it.
func sealedAs(webhook string) string { return "webhook:" + webhook }

// newSecret makes a secret that signs, as it is shown and as it is stored.
func (h *Store) newSecret(account, id string) (shown string, sealed []byte) {
	b := make([]byte, secretBytes)
	rand.Read(b)
	shown = secretPrefix + base64.StdEncoding.EncodeToString(b)
	return shown, h.seal.Seal(account, sealedAs(id), shown)
}

// Create adds a webhook of which URL, Description and Kinds count, and whether it listens, and returns it with
// its secret, which nothing shows again. One that listens is kept for ListenFor from now. ErrInvalid also when the account has
// Max.
func (h *Store) Create(ctx context.Context, account string, w Webhook) (*Webhook, string, error) {
	now := h.db.Time(ctx)
	if err := w.valid(); err != nil {
		return nil, "", err
	}
	if w.ListensUntil != nil {
		until := now.Add(ListenFor)
		w.ListensUntil = &until
	}
	id := store.NewID(store.WebhookID, now)
	secret, sealed := h.newSecret(account, id)
	var out *Webhook
	err := h.db.Tx(ctx, "create webhook", func(tx pgx.Tx) (err error) {
		// The lock on the account makes the count exact.
		if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "select from accounts where id = $1 for no key update", account)); err != nil {
			return err
		}
		n, err := store.Scalar[int](ctx, tx, "select count(*) from webhooks where account_id = $1 and deleted_at is null", account)
		if err != nil {
			return err
		}
		if n >= Max {
			return store.Invalid("an account has at most %d webhooks", Max)
		}
		out, err = store.Row[Webhook](ctx, tx, `insert into webhooks (id, account_id, url, description, kinds, sealed, created_at, updated_at, listens_until)
			values ($1, $2, $3, $4, $5, $6, $7, $7, $8) returning `+columns, id, account, w.URL, w.Description, w.Kinds, sealed, now, w.ListensUntil)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return out, secret, nil
}

// List lists the account's webhooks, the newest first; there are Max at most.
func (h *Store) List(ctx context.Context, account string, p store.Page) ([]Webhook, error) {
	return store.ListPage[Webhook](ctx, h.db, "list webhooks", p, "id", selectWebhook, account)
}

// Get returns a webhook of the account.
func (h *Store) Get(ctx context.Context, account, id string) (*Webhook, error) {
	return store.First[Webhook](ctx, h.db, "read webhook", selectWebhook+" and id = $2", account, id)
}

// Change is what changes of a webhook; nil leaves it as it is.
type Change struct {
	URL, Description *string
	Kinds            *[]string
	Enabled          *bool
}

// Change changes a webhook. Disabling it gives up what is on its way to it; enabling
// it forgets its failures.
func (h *Store) Change(ctx context.Context, account, id string, c Change) (out *Webhook, err error) {
	now := h.db.Time(ctx)
	err = h.db.Tx(ctx, "change webhook", func(tx pgx.Tx) error {
		if out, err = store.Row[Webhook](ctx, tx, selectWebhook+" and id = $2 for no key update", account, id); err != nil {
			return err
		}
		if c.URL != nil {
			out.URL = *c.URL
		}
		if c.Description != nil {
			out.Description = *c.Description
		}
		if c.Kinds != nil {
			out.Kinds = *c.Kinds
		}
		if err := out.valid(); err != nil {
			return err
		}
		switch {
		case c.Enabled == nil || *c.Enabled == out.Enabled:
		case *c.Enabled:
			out.Enabled, out.DisabledReason, out.FailingSince = true, "", nil
			err = clearWarnings(ctx, tx, account, id, now)
		default:
			out.Enabled, out.DisabledReason = false, "asked"
			err = giveUp(ctx, tx, id, now)
		}
		if err != nil {
			return err
		}
		out.UpdatedAt = now
		return store.Do(ctx, tx,
			`update webhooks set url = $2, description = $3, kinds = $4, enabled = $5, disabled_reason = $6, failing_since = $7, updated_at = $8
			where id = $1`, id, out.URL, out.Description, out.Kinds, out.Enabled, out.DisabledReason, out.FailingSince, now)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// clearWarnings ends what the account was warned of about a webhook.
func clearWarnings(ctx context.Context, tx pgx.Tx, account, id string, now time.Time) error {
	return store.Do(ctx, tx, `update warnings set cleared_at = $4 where account_id = $1 and kind = $2 and data->>'webhook' = $3 and cleared_at is null`,
		account, store.WarnWebhookDisabled, id, now)
}

// Delete ends a webhook: it receives nothing more, and nothing shows it. Its deliveries
// go later, by Purge, for money transactions hold a share of its row and this takes no
// lock that they wait for.
func (h *Store) Delete(ctx context.Context, account, id string) error {
	now := h.db.Time(ctx)
	return h.db.Tx(ctx, "delete webhook", func(tx pgx.Tx) error {
		err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, `update webhooks set deleted_at = $3, updated_at = $3, enabled = false
			where account_id = $1 and id = $2 and deleted_at is null`, account, id, now))
		if err != nil {
			return err
		}
		return clearWarnings(ctx, tx, account, id, now)
	})
}

// Rotate gives a webhook a new secret, which is returned and shown by nothing else.
// The one before signs beside it for OldSecretFor; one older than that does not.
func (h *Store) Rotate(ctx context.Context, account, id string) (*Webhook, string, error) {
	now := h.db.Time(ctx)
	secret, sealed := h.newSecret(account, id)
	w, err := store.First[Webhook](ctx, h.db, "rotate secret", `update webhooks set old_sealed = sealed, old_until = $4, sealed = $3, updated_at = $5
		where account_id = $1 and id = $2 and deleted_at is null returning `+columns, account, id, sealed, now.Add(OldSecretFor), now)
	if err != nil {
		return nil, "", err
	}
	return w, secret, nil
}

// Test enqueues a test event for a webhook. ErrInvalid when it is
// disabled.
func (h *Store) Test(ctx context.Context, account, id string) (d *Delivery, err error) {
	now := h.db.Time(ctx)
	err = h.db.Tx(ctx, "test webhook", func(tx pgx.Tx) error {
		if err := enabled(ctx, tx, account, id); err != nil {
			return err
		}
		event := store.NewID(store.EventID, now)
		if _, err := tx.Exec(ctx, `insert into webhook_deliveries (webhook_id, event_id, account_id, kind, about, created_at, next_at)
			values ($1, $2, $3, $4, $2, $5, $5)`, id, event, account, Test, now); err != nil {
			return err
		}
		d = &Delivery{Webhook: id, Event: event, Kind: Test, About: event, State: Pending, CreatedAt: now, NextAt: &now}
		return h.db.Enqueue(ctx, tx, store.DeliverEvents, "", "")
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// enabled holds a webhook of the account, and refuses one that is disabled.
func enabled(ctx context.Context, tx pgx.Tx, account, id string) error {
	on, err := store.Scalar[bool](ctx, tx,
		"select enabled from webhooks where account_id = $1 and id = $2 and deleted_at is null for key share", account, id)
	if err == nil && !on {
		err = store.Invalid("the webhook is disabled: enable it first")
	}
	return err
}
