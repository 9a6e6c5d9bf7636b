// Package messages stores text messages of accounts, and has the ledger charge for their
// segments.
//
// A message that goes out is queued with its price held, under the wallet's lock, and is
// handed to the carrier once: Claim notes that before the carrier is asked, for no
// carrier keeps a second request from sending it again. It is charged when the carrier
// has taken it (Reported), and what is held is let go when the carrier refuses it (Refused)
// or does not tell for an hour whether it has.
package messages

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// Direction is which way a message goes.
type Direction string

// The directions.
const (
	Outbound Direction = "outbound"
	Inbound  Direction = "inbound"
)

// Status is how far a message is. Delivered, Failed and Received are final.
type Status string

// The states of a message.
const (
	Queued    Status = "queued" // the carrier does not have it yet
	Sent      Status = "sent"   // the carrier has it; some networks never tell more
	Delivered Status = "delivered"
	Failed    Status = "failed"
	Received  Status = "received"
)

// Message is a text message of an account.
type Message struct {
	ID        string
	Account   string
	Direction Direction
	Number    string // the account's
	Peer      string // the other one, E.164 but for senders that have a name
	Text      string // empty once it was deleted
	Segments  int
	Encoding  string
	Status    Status
	Reason    string  // why it has Failed, for people
	Agent     *string // that sent it
	Call      *string // in which it did
	Cost      billing.Money
	CreatedAt time.Time
	SentAt    *time.Time // the carrier has taken it, or brought it
	EndedAt   *time.Time // it was delivered, has failed or came in
	DeletedAt *time.Time // its text was
}

// Store keeps messages. Several goroutines may use it.
type Store struct {
	db     *store.DB
	ledger *ledger.Ledger
}

// New returns a Store in a database.
func New(db *store.DB) *Store { return &Store{db, ledger.New(db)} }

const selectMessage = `select id, account_id, direction, number, peer, body, segments, encoding, status, reason, agent_id, call_id,
	coalesce((select u.amount_nano from session_usage u where u.session_id = messages.session_id), 0), created_at, sent_at, ended_at, deleted_at
	from messages where account_id = $1`

// Message returns one of the account.
func (s *Store) Message(ctx context.Context, account, id string) (*Message, error) {
	return store.First[Message](ctx, s.db, "read message", selectMessage+" and id = $2", account, id)
}

// Filter picks messages. Zero fields pick all.
type Filter struct {
	store.Range
	Direction Direction
	Number    string // the account's
	Peer      string
	Status    Status
}

// Messages lists the account's, newest first.
func (s *Store) Messages(ctx context.Context, account string, f Filter, p store.Page) ([]Message, error) {
	var sql strings.Builder
	args := []any{account}
	add := func(condition string, arg any) {
		args = append(args, arg)
		fmt.Fprintf(&sql, " and "+condition, len(args))
	}
	if !f.From.IsZero() {
		add("id >= $%d", store.FloorID(store.MessageID, f.From))
	}
	if !f.To.IsZero() {
		add("id < $%d", store.FloorID(store.MessageID, f.To))
	}
	for _, is := range [][2]string{{"direction", string(f.Direction)}, {"number", f.Number}, {"peer", f.Peer}, {"status", string(f.Status)}} {
		if is[1] != "" {
			add(is[0]+" = $%d", is[1])
		}
	}
	return store.ListPage[Message](ctx, s.db, "list messages", p, "id", selectMessage+sql.String(), args...)
}

// Forget deletes the text of a message of the account that has ended; that there was the message stays: with
// whom, when and what it cost. Deleting it again changes nothing. ErrNotFound: there is no such message, or it
// has not ended.
func (s *Store) Forget(ctx context.Context, account, id string) error {
	return s.db.Must(ctx, "forget message", `update messages set body = '', deleted_at = coalesce(deleted_at, $3)
		where account_id = $1 and id = $2 and status <> 'queued'`, account, id, s.db.Time(ctx))
}

// sweep bounds what one round forgets of an account.
const sweep = 1000

// Expire deletes the texts of messages that their accounts have kept as long as they keep what is said in calls, a
// thousand of each account at most, and returns how many there were.
func (s *Store) Expire(ctx context.Context) (int64, error) {
	now := s.db.Time(ctx)
	return s.db.Exec(ctx, "expire messages", `update messages set body = '', deleted_at = $1 where id in (
		select m.id from accounts a cross join lateral (
			select id from messages where account_id = a.id and deleted_at is null and status <> 'queued'
				and created_at <= $1::timestamptz - make_interval(days => a.conversation_days) order by created_at limit $2) m
		where a.conversation_days is not null)`, now, sweep)
}
