package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// DeliveryState is how far a delivery is.
type DeliveryState string

// States of a delivery.
const (
	Pending   DeliveryState = "pending"
	Delivered DeliveryState = "delivered"
	Failed    DeliveryState = "failed" // given up
)

// Delivery is one event on its way to one webhook.
type Delivery struct {
	Webhook   string
	Event     string // its identifier, the same at all webhooks and all attempts
	Kind      string
	About     string // the call, the warning, or for a test the event itself
	State     DeliveryState
	Attempts  []Attempt // the last twenty, oldest first
	CreatedAt time.Time
	NextAt    *time.Time // of the next attempt; nil: none comes
	DoneAt    *time.Time
}

// Attempt is one request that carried an event to a webhook.
type Attempt struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status"`           // of the answer; 0: there was none
	TookMS  int64     `json:"took_ms"`          // until its headers, or the failure
	Answer  string    `json:"answer,omitempty"` // the first kilobyte, as text
	Failure string    `json:"failure,omitempty"`
	// Unsent says that there was nothing to send, which is not the webhook's fault; Final,
	// that trying again would not help.
	Unsent bool `json:"-"`
	Final  bool `json:"-"`
}

// OK says whether the webhook has taken the event: a status of 200 to 299.
func (a *Attempt) OK() bool { return a.Status >= 200 && a.Status < 300 }

// statusGone is what a receiver answers that wants nothing more (RFC 9110, section 15.5.11).
const statusGone = 410

// deliveryWaits follow the attempts that fail; the delivery fails with the one after the last.
var deliveryWaits = [...]time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour}

// Rhythm of deliveries.
const (
	maxDeliveryTries = len(deliveryWaits) + 1
	keptAttempts     = 20
	// deliveryLease is how long a sender may take to report on a delivery that it claimed.
	deliveryLease = 30 * time.Second
	// failingFor is how long nothing may arrive at a webhook before it is disabled.
	failingFor = 5 * 24 * time.Hour
	// DeliveriesFor is how long deliveries are kept.
	DeliveriesFor = 30 * 24 * time.Hour
)

// DueDelivery is a delivery that is to be attempted now.
type DueDelivery struct {
	Delivery
	Account string
	URL     string
	Secrets []string // that sign, the newest first, as they were shown
	Try     int      // from 1
	failing *time.Time
}

// Claim hands out a delivery that is due, to one caller, and one of each webhook at a
// time, so that no receiver gets more at once than it can take, nor keeps others waiting;
// ErrNotFound: there is none. The claim is a lease of 30 s, until Attempted; then another
// sender may claim it, the webhook may receive the event twice, and the attempt counts as
// failed. A webhook that answers more slowly than its events come
// falls behind, which its deliveries show, and holds up no other. ErrUnsealed, with the
// delivery: its secrets do not open. Those of webhooks that listen are not among them: see Take.
func (h *Store) Claim(ctx context.Context) (*DueDelivery, error) {
	return h.claim(ctx, func(tx pgx.Tx, now time.Time) pgx.Row {
		return tx.QueryRow(ctx, selectDue+sent+firstDue, now)
	})
}

const (
	selectDue = `select d.webhook_id, d.event_id, d.account_id, d.kind, d.about, d.created_at, d.tries + 1, w.url, w.failing_since, w.sealed,
			case when w.old_until > $1 then w.old_sealed end` + fromDue
	fromDue = ` from webhook_deliveries d join webhooks w on w.id = d.webhook_id
		where d.state = 'pending' and d.next_at <= $1 and w.deleted_at is null and (w.busy_until is null or w.busy_until <= $1)`
	sent     = " and w.listens_until is null"
	firstDue = ` order by d.next_at, d.event_id limit 1 for no key update of w, d skip locked`
)

// Due is the condition, of SQL, in which $1 is the time, under which Claim finds one.
const Due = "exists (select" + fromDue + sent + ")"

