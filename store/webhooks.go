package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Webhook is an address that an account wants to be told at of what happens.
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
}

// Kinds of events that webhooks are told of, besides those of warnings.
const (
	CallStarted    = "call.started"
	CallAnswered   = "call.answered"
	CallEnded      = "call.ended"
	CallTranscript = "call.transcript"
	CallSummarized = "call.summary"
	CallAnalyzed   = "call.analyzed"
	WebhookTest    = "webhook.test" // on request only
)

// WebhookKinds are the kinds of events that a webhook can ask for.
func WebhookKinds() []string {
	return []string{CallStarted, CallAnswered, CallEnded, CallTranscript, CallSummarized, CallAnalyzed, string(WarnBalanceLow), string(WarnNumberPastDue),
		string(WarnNumberReleased), string(WarnRechargeFailed), string(WarnDisputeOpened), string(WarnWebhookDisabled), string(WarnSpending)}
}

// Bounds of webhooks.
const (
	MaxWebhooks           = 10   // of one account
	maxWebhookURL         = 2000 // bytes
	maxWebhookDescription = 500  // bytes
	// OldSecretFor is how long a secret goes on signing after a rotation.
	OldSecretFor = 24 * time.Hour
	secretBytes  = 32
)

// webhookSecretPrefix begins every secret (Standard Webhooks, "Signature scheme").
const webhookSecretPrefix = "whsec_"

// Webhooks keeps webhooks, with their secrets sealed in a vault, and what they are
// told.
type Webhooks struct {
	db    *DB
	vault *Vault
}

// NewWebhooks returns the webhooks of a database.
func NewWebhooks(db *DB, v *Vault) *Webhooks { return &Webhooks{db, v} }

// Now is the database's: see DB.Now.
func (w *Webhooks) Now() time.Time { return w.db.Now() }

const webhookColumns = "id, url, description, kinds, enabled, disabled_reason, failing_since, old_until, created_at, updated_at"

func scanWebhook(row pgx.CollectableRow) (w Webhook, err error) {
	err = row.Scan(&w.ID, &w.URL, &w.Description, &w.Kinds, &w.Enabled, &w.DisabledReason, &w.FailingSince, &w.OldSecretUntil, &w.CreatedAt, &w.UpdatedAt)
	return w, err
}

