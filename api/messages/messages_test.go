package messages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/messages"
	"parley/api/ticket"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/destination"
	"parley/sip/carrier"
	"parley/sip/carrier/simulated"
	"parley/store"
	messagestore "parley/store/messages"
	"parley/store/numbers"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// office is a world with a desk of messages and the simulated carrier behind it, over a line that may be bad.
type office struct {
	*apitest.World
	desk  *messages.Desk
	sim   *simulated.Carrier
	clock atomic.Int64 // of the carrier, ns after now
	log   bytes.Buffer

	mu     sync.Mutex
	faults []error // of the next messages that are handed over; a nil one is none
	lost   bool    // the carrier has those all the same
}

// line is the carrier as the desk sees it.
type line struct {
	*simulated.Carrier
	o *office
}

func (l line) Send(ctx context.Context, m carrier.Message) (carrier.Delivery, error) {
	l.o.mu.Lock()
	defer l.o.mu.Unlock()
	if len(l.o.faults) > 0 {
		fault := l.o.faults[0]
		l.o.faults = l.o.faults[1:]
		if l.o.lost {
			_, _ = l.Carrier.Send(ctx, m)
		}
		if fault != nil {
			return carrier.Delivery{}, fault
		}
	}
	return l.Carrier.Send(ctx, m)
}

const (
	callee  = "+14155550177"
	seller  = "simulated"
	silent  = "+12125550133" // of A, by a plain trunk
	hidden  = "a secret word"
	routeTo = "/v1/messages"
)

