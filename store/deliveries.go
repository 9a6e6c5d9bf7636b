package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
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

// Attempt is one request that told a webhook of an event.
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
	// deliveryLease is how long whoever claimed a delivery may take to say what came of it.
	deliveryLease = 30 * time.Second
	// failingFor is how long nothing may arrive at a webhook before it is disabled.
	failingFor = 5 * 24 * time.Hour
	// DeliveriesFor is how long deliveries are kept.
	DeliveriesFor = 30 * 24 * time.Hour
)

// OnDelivery has f called within each transaction that puts events in line for
// webhooks, to have them told after the commit. Call it before db is used by several
// goroutines. Where f was not asked, as by a command, Claim finds them all the same.
func (db *DB) OnDelivery(f func(ctx context.Context, tx pgx.Tx) error) { db.delivering = f }

func (db *DB) enqueueDeliveries(ctx context.Context, tx pgx.Tx) error {
	if db.delivering == nil {
		return nil
	}
	return db.delivering(ctx, tx)
}

// happening is an event: what, and of what. Of one of a kind and a thing, a webhook is
// told once.
type happening struct{ id, account, kind, about string }

func event(account, kind, about string, now time.Time) happening {
	return happening{NewID(warningID, now), account, kind, about}
}

// happened puts events in line for the webhooks that want them, within the
// transaction that makes them true. The lock keeps a webhook from being deleted between
// being found and being referred to; it is taken last of all.
func (db *DB) happened(ctx context.Context, tx pgx.Tx, now time.Time, events ...happening) error {
	var ids, accounts, kinds, abouts []string
	for _, e := range events {
		ids, accounts, kinds, abouts = append(ids, e.id), append(accounts, e.account), append(kinds, e.kind), append(abouts, e.about)
	}
	tag, err := tx.Exec(ctx, `with w as materialized (select id, account_id, kinds from webhooks where account_id = any($2) and enabled and deleted_at is null order by id for key share)
		insert into webhook_deliveries (webhook_id, event_id, account_id, kind, about, created_at, next_at)
		select w.id, e.id, w.account_id, e.kind, e.about, $5, $5
		from w join unnest($1::text[], $2::text[], $3::text[], $4::text[]) as e(id, account, kind, about) on e.account = w.account_id
		where w.kinds = '{}' or e.kind = any(w.kinds)
		on conflict do nothing`, ids, accounts, kinds, abouts, now)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return db.enqueueDeliveries(ctx, tx)
}

// tellEnd tells webhooks of the end of a session, if it is a conversation. That it was
// answered is told before, by a checkpoint, unless none came.
func (db *DB) tellEnd(ctx context.Context, tx pgx.Tx, account string, s *session, now time.Time) error {
	if !s.terms.Kind.Agent() {
		return nil
	}
	var events []happening
	if s.startedAt != nil {
		events = append(events, event(account, CallAnswered, s.id, now))
	}
	events = append(events, event(account, CallEnded, s.id, now))
	if s.startedAt != nil {
		events = append(events, event(account, CallTranscript, s.id, now))
	}
	return db.happened(ctx, tx, now, events...)
}

