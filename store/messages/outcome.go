package messages

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

const (
	// lease is how long a claim is left to the process that has it.
	lease = 2 * time.Minute
	// doubt is how long a message waits for the carrier to say whether it has it.
	doubt = time.Hour
	// patience is how long a carrier may be away before a message is given up.
	patience = 15 * time.Minute
	// firstLook and lastLook are when the carrier is first and last asked whether a message was delivered, after it
	// was sent; in between it is asked whenever as much time has gone by again.
	firstLook, lastLook = 3 * time.Second, 3 * 24 * time.Hour
	// awayWait is how long after a carrier was away a message is tried again.
	awayWait = 10 * time.Second
)

// Due is a message about which it is time to turn to the carrier.
type Due struct {
	ID, Account string
	Status      Status // Queued or Sent
	Number      string
	Peer        string
	Text        string
	Ref         string     // the carrier's name of it; empty while it is Queued
	HandedAt    *time.Time // when another claimant handed it over; nil: the caller is to, and nobody does after it
	CreatedAt   time.Time
	SentAt      *time.Time
}

// IsDue is the condition, of SQL, in which $1 is the time, under which Claim finds one, of whichever carrier.
const IsDue = "exists (select from messages where try_at <= $1)"

// Claim returns a message of a carrier's that is due, the caller's for a lease: one to hand over, one that somebody
// has handed over and not said with what result, or one that was sent and may have been delivered. ErrNotFound:
// there is none.
func (s *Store) Claim(ctx context.Context, carrier string) (*Due, error) {
	now := s.db.Time(ctx)
	return store.First[Due](ctx, s.db, "claim message", `with due as (
			select id, handed_at from messages where carrier = $1 and try_at <= $2 order by try_at, id limit 1 for update skip locked)
		update messages m set try_at = $3, handed_at = coalesce(m.handed_at, $2) from due where m.id = due.id
		returning m.id, m.account_id, m.status, m.number, m.peer, m.body, coalesce(m.carrier_ref, ''), due.handed_at, m.created_at, m.sent_at`,
		carrier, now, now.Add(lease))
}

// NotHanded says that a claimed message was not handed over, for the carrier is away: it is tried again, and given up
// after a quarter of an hour.
func (s *Store) NotHanded(ctx context.Context, d *Due) error {
	now := s.db.Time(ctx)
	if now.Sub(d.CreatedAt) >= patience {
		return s.Refused(ctx, d, "The carrier could not be reached.")
	}
	return s.db.Do(ctx, "put message back", "update messages set handed_at = null, try_at = $3 where id = $1 and account_id = $2 and status = 'queued'",
		d.ID, d.Account, now.Add(awayWait))
}

// Unclear says that nobody knows whether the carrier has a message. It waits for news, and has failed without.
func (s *Store) Unclear(ctx context.Context, d *Due) error {
	now := s.db.Time(ctx)
	handed := now
	if d.HandedAt != nil {
		handed = *d.HandedAt
	}
	if now.Sub(handed) >= doubt {
		return s.Refused(ctx, d, "The carrier did not say whether it has sent the message.")
	}
	return s.look(ctx, d.ID, d.Account, Queued, handed.Add(doubt))
}

// Look puts off the next look at a message that was sent, until as much time has gone by as since then.
func (s *Store) Look(ctx context.Context, d *Due) error {
	now := s.db.Time(ctx)
	age := max(firstLook, now.Sub(*d.SentAt))
	if age >= lastLook {
		return s.db.Do(ctx, "look at message no more", "update messages set try_at = null where id = $1 and account_id = $2 and status = 'sent'", d.ID, d.Account)
	}
	return s.look(ctx, d.ID, d.Account, Sent, now.Add(age))
}

func (s *Store) look(ctx context.Context, id, account string, while Status, at time.Time) error {
	return s.db.Do(ctx, "look at message later", "update messages set try_at = $4 where id = $1 and account_id = $2 and status = $3", id, account, while, at)
}

// Refused ends a message that is Queued and that the carrier does not send; nothing is charged.
func (s *Store) Refused(ctx context.Context, d *Due, reason string) error {
	return s.settle(ctx, d.Account, d.ID, News{State: Failed, Reason: reason})
}

// News is what a carrier says of a message that was handed to it.
type News struct {
	Ref    string // the carrier's name of it
	ID     string // ours; empty where the carrier does not say
	State  Status // Sent, Delivered or Failed
	Reason string // of Failed
}

// Reported applies what the carrier has answered about a claimed message that it has taken.
func (s *Store) Reported(ctx context.Context, d *Due, n News) error {
	return s.settle(ctx, d.Account, d.ID, n)
}

// Told applies what a carrier's webhook says, of a message of any account. ErrNotFound: it is none of ours.
func (s *Store) Told(ctx context.Context, carrier string, n News) error {
	type key struct{ ID, Account string }
	k, err := store.First[key](ctx, s.db, "find message", `select id, account_id from messages where carrier = $1 and direction = 'outbound'
		and (carrier_ref = $2 or id = $3 and handed_at is not null) limit 1`, carrier, n.Ref, n.ID)
	if err != nil {
		return err
	}
	return s.settle(ctx, k.Account, k.ID, n)
}

// How the session of a message ends.
const (
	reasonCompleted = "completed"
	detailRefused   = "refused"
)

// settle applies news to a message: what is over stays so, and it is charged once.
func (s *Store) settle(ctx context.Context, account, id string, n News) error {
	return s.ledger.Locked(ctx, "settle message", account, func(w *ledger.Tx) error {
		m, err := store.Row[struct {
			Status   Status
			Session  string
			Segments int64
		}](ctx, w, "select status, session_id, segments from messages where account_id = $1 and id = $2 and direction = 'outbound' for update", account, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil || m.Status != Queued && (m.Status != Sent || n.State == Sent || n.Ref == "") {
			return err
		}
		if m.Status == Queued {
			closing := ledger.Closing{Reason: store.ReasonFailed, Detail: detailRefused}
			if n.Ref != "" {
				closing = ledger.Closing{Reason: reasonCompleted, StartedAt: w.Now()}
				closing.Usage[billing.Segments] = m.Segments
			}
			if err := w.EndWork(ctx, m.Session, closing); err != nil {
				return err
			}
		}
		next := new(time.Time)
		*next = w.Now().Add(firstLook)
		if n.State != Sent {
			next = nil
		}
		_, err = w.Exec(ctx, `update messages set status = $3, reason = $4, carrier_ref = coalesce(carrier_ref, nullif($5, '')), try_at = $6,
				sent_at = coalesce(sent_at, case when $5 <> '' then $7::timestamptz end), ended_at = case when $3 <> 'sent' then $7::timestamptz end
			where account_id = $1 and id = $2`, account, id, n.State, n.Reason, n.Ref, next, w.Now())
		if err != nil || n.State == Sent {
			return err
		}
		kind := store.MessageFailed
		if n.State == Delivered {
			kind = store.MessageDelivered
		}
		return s.db.EnqueueDeliveries(ctx, w, w.Now(), store.Event{Account: account, Kind: kind, About: id})
	})
}
