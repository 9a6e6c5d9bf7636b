package messages

import (
	"context"
	"unicode/utf8"

	"parley/billing"
	"parley/billing/segment"
	"parley/store"
	"parley/store/ledger"
)

// MaxSegments bounds a text.
const MaxSegments = 10

// Errors of Send, besides those of ledger.StartSession.
const (
	// ErrNumber: the account has no such number that works.
	ErrNumber store.Error = "the number is not the account's"
	// ErrSilent: the number was not bought of the carrier that sends messages.
	ErrSilent store.Error = "the number sends no text messages"
)

// Order asks for a message to be sent.
type Order struct {
	Node         store.Node // that takes it on, though any may send it
	Account, Key string     // the key that asks; empty: none does
	Agent, Call  string     // that send it; empty: none does
	From         string     // E.164
	To           string     // E.164, a destination that may be called
	Country      string     // of To, ISO code
	Text         string
	Carrier      string            // that sends messages; empty: none does
	Card         *billing.RateCard // in force; it must be stored
}

// Text says what about a text is not allowed.
func Text(text string) error {
	switch {
	case text == "" || !utf8.ValidString(text):
		return store.Invalid("text: say what to send")
	case len(text) > 4*160*MaxSegments || segment.Count(text) > MaxSegments:
		return store.Invalid("text: %d segments at most", MaxSegments)
	}
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f || r == utf8.RuneError {
			return store.Invalid("text: no control characters but line breaks and tabs")
		}
	}
	return nil
}

// Send queues a message and holds its price. It refuses in this order: ErrInvalid (Text), ErrNoPrice of billing,
// ErrNumber, ErrSilent, ErrDoNotCall, and as StartSession does an outbound call, calls and messages in a second
// counted together.
func (s *Store) Send(ctx context.Context, o Order) (*Message, error) {
	if err := Text(o.Text); err != nil {
		return nil, err
	}
	start := ledger.Start{Node: o.Node, Account: o.Account, Key: o.Key, Agent: o.Agent, Terms: billing.Terms{Kind: billing.MessageOut, Country: o.Country}, Card: o.Card, Paced: true}
	segments := segment.Count(o.Text)
	start.Expect[billing.Segments] = int64(segments)
	if _, err := o.Card.Tariff(start.Terms); err != nil {
		return nil, err
	}
	var queued *Message
	err := s.ledger.Locked(ctx, "send message", o.Account, func(w *ledger.Tx) error {
		// The number stays the account's until the message is written.
		sells, err := store.Rows[string](ctx, w, `select carrier from numbers where account_id = $1 and e164 = $2 and trunk_id is null
			and state in ('owned', 'grace') for share`, o.Account, o.From)
		switch {
		case err != nil:
			return err
		case len(sells) == 0:
			return s.notOne(ctx, w, o)
		case sells[0] == "" || sells[0] != o.Carrier:
			return ErrSilent
		}
		if err := store.MayCall(ctx, w, o.Account, o.To); err != nil {
			return err
		}
		work, err := w.StartWork(ctx, start)
		if err != nil {
			return err
		}
		id := store.NewID(store.MessageID, w.Now())
		_, err = w.Exec(ctx, `insert into messages (id, account_id, direction, number, peer, body, segments, encoding, status, carrier, session_id, agent_id, call_id, try_at, created_at)
			values ($1, $2, 'outbound', $3, $4, $5, $6, $7, 'queued', $8, $9, nullif($10, ''), nullif($11, ''), $12, $12)`,
			id, o.Account, o.From, o.To, o.Text, segments, segment.Of(o.Text), o.Carrier, work.ID, o.Agent, o.Call, w.Now())
		if err != nil {
			return err
		}
		if queued, err = store.Row[Message](ctx, w, selectMessage+" and id = $2", o.Account, id); err != nil { // after the commit it may be sent
			return err
		}
		return s.db.Enqueue(ctx, w, store.SendMessages, "", "")
	})
	if err != nil {
		return nil, err
	}
	return queued, nil
}

// notOne is why no number of the operator's lines is the sender: it may be on a trunk of the account.
func (s *Store) notOne(ctx context.Context, w *ledger.Tx, o Order) error {
	own, err := store.Scalar[bool](ctx, w, "select exists (select from numbers where account_id = $1 and e164 = $2 and state in ('owned', 'grace'))", o.Account, o.From)
	switch {
	case err != nil:
		return err
	case own:
		return ErrSilent
	}
	return ErrNumber
}