// valid says what is wrong with what an owner wrote. Where requests may go is not the
// store's business.
func (w *Webhook) valid() error {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || len(w.URL) > maxWebhookURL:
		return Invalid("url: an absolute https address of at most %d bytes", maxWebhookURL)
	case u.User != nil || u.Fragment != "":
		return Invalid("url: without a user and without a fragment")
	case len(w.Description) > maxWebhookDescription:
		return Invalid("description: at most %d bytes", maxWebhookDescription)
	case strings.ContainsRune(w.URL+w.Description, 0):
		return Invalid("url, description: without zero characters")
	}
	known := WebhookKinds()
	for _, k := range w.Kinds {
		if !slices.Contains(known, k) {
			return Invalid("events: %q is none; there are %s", k, strings.Join(known, ", "))
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
func (h *Webhooks) newSecret(account, id string) (shown string, sealed []byte) {
	b := make([]byte, secretBytes)
	rand.Read(b)
	shown = webhookSecretPrefix + base64.StdEncoding.EncodeToString(b)
	return shown, h.vault.seal.Seal([]byte{vaultForm}, nil, []byte(shown), bound(account, sealedAs(id)))
}

// Create adds a webhook of which URL, Description and Kinds count, and returns it with
// its secret, which nothing shows again. ErrInvalid also when the account has
// MaxWebhooks.
func (h *Webhooks) Create(ctx context.Context, account string, w Webhook, now time.Time) (*Webhook, string, error) {
	if err := w.valid(); err != nil {
		return nil, "", err
	}
	id := NewID(webhookID, now)
	secret, sealed := h.newSecret(account, id)
	var out *Webhook
	err := h.db.Tx(ctx, "create webhook", func(tx pgx.Tx) error {
		// The lock on the account makes the count exact.
		var n int
		if err := tx.QueryRow(ctx, "select 1 from accounts where id = $1 for no key update", account).Scan(&n); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, "select count(*) from webhooks where account_id = $1 and deleted_at is null", account).Scan(&n); err != nil {
			return err
		}
		if n >= MaxWebhooks {
			return Invalid("an account has at most %d webhooks", MaxWebhooks)
		}
		rows, err := tx.Query(ctx, `insert into webhooks (id, account_id, url, description, kinds, sealed, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, $7, $7) returning `+webhookColumns, id, account, w.URL, w.Description, w.Kinds, sealed, now)
		if err != nil {
			return err
		}
		made, err := pgx.CollectExactlyOneRow(rows, scanWebhook)
		out = &made
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return out, secret, nil
}

// List lists the account's webhooks, the newest first; there are MaxWebhooks at most.
func (h *Webhooks) List(ctx context.Context, account string, p Page) ([]Webhook, error) {
	page, args := p.Clause("id", []any{account})
	return List(ctx, h.db, "list webhooks", scanWebhook, "select "+webhookColumns+" from webhooks where account_id = $1 and deleted_at is null"+page, args...)
}

// Get returns a webhook of the account.
func (h *Webhooks) Get(ctx context.Context, account, id string) (*Webhook, error) {
	return First(ctx, h.db, "read webhook", scanWebhook, "select "+webhookColumns+" from webhooks where account_id = $1 and id = $2 and deleted_at is null", account, id)
}

// WebhookChange is what changes of a webhook; nil leaves it as it is.
type WebhookChange struct {
	URL, Description *string
	Kinds            *[]string
	Enabled          *bool
}

// Change changes a webhook. Disabling it gives up what is on its way to it; enabling
// it forgets its failures.
func (h *Webhooks) Change(ctx context.Context, account, id string, c WebhookChange, now time.Time) (out *Webhook, err error) {
	err = h.db.Tx(ctx, "change webhook", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "select "+webhookColumns+" from webhooks where account_id = $1 and id = $2 and deleted_at is null for no key update", account, id)
		if err != nil {
			return err
		}
		found, err := pgx.CollectExactlyOneRow(rows, scanWebhook)
		if err != nil {
			return err
		}
		out = &found
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
		_, err = tx.Exec(ctx, `update webhooks set url = $2, description = $3, kinds = $4, enabled = $5, disabled_reason = $6, failing_since = $7, updated_at = $8
			where id = $1`, id, out.URL, out.Description, out.Kinds, out.Enabled, out.DisabledReason, out.FailingSince, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// clearWarnings ends what the account was warned of about a webhook.
func clearWarnings(ctx context.Context, tx pgx.Tx, account, id string, now time.Time) error {
	_, err := tx.Exec(ctx, `update warnings set cleared_at = $4 where account_id = $1 and kind = $2 and data->>'webhook' = $3 and cleared_at is null`,
		account, WarnWebhookDisabled, id, now)
	return err
}

// Delete ends a webhook: it is told nothing more, and nothing shows it. What it was told
// goes later, by Purge, for money transactions hold a share of its row and this takes no
// lock that they wait for.
func (h *Webhooks) Delete(ctx context.Context, account, id string, now time.Time) error {
	return h.db.Tx(ctx, "delete webhook", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `update webhooks set deleted_at = $3, updated_at = $3, enabled = false
			where account_id = $1 and id = $2 and deleted_at is null`, account, id, now)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		return clearWarnings(ctx, tx, account, id, now)
	})
}

// Rotate gives a webhook a new secret, which is returned and shown by nothing else.
// The one before signs beside it for OldSecretFor; one older than that does not.
func (h *Webhooks) Rotate(ctx context.Context, account, id string, now time.Time) (*Webhook, string, error) {
	secret, sealed := h.newSecret(account, id)
	w, err := First(ctx, h.db, "rotate secret", scanWebhook, `update webhooks set old_sealed = sealed, old_until = $4, sealed = $3, updated_at = $5
		where account_id = $1 and id = $2 and deleted_at is null returning `+webhookColumns, account, id, sealed, now.Add(OldSecretFor), now)
	if err != nil {
		return nil, "", err
	}
	return w, secret, nil
}

// Test puts an event of no consequence in line for a webhook. ErrInvalid when it is
// disabled.
func (h *Webhooks) Test(ctx context.Context, account, id string, now time.Time) (d *Delivery, err error) {
	err = h.db.Tx(ctx, "test webhook", func(tx pgx.Tx) error {
		if err := enabled(ctx, tx, account, id); err != nil {
			return err
		}
		event := NewID(warningID, now)
		if _, err := tx.Exec(ctx, `insert into webhook_deliveries (webhook_id, event_id, account_id, kind, about, created_at, next_at)
			values ($1, $2, $3, $4, $2, $5, $5)`, id, event, account, WebhookTest, now); err != nil {
			return err
		}
		d = &Delivery{Webhook: id, Event: event, Kind: WebhookTest, About: event, State: Pending, CreatedAt: now, NextAt: &now}
		return h.db.enqueueDeliveries(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// enabled holds a webhook of the account, and refuses one that is disabled.
func enabled(ctx context.Context, tx pgx.Tx, account, id string) error {
	var on bool
	err := tx.QueryRow(ctx, "select enabled from webhooks where account_id = $1 and id = $2 and deleted_at is null for key share", account, id).Scan(&on)
	if err == nil && !on {
		err = Invalid("the webhook is disabled: enable it first")
	}
	return err
}
