package outbound

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"unicode/utf8"

	"parley/api"
	"parley/api/messages"
	"parley/pipeline/session"
	"parley/store"
)

// Callers may talk an agent into text messages, so their number is bounded, and how long each is.
const (
	maxTexts = 3    // of a call
	maxText  = 1000 // characters
)

// The results of a text message that the model reads.
var (
	errTexts    = errors.New("no further text message is sent in this call")
	errTextLong = errors.New("the text is too long: 1000 characters at most, and fewer with characters that no telephone has")
	errWithheld = errors.New("the number of the person you talk to is not known")
	errNoTexts  = errors.New("this number sends no text messages")
	errNotTo    = errors.New("the number of the person you talk to gets no text messages from here")
	errUnpaid   = errors.New("the account cannot pay for a text message now")
	errNoText   = errors.New("the text message could not be sent now")
)

// texting sends text messages to the other party of a call.
type texting struct {
	desk     *messages.Desk
	session  *session.Session
	agent    string
	from, to string        // numbers; to is empty where it is withheld
	sent     *atomic.Int32 // in the call, by all of its agents
	log      *slog.Logger
}

// send is what tool.NewSendSMS takes.
func (t *texting) send(ctx context.Context, text string) error {
	switch {
	case t.to == "":
		return errWithheld
	case utf8.RuneCountInString(text) > maxText:
		return errTextLong
	case t.sent.Add(1) > maxTexts:
		return errTexts
	}
	to, err := store.FarEnd(t.to)
	if err != nil {
		return errNotTo
	}
	_, err = t.desk.Send(ctx, messages.Order{Account: t.session.Account(), Key: t.session.Key(), Agent: t.agent, Call: t.session.ID(), From: t.from, To: to, Text: text})
	if err != nil {
		t.sent.Add(-1)
		t.log.Info("an agent's text message was not queued", "session", t.session.ID(), "err", err)
	}
	return notSent(err)
}

// notSent is why a message was not queued, as the model reads it.
func notSent(err error) error {
	for _, why := range []struct{ err, said error }{
		{store.ErrInvalid, errTextLong}, {api.ErrFrom, errNoTexts}, {api.ErrNoMessages, errNoTexts}, {store.ErrDoNotCall, errListed},
		{api.ErrDestination, errNotTo}, {api.ErrEmergency, errNotTo},
		{store.ErrSuspended, errUnpaid}, {store.ErrDisputed, errUnpaid}, {store.ErrTopupRequired, errUnpaid}, {store.ErrInsufficientBalance, errUnpaid}, {store.ErrSpending, errUnpaid},
	} {
		if errors.Is(err, why.err) {
			return why.said
		}
	}
	if err != nil {
		return errNoText
	}
	return nil
}
