package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// ListenFor is how long a webhook that listens is kept after a program has asked for its events the last time.
const ListenFor = time.Hour

// Listen says that a program asks for the events of a webhook that listens, which is kept for ListenFor from now on.
// ErrInvalid: its events are sent to its address.
func (h *Store) Listen(ctx context.Context, account, id string) error {
	w, err := store.First[Webhook](ctx, h.db, "listen", `update webhooks set listens_until = case when listens_until is null then null else $3::timestamptz end
		where account_id = $1 and id = $2 and deleted_at is null returning `+columns, account, id, h.db.Time(ctx).Add(ListenFor))
	if err == nil && w.ListensUntil == nil {
		err = store.Invalid("the events of this webhook are sent to its address: make one with listen")
	}
	return err
}

// Take hands out the next event of a webhook of the account that listens, as Claim does; the program says by Took how
// it went. ErrNotFound: none is due.
func (h *Store) Take(ctx context.Context, account, id string) (*DueDelivery, error) {
	return h.claim(ctx, func(tx pgx.Tx, now time.Time) pgx.Row {
		return tx.QueryRow(ctx, selectDue+" and w.listens_until is not null and w.account_id = $2 and w.id = $3"+firstDue, now, account, id)
	})
}

// Took reports how it went with an event that was taken: it has arrived, or is given up, and nothing tries it again but Retry. The second
// report of an event changes nothing. ErrNotFound: the account has no such event, or its webhook does not listen.
func (h *Store) Took(ctx context.Context, account, id, event string, a Attempt) (d *Delivery, err error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("note attempt: %w", err)
	}
	state := Failed
	if a.OK() {
		state = Delivered
	}
	err = h.db.Tx(ctx, "note attempt", func(tx pgx.Tx) error {
		err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, `update webhooks set busy_until = null
			where account_id = $1 and id = $2 and listens_until is not null and deleted_at is null`, account, id))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `update webhook_deliveries set state = $4, next_at = null, done_at = $5,
				attempts = jsonb_path_query_array(attempts || jsonb_build_array($6::jsonb), format('$[last - %s to last]', $7::int - 1)::jsonpath)
			where account_id = $1 and webhook_id = $2 and event_id = $3 and state = 'pending' and tries > 0`, account, id, event, state, a.At, string(text), keptAttempts)
		if err != nil {
			return err
		}
		d, err = store.Row[Delivery](ctx, tx, "select "+deliveryColumns+" from webhook_deliveries where account_id = $1 and webhook_id = $2 and event_id = $3",
			account, id, event)
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Expire deletes the webhooks that listen for which no program has asked for ListenFor, and returns how many there were.
func (h *Store) Expire(ctx context.Context) (int64, error) {
	return h.db.Exec(ctx, "expire webhooks", `update webhooks set deleted_at = $1, updated_at = $1, enabled = false
		where listens_until <= $1 and deleted_at is null`, h.db.Time(ctx))
}
