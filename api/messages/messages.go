// Package messages serves text messages: sending, the list of what was sent and came in, and
// the background work that turns to the carrier about them.
//
// Money and the carrier meet here, as they do for numbers: package store/messages holds
// the price before the carrier is asked, hands a message over once, and learns from the
// answer, from webhooks and by asking again how it ended.
package messages

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/destination"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/messages"
)

// Desk sends and receives the messages of accounts. Its fields are not changed once anything
// runs; it is used by several goroutines.
type Desk struct {
	Store *messages.Store
	Node  store.Node // this one
	// Carrier sends and brings messages; nil: nobody does, and Send refuses them all.
	Carrier carrier.Messenger
	// Classify sorts destinations; its errors are those of package api.
	Classify func(number string) (destination.Class, error)
	Card     func() *billing.RateCard // the one in force
	Log      *slog.Logger
}

// Mount adds the routes.
func Mount(a *api.API, d *Desk) {
	routes := api.Managed("Messages")
	const one = "/v1/messages/{id}"
	api.Register(a, routes.Post("/v1/messages", "send-message", "Send a text message",
		"Queues a text message (SMS) from a number that the account has bought here, and holds its price: `phone.message_outbound` of the rate card, for each segment. 202: it is on its way, "+
			"and its status, or a webhook, says later how it went. It is charged when the carrier has taken it, and costs nothing when the carrier refuses it. A number on the account's do-not-call list "+
			"is refused, and so is a destination that cannot be called; the hours of calls do not count. Messages are paid from what was paid in. An account sends five messages a second, calls that it places included.",
		http.StatusPaymentRequired, http.StatusForbidden).Accepted().Repeatable(), d.send)
	api.Register(a, routes.Get("/v1/messages", "list-messages", "List text messages",
		"Those that were sent and those that came in, newest first: all, or those of which everything that is asked for is true."), d.list)
	api.Register(a, routes.Get(one, "get-message", "Read a text message", "What it says, how far it is, and what it cost.", http.StatusNotFound), d.get)
	api.Register(a, routes.Delete(one, "delete-message", "Delete the text of a message",
		"Deletes what it says, for good. That there was the message stays: with whom, when and what it cost. One that is still queued answers 404.", http.StatusNotFound), d.remove)
}

type messageInput struct {
	ID string `path:"id" doc:"The message's identifier." maxLength:"100" example:"msg_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

type listInput struct {
	Direction string `query:"direction" doc:"Only these." enum:"inbound,outbound" example:"inbound"`
	Number    string `query:"number" doc:"Only messages from or to this number of the account, in international format; a + is %2B in an address, and may be left out." maxLength:"40" example:"+12125550100"`
	Peer      string `query:"peer" doc:"Only messages to or from this number of somebody else, likewise." maxLength:"40" example:"+14155550177"`
	Status    string `query:"status" doc:"Only these." enum:"queued,sent,delivered,failed,received" example:"failed"`
	api.Period
	api.Paging
}

// View is a message as the API shows it.
func View(m *messages.Message) wire.Message {
	out := wire.Message{ID: m.ID, Direction: string(m.Direction), From: m.Number, To: m.Peer, Text: &m.Text, Segments: m.Segments, Encoding: m.Encoding,
		Status: string(m.Status), Reason: api.Some(m.Reason), Cost: wire.USD(m.Cost), AgentID: m.Agent, CallID: m.Call,
		CreatedAt: m.CreatedAt, SentAt: m.SentAt, EndedAt: m.EndedAt, DeletedAt: m.DeletedAt}
	if m.Direction == messages.Inbound {
		out.From, out.To = m.Peer, m.Number
	}
	if m.DeletedAt != nil {
		out.Text = nil
	}
	return out
}

func (d *Desk) list(ctx context.Context, in *listInput) (*api.Listed[wire.Message], error) {
	f := messages.Filter{Direction: messages.Direction(in.Direction), Status: messages.Status(in.Status)}
	var err error
	if f.Range, err = in.Bounds(); err != nil {
		return nil, err
	}
	for _, n := range []struct {
		name, asked string
		to          *string
	}{{"number", in.Number, &f.Number}, {"peer", in.Peer, &f.Peer}} {
		if n.asked == "" {
			continue
		}
		if n.asked[0] != '+' {
			n.asked = "+" + n.asked
		}
		if *n.to, err = destination.International(n.asked); err != nil {
			return nil, api.Bad("%s: a telephone number in international format, such as +34911234567", n.name)
		}
	}
	return api.Pages(in.Limit, func(m messages.Message) string { return m.ID }, View)(d.Store.Messages(ctx, api.AccountOf(ctx), f, in.Page()))
}

func (d *Desk) get(ctx context.Context, in *messageInput) (*api.Reply[wire.Message], error) {
	m, err := d.Store.Message(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return api.Body(View(m)), nil
}

func (d *Desk) remove(ctx context.Context, in *messageInput) (*struct{}, error) {
	return nil, d.Store.Forget(ctx, api.AccountOf(ctx), in.ID)
}

func (d *Desk) send(ctx context.Context, in *struct{ Body wire.NewMessage }) (*api.Reply[wire.Message], error) {
	p := api.PrincipalOf(ctx)
	m, err := d.Send(ctx, Order{Account: p.Account, Key: p.Key, From: in.Body.From, To: in.Body.To, Text: in.Body.Text})
	if err != nil {
		return nil, err
	}
	return api.Body(View(m)), nil
}

// Order asks for a message: as somebody wrote it.
type Order struct {
	Account, Key   string // the key that asks; empty: none does
	Agent, Call    string // that send it; empty: none does
	From, To, Text string
}

// Send queues a message, or refuses it with an error of package api or of the store.
func (d *Desk) Send(ctx context.Context, o Order) (*messages.Message, error) {
	if d.Classify == nil { // no telephony
		return nil, api.ErrNoMessages
	}
	to, err := d.Classify(o.To)
	if err != nil {
		return nil, err
	}
	from, err := destination.International(o.From)
	if err != nil {
		return nil, api.ErrFrom
	}
	order := messages.Order{Node: d.Node, Account: o.Account, Key: o.Key, Agent: o.Agent, Call: o.Call, From: from, To: to.E164, Country: to.Region, Text: o.Text, Card: d.Card()}
	if d.Carrier != nil {
		order.Carrier = d.Carrier.Name()
	}
	m, err := d.Store.Send(ctx, order)
	switch {
	case errors.Is(err, messages.ErrNumber):
		err = api.ErrFrom
	case errors.Is(err, messages.ErrSilent):
		err = api.ErrNoMessages
	case errors.Is(err, billing.ErrNoPrice):
		err = api.Detail(api.ErrDestination, "The rate card has no price for messages to this country.")
	}
	return m, err
}
