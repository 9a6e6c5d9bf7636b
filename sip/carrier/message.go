package carrier

import (
	"context"
	"time"
	"unicode/utf8"
)

// Messenger is a Carrier whose numbers send and receive text messages. The webhooks of
// a Notifier report how sent messages end, and bring those that come in; a Mailbox is
// asked for them.
type Messenger interface {
	Carrier
	// Send hands a message over, from a number of ours. ErrRefused: it was not sent and will not be. ErrUnavailable: it was
	// not sent, try again later; but with ErrUnclear it may have been, and nothing keeps a second Send from sending it twice.
	Send(context.Context, Message) (Delivery, error)
	// Delivery says how a message stands that was sent, by its ID. ErrNotFound: the carrier knows none such, or not any more.
	Delivery(ctx context.Context, id string) (Delivery, error)
}

// Mailbox is a Messenger that is asked for what came in.
type Mailbox interface {
	Messenger
	// Received are the messages that came in lately, oldest first; the caller's to keep. They are there again the next time,
	// for ten minutes at least.
	Received(context.Context) ([]Received, error)
}

// Message is a text to send.
type Message struct {
	Reference string // ours, of this message, as that of an Order
	From, To  string
	Text      string // not empty
}

// MessageState is how far a message is.
type MessageState string

// Delivered and Undelivered are final.
const (
	Sent        MessageState = "sent" // the carrier has taken it
	Delivered   MessageState = "delivered"
	Undelivered MessageState = "undelivered"
)

// Delivery is a message as the carrier sees it now.
type Delivery struct {
	ID        string // the carrier's, of the message
	Reference string // ours; empty where the carrier does not say
	State     MessageState
	Reason    string // why it is Undelivered, for people; may be empty
}

// Received is a message that came in.
type Received struct {
	ID       string // the carrier's
	From, To string // To is a number of ours; From need not be one: senders may have names
	Text     string
	At       time.Time // when the carrier had it; zero: it does not say
}

// Notice is what a webhook is about; all empty: something else.
type Notice struct {
	Order    string    // the reference of an order
	Delivery *Delivery // news of a message that was sent
	Received *Received
}

// Check says whether a message can be sent.
func (m Message) Check() error {
	switch {
	case !ValidReference(m.Reference):
		return Refused("the message's reference is not usable")
	case !ValidNumber(m.From), !ValidNumber(m.To):
		return Refused("a message goes from a number to a number")
	case m.Text == "" || !utf8.ValidString(m.Text):
		return Refused("a message needs a text")
	}
	return nil
}