// claim leases the delivery that first finds.
func (h *Store) claim(ctx context.Context, first func(tx pgx.Tx, now time.Time) pgx.Row) (*DueDelivery, error) {
	now := h.db.Time(ctx)
	d := &DueDelivery{}
	var sealed, old []byte
	for claimed := false; !claimed; {
		err := h.db.Tx(ctx, "claim delivery", func(tx pgx.Tx) error {
			err := first(tx, now).Scan(&d.Webhook, &d.Event, &d.Account, &d.Kind, &d.About, &d.CreatedAt, &d.Try, &d.URL, &d.failing, &sealed, &old)
			if err != nil {
				return err
			}
			b := &pgx.Batch{}
			if claimed = d.Try <= maxDeliveryTries; claimed {
				lapses := max(deliveryLease, deliveryWaits[min(d.Try, len(deliveryWaits))-1])
				b.Queue("update webhook_deliveries set tries = $3, next_at = $4 where webhook_id = $1 and event_id = $2", d.Webhook, d.Event, d.Try, now.Add(lapses))
				b.Queue("update webhooks set busy_until = $2 where id = $1", d.Webhook, now.Add(deliveryLease))
			} else {
				b.Queue(`update webhook_deliveries set state = 'failed', next_at = null, done_at = $3, attempts = attempts || jsonb_build_array($4::jsonb)
					where webhook_id = $1 and event_id = $2`, d.Webhook, d.Event, now, Attempt{At: now, Failure: "the attempts did not come to an end"})
			}
			return store.Send(ctx, tx, b)
		})
		if err != nil {
			return nil, err
		}
	}
	secrets, err := h.open(d.Account, d.Webhook, sealed, old)
	d.Secrets = secrets
	return d, err
}

// Attempted reports the outcome of a claimed delivery. One that failed is tried again
// after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 14 hours, and then given up. A webhook
// that answers 410, or at which nothing has arrived for five days, is disabled, and its
// account warned.
func (h *Store) Attempted(ctx context.Context, d *DueDelivery, a Attempt) error {
	now := h.db.Time(ctx)
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("note attempt: %w", err)
	}
	reason := ""
	switch {
	case a.OK(), a.Unsent:
	case a.Status == statusGone:
		reason = "gone"
	case d.failing != nil && now.Sub(*d.failing) >= failingFor:
		reason = "failing"
	}
	return h.db.Tx(ctx, "note attempt", func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `update webhooks set busy_until = null, failing_since = case when $2 then null when $4 then failing_since else coalesce(failing_since, $3) end where id = $1`,
			d.Webhook, a.OK(), now, a.Unsent)
		if err != nil {
			return err
		}
		state, next := outcome(d, &a, now)
		// A sender that was slower than its lease only adds its attempt, unless the event has arrived.
		_, err = tx.Exec(ctx, `update webhook_deliveries set
				attempts = jsonb_path_query_array(attempts || jsonb_build_array($3::jsonb), format('$[last - %s to last]', $4::int - 1)::jsonpath),
				state = case when mine then $5 else state end, next_at = case when mine then $6 else next_at end, done_at = case when mine and $5 <> 'pending' then $7 else done_at end
			from (select webhook_id, event_id, state <> 'delivered' and ($5 = 'delivered' or state = 'pending' and tries = $8) as mine
				from webhook_deliveries where webhook_id = $1 and event_id = $2 for no key update) x
			where webhook_deliveries.webhook_id = x.webhook_id and webhook_deliveries.event_id = x.event_id`,
			d.Webhook, d.Event, string(text), keptAttempts, state, next, now, d.Try)
		if err != nil || reason == "" {
			return err
		}
		return h.disable(ctx, tx, d, reason, now)
	})
}

// outcome is the state after an attempt, and when the next comes.
func outcome(d *DueDelivery, a *Attempt, now time.Time) (DeliveryState, *time.Time) {
	switch {
	case a.OK():
		return Delivered, nil
	case a.Final, a.Status == statusGone, d.Try >= maxDeliveryTries:
		return Failed, nil
	}
	next := now.Add(deliveryWaits[d.Try-1])
	return Pending, &next
}

// disable stops the deliveries of a webhook and warns its account.
func (h *Store) disable(ctx context.Context, tx pgx.Tx, d *DueDelivery, reason string, now time.Time) error {
	tag, err := tx.Exec(ctx, "update webhooks set enabled = false, disabled_reason = $2, updated_at = $3 where id = $1 and enabled", d.Webhook, reason, now)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	if err := giveUp(ctx, tx, d.Webhook, now); err != nil {
		return err
	}
	return h.db.Warn(ctx, tx, d.Account, store.Warning{Kind: store.WarnWebhookDisabled, Data: store.WarningData{Webhook: d.Webhook, Reason: reason}, CreatedAt: now})
}