func open(t *testing.T) *office {
	t.Helper()
	o := &office{World: apitest.Open(t, apitest.Options{Paid: 100 * billing.USD})}
	signer, err := ticket.NewSigner("a master secret of a test, long enough")
	o.OK(err)
	o.sim, err = simulated.New(simulated.Config{Now: func() time.Time { return time.Now().Add(time.Duration(o.clock.Load())) }})
	o.OK(err)
	life, _, err := o.Ledger.RegisterNode(t.Context(), "node-0", "127.0.0.1:1")
	o.OK(err)
	o.desk = &messages.Desk{Store: messagestore.New(o.DB), Node: life, Carrier: line{o.sim, o}, Classify: classify, Card: o.DB.RateCard,
		Log: slog.New(slog.NewTextHandler(&o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	a := api.New(ticket.Keys{Signer: signer, Store: o.DB, People: o.People})
	a.Remember(o.DB)
	messages.Mount(a, o.desk)
	o.Serve(a, api.Options{})
	_, err = numbers.New(o.DB).Import(t.Context(), o.A.Account, silent, "")
	o.OK(err)
	t.Cleanup(func() {
		if strings.Contains(o.log.String(), hidden) {
			t.Error("a text is in the log")
		}
	})
	return o
}

// classify is how a node sorts destinations with the simulated carrier.
func classify(number string) (destination.Class, error) {
	c, err := destination.ClassifyFictional(number)
	if err != nil {
		return c, api.Detail(api.ErrDestination, err.Error())
	}
	return c, nil
}

// buy gives an account a number of the carrier's.
func (o *office) buy(who apitest.Owner) string {
	o.Helper()
	p, err := o.sim.Search(o.Context(), carrier.Query{Country: "US"})
	o.OK(err)
	number := p.Offers[0].Number
	n, err := numbers.New(o.DB).Order(o.Context(), numbers.Order{Account: who.Account, E164: number, Country: "US", Carrier: seller, Card: o.Card})
	o.OK(err)
	ordered, err := o.sim.Order(o.Context(), carrier.Order{Reference: n.OrderRef, Number: number})
	o.OK(err)
	_, err = numbers.New(o.DB).Reconcile(o.Context(), who.Account, n.ID, ordered)
	o.OK(err)
	return number
}

// post asks for a message.
func (o *office) post(who apitest.Owner, from, to, text string, header ...string) apitest.Reply {
	o.Helper()
	body, err := json.Marshal(map[string]string{"from": from, "to": to, "text": text})
	o.OK(err)
	return o.As(who, http.MethodPost, routeTo, string(body), append(header, "Content-Type", "application/json")...)
}

func (o *office) queued(r apitest.Reply) (m wire.Message) {
	o.Helper()
	if r.Status != http.StatusAccepted {
		o.Fatalf("%d %s", r.Status, r.Body)
	}
	o.OK(json.Unmarshal(r.Body, &m))
	return m
}

// round has the desk turn to the carrier as it will after a time.
func (o *office) round(after time.Duration) {
	o.Helper()
	o.OK(o.desk.Round(storetest.At(o.Context(), time.Now().Add(after))))
}

func (o *office) read(who apitest.Owner, id string) (m wire.Message) {
	o.Helper()
	o.Read(who, routeTo+"/"+id, &m)
	return m
}

// TestSendAndReceive: a message from one account's number to another's is delivered and comes in, once; to others it ends as the carrier says.
func TestSendAndReceive(t *testing.T) {
	o := open(t)
	from, to := o.buy(o.A), o.buy(o.B)
	m := o.queued(o.post(o.A, from, " "+to[:5]+" "+to[5:], hidden))
	if m.Status != "queued" || m.Direction != "outbound" || m.From != from || m.To != to || *m.Text != hidden || m.Segments != 1 || m.Encoding != "gsm7" {
		t.Errorf("%+v", m)
	}
	failing, refused := o.queued(o.post(o.A, from, "+14155550109", hidden)), o.queued(o.post(o.A, from, "+14155550103", hidden))
	o.round(0)
	if m = o.read(o.A, m.ID); m.Status != "sent" || m.SentAt == nil {
		t.Errorf("%+v", m)
	}
	if refused = o.read(o.A, refused.ID); refused.Status != "failed" || refused.SentAt != nil || refused.Reason == nil {
		t.Errorf("%+v", refused)
	}
	o.clock.Store(int64(simulated.Late))
	for range 2 {
		o.round(4 * time.Second)
	}
	if m = o.read(o.A, m.ID); m.Status != "delivered" || m.EndedAt == nil {
		t.Errorf("%+v", m)
	}
	if failing = o.read(o.A, failing.ID); failing.Status != "failed" || failing.SentAt == nil || *failing.Reason != "The number is not in service." {
		t.Errorf("%+v", failing)
	}
	var in api.List[wire.Message]
	o.Read(o.B, routeTo, &in)
	if len(in.Data) != 1 || in.Data[0].Status != "received" || in.Data[0].From != from || in.Data[0].To != to || *in.Data[0].Text != hidden {
		t.Errorf("%+v", in)
	}
	o.Want("somebody else's", o.As(o.B, http.MethodGet, routeTo+"/"+m.ID, ""), http.StatusNotFound, "request.not_found")
	o.Verified()
}

// TestRefusals: each by its code, and nothing is stored.
func TestRefusals(t *testing.T) {
	o := open(t)
	from, others := o.buy(o.A), o.buy(o.B)
	_, _, err := o.DB.AddDoNotCall(t.Context(), o.A.Account, store.DoNotCall{Number: "+14155550166", Source: store.ListedByAPI})
	o.OK(err)
	for _, tt := range []struct {
		what, from, to, text string
		status               int
		code                 string
	}{
		{"no text", from, callee, "", 400, "validation.invalid_request_format"},
		{"a long text", from, callee, strings.Repeat("a", 1531), 400, "validation.invalid_request_format"},
		{"another's number", others, callee, "a", 403, "callcenter.from_not_owned"},
		{"no number", "Parley", callee, "a", 403, "callcenter.from_not_owned"},
		{"a plain trunk's number", silent, callee, "a", 400, "message.number_cannot_send"},
		{"a premium number", from, "+19005551234", "a", 400, "callcenter.destination_not_allowed"},
		{"a number on the list", from, "+14155550166", "a", 400, "callcenter.do_not_call"},
	} {
		o.Want(tt.what, o.post(o.A, tt.from, tt.to, tt.text), tt.status, tt.code)
	}
	var list api.List[wire.Message]
	o.Read(o.A, routeTo, &list)
	if len(list.Data) != 0 {
		t.Errorf("%+v", list)
	}
	poor := o.Owner("poor", 0)
	o.Want("a bad filter", o.As(o.A, http.MethodGet, routeTo+"?peer=nobody", ""), 400, "validation.invalid_request_format")
	o.Want("nobody's number", o.post(poor, from, callee, "a"), 403, "callcenter.from_not_owned")
	o.desk.Classify = nil
	o.Want("no telephony", o.post(o.A, from, callee, "a"), 400, "message.number_cannot_send")
}

// TestRepeatedRequest: with one key a message is sent once.
func TestRepeatedRequest(t *testing.T) {
	o := open(t)
	from := o.buy(o.A)
	var ids []string
	for range 3 {
		ids = append(ids, o.queued(o.post(o.A, from, callee, "a", "Idempotency-Key", "one")).ID)
	}
	o.round(0)
	if ids[0] != ids[1] || ids[0] != ids[2] || o.sim.Texts() != 1 {
		t.Errorf("%v, and the carrier has %d", ids, o.sim.Texts())
	}
}

// TestCarrierFaults: a message is tried again where it was certainly not taken, waits for news where nobody knows, and is
// handed over once.
func TestCarrierFaults(t *testing.T) {
	o := open(t)
	from := o.buy(o.A)
	unclear := fmt.Errorf("%w: %w", carrier.ErrUnavailable, carrier.ErrUnclear)
	o.faults = []error{carrier.ErrUnavailable, nil}
	away := o.queued(o.post(o.A, from, callee, hidden))
	for i := range 3 {
		o.round(time.Duration(i) * 11 * time.Second)
	}
	if m := o.read(o.A, away.ID); m.Status != "sent" || o.sim.Texts() != 1 {
		t.Errorf("%+v, and the carrier has %d", m, o.sim.Texts())
	}
	o.faults, o.lost = []error{unclear, errors.New("unheard of")}, true
	told, never := o.queued(o.post(o.A, from, callee, hidden)), o.queued(o.post(o.A, from, "+14155550178", hidden))
	for _, after := range []time.Duration{0, 10 * time.Minute, 30 * time.Minute} {
		o.round(after)
	}
	for _, id := range []string{told.ID, never.ID} {
		if m := o.read(o.A, id); m.Status != "queued" || o.sim.Texts() != 3 {
			t.Errorf("%+v, and the carrier has %d", m, o.sim.Texts())
		}
	}
	news := carrier.Notice{Delivery: &carrier.Delivery{ID: "x1", Reference: told.ID, State: carrier.Delivered}}
	for range 2 {
		o.OK(o.desk.Notice(t.Context(), news))
	}
	o.round(2 * time.Hour)
	if m := o.read(o.A, told.ID); m.Status != "delivered" {
		t.Errorf("%+v", m)
	}
	if m := o.read(o.A, never.ID); m.Status != "failed" || m.Reason == nil || o.sim.Texts() != 3 {
		t.Errorf("%+v", m)
	}
	o.Verified()
}

// TestNotices: a webhook brings messages in, once, and what is about none of ours is no error.
func TestNotices(t *testing.T) {
	o := open(t)
	to := o.buy(o.A)
	for _, n := range []carrier.Notice{
		{Received: &carrier.Received{ID: "y1", From: callee, To: to, Text: hidden}}, {Received: &carrier.Received{ID: "y1", From: callee, To: to, Text: hidden}},
		{Received: &carrier.Received{ID: "y2", From: callee, To: "+12125550199", Text: hidden}}, {Delivery: &carrier.Delivery{ID: "x9", State: carrier.Sent}}, {Order: "z"},
	} {
		o.OK(o.desk.Notice(t.Context(), n))
	}
	var list api.List[wire.Message]
	o.Read(o.A, routeTo+"?direction=inbound&number="+to[1:]+"&peer="+callee[1:]+"&status=received", &list)
	if len(list.Data) != 1 || *list.Data[0].Text != hidden {
		t.Fatalf("%+v", list)
	}
	at := routeTo + "/" + list.Data[0].ID
	o.Want("deleting somebody else's", o.As(o.B, http.MethodDelete, at, ""), http.StatusNotFound, "request.not_found")
	o.Want("deleting", o.As(o.A, http.MethodDelete, at, ""), http.StatusNoContent, "")
	if m := o.read(o.A, list.Data[0].ID); m.Text != nil || m.DeletedAt == nil || m.From != callee {
		t.Errorf("%+v", m)
	}
	o.Read(o.A, routeTo+"?to=2020-01-01", &list)
	if len(list.Data) != 0 {
		t.Errorf("%+v", list)
	}
	o.Verified()
}
