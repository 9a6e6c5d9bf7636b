package messages

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"parley/billing"
	"parley/billing/destination"
	"parley/billing/segment"
	"parley/store"
	"parley/store/ledger"
)

// Arrival is a message that a carrier has brought.
type Arrival struct {
	Node     store.Node
	Carrier  string
	Ref      string // the carrier's name of it
	From, To string
	Text     string
	At       time.Time         // when the carrier had it; zero: now
	Card     *billing.RateCard // in force; it must be stored
}

// maxPeer bounds the name of a sender, in bytes, and maxArrival a text: no carrier joins more segments.
const (
	maxPeer    = 64
	maxArrival = 16 << 10
)

// Receive stores a message for the number that it is for, once however often it is brought, and charges for it; an account
// that no session may start for has it for nothing. A word such as STOP puts the sender on the account's
// do-not-call list, and START takes it off. ErrNotFound: no number of the carrier's is called so.
func (s *Store) Receive(ctx context.Context, a Arrival) error {
	type owner struct{ Account, Country string }
	// A mailbox brings each message many times, which is to cost no transaction.
	known, err := store.Value[bool](ctx, s.db, "find message", "select exists (select from messages where carrier = $1 and carrier_ref = $2)", a.Carrier, a.Ref)
	if err != nil || known {
		return err
	}
	n, err := store.First[owner](ctx, s.db, "find number of message", `select account_id, country from numbers where e164 = $1 and carrier = $2
		and trunk_id is null and state in ('owned', 'grace')`, a.To, a.Carrier)
	if err != nil {
		return err
	}
	a.Text = clean(a.Text, maxArrival)
	a.From = clean(a.From, maxPeer)
	segments := segment.Count(a.Text)
	return s.ledger.Locked(ctx, "receive message", n.Account, func(w *ledger.Tx) error {
		id, now := store.NewID(store.MessageID, w.Now()), w.Now()
		if a.At.IsZero() || a.At.After(now) {
			a.At = now
		}
		tag, err := w.Exec(ctx, `insert into messages (id, account_id, direction, number, peer, body, segments, encoding, status, carrier, carrier_ref, created_at, sent_at, ended_at)
			values ($1, $2, 'inbound', $3, $4, $5, $6, $7, 'received', $8, $9, $10, $11, $10) on conflict (carrier, carrier_ref) do nothing`,
			id, n.Account, a.To, a.From, a.Text, segments, segment.Of(a.Text), a.Carrier, a.Ref, now, a.At)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if err := s.charge(ctx, w, a, n.Account, n.Country, id, segments); err != nil {
			return err
		}
		if err := s.heed(ctx, w, n.Account, a); err != nil {
			return err
		}
		return s.db.EnqueueDeliveries(ctx, w, now, store.Event{Account: n.Account, Kind: store.MessageReceived, About: id})
	})
}

// free are the reasons for which a message that comes in costs nothing: nobody can refuse it.
var free = []error{billing.ErrNoPrice, store.ErrSuspended, store.ErrDisputed, store.ErrTopupRequired, store.ErrInsufficientBalance, store.ErrSpending}

func (s *Store) charge(ctx context.Context, w *ledger.Tx, a Arrival, account, country, id string, segments int) error {
	start := ledger.Start{Node: a.Node, Account: account, Terms: billing.Terms{Kind: billing.MessageIn, Country: country}, Card: a.Card}
	start.Expect[billing.Segments] = int64(segments)
	work, err := w.StartWork(ctx, start)
	if slices.ContainsFunc(free, func(why error) bool { return errors.Is(err, why) }) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := w.Exec(ctx, "update messages set session_id = $3 where account_id = $1 and id = $2", account, id, work.ID); err != nil {
		return err
	}
	c := ledger.Closing{Reason: reasonCompleted, StartedAt: w.Now()}
	c.Usage[billing.Segments] = int64(segments)
	return w.EndWork(ctx, work.ID, c)
}

// Words that a message consists of, whatever their case, of those who want no more of them, and of those who do again:
// the ones that carriers of the United States know.
var (
	stops  = []string{"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"}
	starts = []string{"START", "UNSTOP"}
)

// heed does what the sender's word asks for. Only what a word has put on the list a word takes off.
func (s *Store) heed(ctx context.Context, w *ledger.Tx, account string, a Arrival) error {
	number, err := destination.International(a.From)
	if err != nil {
		return nil // a sender that has a name, and no number
	}
	switch word := strings.ToUpper(strings.Trim(a.Text, " \t\r\n.!\"'")); {
	case slices.Contains(stops, word):
		_, err = w.Exec(ctx, `insert into do_not_call (id, account_id, number, reason, source, since) values ($1, $2, $3, 'asked for by text message', $4, $5)
			on conflict (account_id, number) do nothing`, store.NewID(store.ListedID, w.Now()), account, number, store.ListedByMessage, w.Now())
	case slices.Contains(starts, word):
		_, err = w.Exec(ctx, "delete from do_not_call where account_id = $1 and number = $2 and source = $3", account, number, store.ListedByMessage)
	}
	return err
}

// clean brings a text into the form that is kept: valid UTF-8 without zero characters, which the database does not hold,
// of a number of bytes at most.
func clean(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}