// tellAnswered tells webhooks of conversations whose clock was not known to run before
// these checkpoints. Their own transaction does not, which others wait for; what is lost
// between the two is told by the session's end.
func (db *DB) tellAnswered(ctx context.Context, cs []Checkpoint, results []CheckpointResult, now time.Time) error {
	var events []happening
	for i, r := range results {
		if s := cs[i].Session; r.Err == nil && r.starts && s.Terms.Kind.Agent() {
			events = append(events, event(s.Account, CallAnswered, s.ID, now))
		}
	}
	if len(events) == 0 {
		return nil
	}
	return db.Tx(ctx, "tell of answers", func(tx pgx.Tx) error { return db.happened(ctx, tx, now, events...) })
}

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
// time, so that nobody gets more at once than they can take, nor keeps others waiting;
// ErrNotFound: there is none. Who does not say within half a minute what came of it
// (Attempted) leaves it to others: then the webhook may be told twice, and the attempt
// counts like one that failed. A webhook that answers more slowly than its events come
// falls behind, which its deliveries show, and holds up no other. ErrUnsealed, with the
// delivery: its secrets do not open.
func (h *Webhooks) Claim(ctx context.Context, now time.Time) (*DueDelivery, error) {
	d := &DueDelivery{}
	var sealed, old []byte
	for claimed := false; !claimed; {
		err := h.db.Tx(ctx, "claim delivery", func(tx pgx.Tx) error {
			err := tx.QueryRow(ctx, `select d.webhook_id, d.event_id, d.account_id, d.kind, d.about, d.created_at, d.tries + 1, w.url, w.failing_since, w.sealed,
					case when w.old_until > $1 then w.old_sealed end
				from webhook_deliveries d join webhooks w on w.id = d.webhook_id
				where d.state = 'pending' and d.next_at <= $1 and w.deleted_at is null and (w.busy_until is null or w.busy_until <= $1)
				order by d.next_at, d.event_id limit 1 for no key update of w, d skip locked`, now).
				Scan(&d.Webhook, &d.Event, &d.Account, &d.Kind, &d.About, &d.CreatedAt, &d.Try, &d.URL, &d.failing, &sealed, &old)
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
			return Send(ctx, tx, b)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, s := range [][]byte{sealed, old} {
		if s == nil {
			continue
		}
		secret, err := h.vault.open(d.Account, sealedAs(d.Webhook), s)
		if err != nil {
			return d, fmt.Errorf("webhook %s: %w", d.Webhook, err)
		}
		d.Secrets = append(d.Secrets, secret)
	}
	return d, nil
}

// Attempted notes what came of a claimed delivery. One that failed is tried again
// after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 14 hours, and then given up. A webhook
// that answers 410, or at which nothing has arrived for five days, is disabled, and its
// account warned.
func (h *Webhooks) Attempted(ctx context.Context, d *DueDelivery, a Attempt, now time.Time) error {
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
		var w *wallet
		if reason != "" { // it warns: its lock comes before all others
			if w, err = h.db.lockWallet(ctx, tx, d.Account, now); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `update webhooks set busy_until = null, failing_since = case when $2 then null when $4 then failing_since else coalesce(failing_since, $3) end where id = $1`,
			d.Webhook, a.OK(), now, a.Unsent)
		if err != nil {
			return err
		}
		state, next := outcome(d, &a, now)
		// Whoever was slower than the lease only adds what it knows, unless the event has arrived.
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
		return h.disable(ctx, tx, w, d, reason, now)
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

// disable tells a webhook nothing more, and warns its account.
func (h *Webhooks) disable(ctx context.Context, tx pgx.Tx, w *wallet, d *DueDelivery, reason string, now time.Time) error {
	tag, err := tx.Exec(ctx, "update webhooks set enabled = false, disabled_reason = $2, updated_at = $3 where id = $1 and enabled", d.Webhook, reason, now)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	if err := giveUp(ctx, tx, d.Webhook, now); err != nil {
		return err
	}
	if err := w.warn(ctx, tx, Warning{Kind: WarnWebhookDisabled, Data: WarningData{Webhook: d.Webhook, Reason: reason}}, now); err != nil {
		return err
	}
	b := &pgx.Batch{}
	w.save(b)
	return Send(ctx, tx, b)
}

// giveUp fails what is on its way to a webhook.
func giveUp(ctx context.Context, tx pgx.Tx, webhook string, now time.Time) error {
	_, err := tx.Exec(ctx, "update webhook_deliveries set state = 'failed', next_at = null, done_at = $2 where webhook_id = $1 and state = 'pending'", webhook, now)
	return err
}

const deliveryColumns = "webhook_id, event_id, kind, about, state, attempts, created_at, next_at, done_at"

// Deliveries lists what a webhook of the account was told or is to be told, the newest
// first. ErrNotFound: no such webhook.
func (h *Webhooks) Deliveries(ctx context.Context, account, id string, p Page) ([]Delivery, error) {
	if _, err := h.Get(ctx, account, id); err != nil {
		return nil, err
	}
	where, args := p.Clause("event_id", []any{account, id})
	return List(ctx, h.db, "list deliveries", pgx.RowToStructByPos[Delivery],
		"select "+deliveryColumns+" from webhook_deliveries where account_id = $1 and webhook_id = $2"+where, args...)
}

// Retry has a delivery attempted once more, now, whatever came of it. ErrInvalid when
// the webhook is disabled.
func (h *Webhooks) Retry(ctx context.Context, account, id, event string, now time.Time) (d *Delivery, err error) {
	err = h.db.Tx(ctx, "retry delivery", func(tx pgx.Tx) error {
		if err := enabled(ctx, tx, account, id); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `update webhook_deliveries set next_at = $4, done_at = null, tries = case when state = 'pending' then tries else $5 end, state = 'pending'
			where account_id = $1 and webhook_id = $2 and event_id = $3 returning `+deliveryColumns, account, id, event, now, maxDeliveryTries-1)
		if err != nil {
			return err
		}
		found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Delivery])
		if err != nil {
			return err
		}
		d = &found
		return h.db.enqueueDeliveries(ctx, tx)
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
func (h *Webhooks) Forget(ctx context.Context, now time.Time) (int64, error) {
	tag, err := h.db.pool.Exec(ctx, `delete from webhook_deliveries where (webhook_id, event_id) in
		(select webhook_id, event_id from webhook_deliveries where created_at < $1 order by created_at limit $2)`, now.Add(-DeliveriesFor), forgetBatch)
	return tag.RowsAffected(), Fail("forget deliveries", err)
}

// Purge removes deliveries of webhooks that were deleted, 10,000 at most, and those of the
// webhooks that have none left, and returns how many rows went. It waits for nobody: what
// others hold goes with a later call.
func (h *Webhooks) Purge(ctx context.Context) (int64, error) {
	told, err := h.db.pool.Exec(ctx, `delete from webhook_deliveries where (webhook_id, event_id) in
		(select d.webhook_id, d.event_id from webhooks w join webhook_deliveries d on d.webhook_id = w.id
		where w.deleted_at is not null limit $1 for update of d skip locked)`, forgetBatch)
	if err != nil {
		return 0, Fail("purge webhooks", err)
	}
	// An event that began before the deletion may still be entered; it has a share of the row, so the row stays until then.
	hooks, err := h.db.pool.Exec(ctx, `delete from webhooks where id in (select id from webhooks w where deleted_at is not null
		and not exists (select from webhook_deliveries d where d.webhook_id = w.id) for update skip locked)`)
	return told.RowsAffected() + hooks.RowsAffected(), Fail("purge webhooks", err)
}

// WarningOf returns a warning of the account.
func (db *DB) WarningOf(ctx context.Context, account, id string) (*Warning, error) {
	return First(ctx, db, "read warning", pgx.RowToStructByPos[Warning], selectWarning+"x.account_id = $1 and x.id = $2", account, id)
}

// SummaryOf returns the summary of a call of the account; empty: it has none.
func (db *DB) SummaryOf(ctx context.Context, account, session string) (text string, err error) {
	err = db.One(ctx, "read summary", "select coalesce(summary, '') from campaign_rows where account_id = $1 and session_id = $2", []any{account, session}, &text)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return text, err
}