// giveUp fails what is on its way to a webhook.
func giveUp(ctx context.Context, tx pgx.Tx, webhook string, now time.Time) error {
	return store.Do(ctx, tx,
		"update webhook_deliveries set state = 'failed', next_at = null, done_at = $2 where webhook_id = $1 and state = 'pending'", webhook, now)
}

// Asked is a webhook of the account that is enabled, as it is asked about a call: its address and
// the secrets that sign. ErrNotFound: there is none, or it listens. ErrUnsealed: its secrets do not open.
func (h *Store) Asked(ctx context.Context, account, id string) (address string, secrets []string, err error) {
	type hook struct {
		URL         string
		Sealed, Old []byte
	}
	w, err := store.First[hook](ctx, h.db, "read webhook", `select url, sealed, case when old_until > $3 then old_sealed end from webhooks
		where account_id = $1 and id = $2 and enabled and deleted_at is null and listens_until is null`, account, id, h.db.Time(ctx))
	if err != nil {
		return "", nil, err
	}
	secrets, err = h.open(account, id, w.Sealed, w.Old)
	return w.URL, secrets, err
}

// open opens the secrets of a webhook of the account, the newest first; nil is none.
func (h *Store) open(account, id string, sealed ...[]byte) (secrets []string, err error) {
	for _, s := range sealed {
		if s == nil {
			continue
		}
		secret, err := h.seal.Open(account, sealedAs(id), s)
		if err != nil {
			return nil, fmt.Errorf("webhook %s: %w", id, err)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

const deliveryColumns = "webhook_id, event_id, kind, about, state, attempts, created_at, next_at, done_at"

// Deliveries lists the deliveries to a webhook of the account, the newest first. ErrNotFound: no such webhook.
func (h *Store) Deliveries(ctx context.Context, account, id string, p store.Page) ([]Delivery, error) {
	if _, err := h.Get(ctx, account, id); err != nil {
		return nil, err
	}
	return store.ListPage[Delivery](ctx, h.db, "list deliveries", p, "event_id",
		"select "+deliveryColumns+" from webhook_deliveries where account_id = $1 and webhook_id = $2", account, id)
}

// Retry has a delivery attempted once more, now, in whatever state it is. ErrInvalid when
// the webhook is disabled.
func (h *Store) Retry(ctx context.Context, account, id, event string) (d *Delivery, err error) {
	err = h.db.Tx(ctx, "retry delivery", func(tx pgx.Tx) error {
		if err := enabled(ctx, tx, account, id); err != nil {
			return err
		}
		d, err = store.Row[Delivery](ctx, tx,
			`update webhook_deliveries set next_at = $4, done_at = null, tries = case when state = 'pending' then tries else $5 end, state = 'pending'
			where account_id = $1 and webhook_id = $2 and event_id = $3 returning `+deliveryColumns, account, id, event, h.db.Time(ctx), maxDeliveryTries-1)
		if err != nil {
			return err
		}
		return h.db.Enqueue(ctx, tx, store.DeliverEvents, "", "")
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// forgetBatch is how many deliveries go in one statement.
const forgetBatch = 10_000

// Forget deletes deliveries that are older than DeliveriesFor, 10,000 at most, and
// returns how many.
func (h *Store) Forget(ctx context.Context) (int64, error) {
	return h.db.Exec(ctx, "forget deliveries", `delete from webhook_deliveries where (webhook_id, event_id) in
		(select webhook_id, event_id from webhook_deliveries where created_at < $1 order by created_at limit $2)`, h.db.Time(ctx).Add(-DeliveriesFor), forgetBatch)
}

// Purge removes deliveries of webhooks that were deleted, 10,000 at most, and those of the
// webhooks that have none left, and returns how many rows went. It waits for nobody: what
// others hold goes with a later call.
func (h *Store) Purge(ctx context.Context) (int64, error) {
	told, err := h.db.Exec(ctx, "purge webhooks", `delete from webhook_deliveries where (webhook_id, event_id) in
		(select d.webhook_id, d.event_id from webhooks w join webhook_deliveries d on d.webhook_id = w.id
		where w.deleted_at is not null limit $1 for update of d skip locked)`, forgetBatch)
	if err != nil {
		return 0, err
	}
	// An event that began before the deletion may still be entered; it has a share of the row, so the row stays until then.
	hooks, err := h.db.Exec(ctx, "purge webhooks", `delete from webhooks where id in (select id from webhooks w where deleted_at is not null
		and not exists (select from webhook_deliveries d where d.webhook_id = w.id) for update skip locked)`)
	return told + hooks, err
}
