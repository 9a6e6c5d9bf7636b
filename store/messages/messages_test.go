package messages_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/billing"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/messages"
	"parley/store/numbers"
	"parley/store/storetest"
	"parley/store/webhook"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	own    = "+12125550100" // the account's, bought
	callee = "+14155550177"
	seller = "simulated"
	// A segment costs so much.
	out, in = 12 * billing.Cent, 6 * billing.Cent
)

// priced is a card with prices of segments.
var priced = func() *billing.RateCard {
	text := strings.Replace(string(billing.DefaultRateCard().JSON()), `"phone":{`, `"phone":{"message_inbound":{"US":0.06},"message_outbound":{"US":0.12},`, 1)
	card, err := billing.ParseRateCard([]byte(strings.Replace(text, "2026-01-15.1", "2026-02-01.1", 1)))
	if err != nil {
		panic(err)
	}
	return card
}()

type fixture struct {
	*testing.T
	*messages.Store
	db      *store.DB
	ledger  *ledger.Ledger
	node    store.Node
	account string
	now     time.Time
}

func setup(t *testing.T) *fixture {
	t.Parallel()
	f := &fixture{T: t, db: storetest.New(t), now: t0}
	f.Store, f.ledger = messages.New(f.db), ledger.New(f.db)
	f.ok(f.db.PutRateCard(f.ctx(), priced))
	var err error
	f.node, _, err = f.ledger.RegisterNode(f.ctx(), "node-a", "127.0.0.1:1")
	f.ok(err)
	f.account = f.rich()
	f.buy(f.account, own)
	return f
}

func (f *fixture) ctx() context.Context { return storetest.At(f.Context(), f.now) }

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) is(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Errorf("%v, want %v", err, want)
	}
}

// rich makes an account with 20 dollars that were paid in.
func (f *fixture) rich() string {
	f.Helper()
	a, err := f.ledger.CreateAccount(f.ctx(), "Test", priced)
	f.ok(err)
	_, _, err = f.ledger.Credit(f.ctx(), ledger.Credit{Account: a.ID, Amount: 20 * billing.USD, Kind: ledger.Topup, Key: "pi:" + a.ID, Source: "sim"})
	f.ok(err)
	return a.ID
}

func (f *fixture) buy(account, number string) {
	f.Helper()
	n, err := numbers.New(f.db).Order(f.ctx(), numbers.Order{Account: account, E164: number, Country: "US", Carrier: seller, Card: priced})
	f.ok(err)
	_, err = numbers.New(f.db).Reconcile(f.ctx(), account, n.ID, carrier.Ordered{State: carrier.Active, NumberID: "x" + n.ID})
	f.ok(err)
}

func (f *fixture) order(text string) messages.Order {
	return messages.Order{Node: f.node, Account: f.account, From: own, To: callee, Country: "US", Text: text, Carrier: seller, Card: priced}
}

func (f *fixture) send(text string) *messages.Message {
	f.Helper()
	f.now = f.now.Add(time.Second) // so that the account is not too fast
	m, err := f.Send(f.ctx(), f.order(text))
	f.ok(err)
	return m
}

func (f *fixture) claim() *messages.Due {
	f.Helper()
	d, err := f.Claim(f.ctx(), seller)
	f.ok(err)
	return d
}

func (f *fixture) none() {
	f.Helper()
	_, err := f.Claim(f.ctx(), seller)
	f.is(err, store.ErrNotFound)
}

// wants compares a message and what the account has paid and holds besides.
func (f *fixture) wants(id string, status messages.Status, cost, held billing.Money) *messages.Message {
	f.Helper()
	m, err := f.Message(f.ctx(), f.account, id)
	f.ok(err)
	a, err := f.ledger.Account(f.ctx(), f.account)
	f.ok(err)
	if m.Status != status || m.Cost != cost || a.Held != held {
		f.Errorf("%s (%s) for %s, held %s; want %s for %s, held %s", m.Status, m.Reason, m.Cost, a.Held, status, cost, held)
	}
	return m
}

func (f *fixture) verified() {
	f.Helper()
	r, err := verify.Whole(context.WithoutCancel(f.ctx()), f.db)
	f.ok(err)
	for _, v := range r.Violations {
		f.Error(v)
	}
}

// hooked has the account's events delivered somewhere, and told are their kinds, oldest first.
func (f *fixture) hooked() (told func() []string) {
	f.Helper()
	hooks := webhook.New(f.db, sealed{})
	w, _, err := hooks.Create(f.ctx(), f.account, webhook.Webhook{URL: "https://example.com/x"})
	f.ok(err)
	return func() (kinds []string) {
		list, err := hooks.Deliveries(f.ctx(), f.account, w.ID, store.Page{})
		f.ok(err)
		for _, d := range slices.Backward(list) {
			kinds = append(kinds, d.Kind)
		}
		return kinds
	}
}

type sealed struct{}

func (sealed) Seal(_, _, secret string) []byte            { return []byte(secret) }
func (sealed) Open(_, _ string, b []byte) (string, error) { return string(b), nil }

var long = strings.Repeat("a", 161) // of two segments

// TestSend: the price is held at once, charged when the carrier has the message, and once, however often and by whomever that is said.
func TestSend(t *testing.T) {
	f := setup(t)
	told := f.hooked()
	m := f.send(long)
	if m.Segments != 2 || m.Encoding != "gsm7" || m.Direction != messages.Outbound || m.Number != own || m.Peer != callee || m.Text != long {
		t.Errorf("%+v", m)
	}
	f.wants(m.ID, messages.Queued, 0, 2*out)
	f.verified()
	d := f.claim()
	if d.ID != m.ID || d.HandedAt != nil || d.Number != own || d.Peer != callee || d.Text != long || d.Status != messages.Queued {
		t.Errorf("%+v", d)
	}
	f.none()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { f.ok(f.Reported(f.ctx(), d, messages.News{Ref: "x1", State: messages.Sent})) })
		wg.Go(func() { f.ok(f.Told(f.ctx(), seller, messages.News{Ref: "x1", ID: m.ID, State: messages.Sent})) })
	}
	wg.Wait()
	f.wants(m.ID, messages.Sent, 2*out, 0)
	f.ok(f.Refused(f.ctx(), d, "too late"))
	f.verified()
	f.none()
	f.now = f.now.Add(3 * time.Second)
	if d = f.claim(); d.Status != messages.Sent || d.Ref != "x1" {
		t.Errorf("%+v", d)
	}
	f.ok(f.Look(f.ctx(), d))
	f.none()
	f.is(f.Told(f.ctx(), "telnyx", messages.News{Ref: "x1", State: messages.Delivered}), store.ErrNotFound)
	f.ok(f.Told(f.ctx(), seller, messages.News{Ref: "x1", State: messages.Delivered}))
	f.ok(f.Told(f.ctx(), seller, messages.News{Ref: "x1", State: messages.Failed, Reason: "late"}))
	if m = f.wants(m.ID, messages.Delivered, 2*out, 0); m.EndedAt == nil || m.Reason != "" {
		t.Errorf("%+v", m)
	}
	f.verified()
	if got := fmt.Sprint(told()); got != "[message.delivered]" {
		t.Errorf("told %s", got)
	}
}

// TestRefused: what the carrier does not send costs nothing, however often that is said.
func TestRefused(t *testing.T) {
	f := setup(t)
	told := f.hooked()
	m := f.send("Hello")
	d := f.claim()
	f.ok(f.Refused(f.ctx(), d, "It was refused."))
	f.ok(f.Refused(f.ctx(), d, "It was refused again."))
	f.ok(f.Reported(f.ctx(), d, messages.News{Ref: "x1", State: messages.Sent}))
	if m = f.wants(m.ID, messages.Failed, 0, 0); m.Reason != "It was refused." || m.SentAt != nil {
		t.Errorf("%+v", m)
	}
	f.none()
	f.verified()
	if got := fmt.Sprint(told()); got != "[message.failed]" {
		t.Errorf("told %s", got)
	}
}

// TestHandedOverOnce: a message whose claimant died is not handed over again. The carrier's word decides what it costs, and
// without one it is given back.
func TestHandedOverOnce(t *testing.T) {
	f := setup(t)
	lost, found := f.send("lost"), f.send("found")
	if d := f.claim(); d.ID != lost.ID || d.HandedAt != nil {
		t.Errorf("%+v", d)
	}
	f.claim()
	f.none() // the leases last
	for f.now = f.now.Add(2 * time.Minute); ; {
		d, err := f.Claim(f.ctx(), seller)
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		f.ok(err)
		if d.HandedAt == nil {
			t.Errorf("%+v is to be handed over again", d)
		}
		f.ok(f.Unclear(f.ctx(), d))
	}
	f.ok(f.Told(f.ctx(), seller, messages.News{Ref: "x2", ID: found.ID, State: messages.Sent}))
	f.wants(found.ID, messages.Sent, out, out)
	f.now = f.now.Add(time.Hour)
	for range 2 {
		if d := f.claim(); d.ID == lost.ID {
			f.ok(f.Unclear(f.ctx(), d))
		}
	}
	if m := f.wants(lost.ID, messages.Failed, 0, 0); m.Reason == "" {
		t.Errorf("%+v", m)
	}
	f.ok(f.Told(f.ctx(), seller, messages.News{Ref: "x1", ID: lost.ID, State: messages.Delivered})) // after its time
	f.wants(lost.ID, messages.Failed, 0, 0)
	f.verified()
}

// TestCarrierIsAway: a message that was certainly not handed over is tried again for a while.
func TestCarrierIsAway(t *testing.T) {
	f := setup(t)
	m := f.send("Hello")
	for range 3 {
		d := f.claim()
		if d.HandedAt != nil {
			t.Errorf("%+v", d)
		}
		f.ok(f.NotHanded(f.ctx(), d))
		f.none()
		f.now = f.now.Add(10 * time.Second)
	}
	f.wants(m.ID, messages.Queued, 0, out)
	f.now = f.now.Add(15 * time.Minute)
	f.ok(f.NotHanded(f.ctx(), f.claim()))
	if m = f.wants(m.ID, messages.Failed, 0, 0); m.Reason == "" {
		t.Errorf("%+v", m)
	}
	f.verified()
}

// TestLooksEnd: a message that was sent is looked at ever less often, and one day no more.
func TestLooksEnd(t *testing.T) {
	f := setup(t)
	m := f.send("Hello")
	f.ok(f.Reported(f.ctx(), f.claim(), messages.News{Ref: "x1", State: messages.Sent}))
	looks := 0
	for end := f.now.Add(30 * 24 * time.Hour); f.now.Before(end); f.now = f.now.Add(max(3*time.Second, f.now.Sub(*f.wants(m.ID, messages.Sent, out, 0).SentAt)/4)) {
		d, err := f.Claim(f.ctx(), seller)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		f.ok(err)
		f.ok(f.Look(f.ctx(), d))
		looks++
	}
	if looks < 10 || looks > 25 {
		t.Errorf("%d looks", looks)
	}
}

// TestSendRefuses: by the text, the number, the list of numbers not to call, the balance, the limit of spending and the rate.
func TestSendRefuses(t *testing.T) {
	f := setup(t)
	_, err := numbers.New(f.db).Import(f.ctx(), f.account, "+12125550111", "")
	f.ok(err)
	stranger := f.rich()
	f.buy(stranger, "+12125550122")
	_, _, err = f.db.AddDoNotCall(f.ctx(), f.account, store.DoNotCall{Number: "+14155550166", Source: store.ListedByAPI})
	f.ok(err)
	poor, err := f.ledger.CreateAccount(f.ctx(), "Poor", priced)
	f.ok(err)
	for name, tt := range map[string]struct {
		change func(*messages.Order)
		want   error
	}{
		"no text":             {func(o *messages.Order) { o.Text = "" }, store.ErrInvalid},
		"a long text":         {func(o *messages.Order) { o.Text = strings.Repeat("a", 10*153+1) }, store.ErrInvalid},
		"control characters":  {func(o *messages.Order) { o.Text = "a\x00" }, store.ErrInvalid},
		"no valid text":       {func(o *messages.Order) { o.Text = "\xff" }, store.ErrInvalid},
		"a country":           {func(o *messages.Order) { o.Country = "ES" }, billing.ErrNoPrice},
		"another's number":    {func(o *messages.Order) { o.From = "+12125550122" }, messages.ErrNumber},
		"a plain trunk's":     {func(o *messages.Order) { o.From = "+12125550111" }, messages.ErrSilent},
		"another carrier":     {func(o *messages.Order) { o.Carrier = "telnyx" }, messages.ErrSilent},
		"no carrier":          {func(o *messages.Order) { o.Carrier = "" }, messages.ErrSilent},
		"not to be called":    {func(o *messages.Order) { o.To = "+14155550166" }, store.ErrDoNotCall},
		"nobody's number":     {func(o *messages.Order) { o.Account = poor.ID }, messages.ErrNumber},
		"all that is allowed": {func(o *messages.Order) { o.Text = strings.Repeat("a", 10*153) }, nil},
	} {
		f.now = f.now.Add(time.Second)
		o := f.order("Hello")
		tt.change(&o)
		if _, err := f.Send(f.ctx(), o); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	f.now = f.now.Add(time.Second)
	for i := range 6 { // five at once, then five a second
		_, err := f.Send(f.ctx(), f.order("Hello"))
		if i < 5 {
			f.ok(err)
		} else {
			f.is(err, store.ErrDialRate)
		}
	}
	limit := 20 * out
	_, err = f.ledger.SetSpendingLimit(f.ctx(), f.account, f.account, &limit)
	f.ok(err)
	f.send(strings.Repeat("a", 5*153)) // held are 10 + 5 segments of before
	f.now = f.now.Add(time.Second)
	_, err = f.Send(f.ctx(), f.order("Hello"))
	f.is(err, store.ErrSpending)
	_, err = f.ledger.SetSpendingLimit(f.ctx(), f.account, f.account, nil)
	f.ok(err)
	a, err := f.ledger.Account(f.ctx(), f.account)
	f.ok(err)
	_, _, err = f.ledger.Credit(f.ctx(), ledger.Credit{Account: f.account, Kind: ledger.Adjustment, Amount: 20*out - a.Balance() - billing.USD, Key: "adj"})
	f.ok(err)
	_, err = f.Send(f.ctx(), f.order("Hello"))
	f.is(err, store.ErrInsufficientBalance)
	f.verified()
}

// arrive brings a message of the same carrier to the account's number.
func (f *fixture) arrive(ref, text string) {
	f.Helper()
	f.ok(f.Receive(f.ctx(), messages.Arrival{Node: f.node, Carrier: seller, Ref: ref, From: callee, To: own, Text: text, Card: priced}))
}

func (f *fixture) received() []messages.Message {
	f.Helper()
	list, err := f.Messages(f.ctx(), f.account, messages.Filter{Direction: messages.Inbound}, store.Page{})
	f.ok(err)
	return list
}

// TestReceive: a message that comes in is stored and charged once, and for nothing where the account cannot pay.
func TestReceive(t *testing.T) {
	f := setup(t)
	told := f.hooked()
	for range 2 {
		f.arrive("y1", long+"\x00\xff")
	}
	list := f.received()
	if len(list) != 1 || list[0].Status != messages.Received || list[0].Cost != 3*in || list[0].Text != long+"\ufffd" || list[0].Number != own || list[0].Peer != callee {
		t.Fatalf("%+v", list) // another character makes it UCS-2
	}
	f.verified()
	suspended := true
	f.ok(f.ledger.ChangeAccount(f.ctx(), f.account, ledger.AccountChange{Suspended: &suspended}))
	f.now = f.now.Add(time.Second)
	f.arrive("y2", "Hello")
	if list = f.received(); len(list) != 2 || list[0].Cost != 0 {
		t.Errorf("%+v", list)
	}
	f.is(f.Receive(f.ctx(), messages.Arrival{Node: f.node, Carrier: seller, Ref: "y3", From: callee, To: "+12125550199", Text: "Hello", Card: priced}), store.ErrNotFound)
	f.is(f.Receive(f.ctx(), messages.Arrival{Node: f.node, Carrier: "telnyx", Ref: "y3", From: callee, To: own, Text: "Hello", Card: priced}), store.ErrNotFound)
	f.verified()
	if got := fmt.Sprint(told()); got != "[message.received message.received]" {
		t.Errorf("told %s", got)
	}
}

// TestStopWords: whoever writes STOP gets no more, of this account, until START.
func TestStopWords(t *testing.T) {
	f := setup(t)
	listed := func() bool {
		list, err := f.db.NotToCall(f.ctx(), f.account, []string{callee})
		f.ok(err)
		return len(list) > 0
	}
	for i, tt := range []struct {
		text   string
		listed bool
	}{
		{"please stop", false}, {" Stop. ", true}, {"STOP", true}, {"yes", true}, {"start", false}, {"UNSUBSCRIBE", true}, {"UnStop", false}, {"optout", true},
	} {
		f.arrive(fmt.Sprint("y", i), tt.text)
		if listed() != tt.listed {
			t.Errorf("after %q it is listed: %v", tt.text, !tt.listed)
		}
	}
	_, err := f.Send(f.ctx(), f.order("Hello"))
	f.is(err, store.ErrDoNotCall)
	e, err := f.db.DoNotCall(f.ctx(), f.account, callee)
	f.ok(err)
	if e.Source != store.ListedByMessage || e.Call != nil {
		t.Errorf("%+v", e)
	}
	f.ok(f.db.RemoveDoNotCall(f.ctx(), f.account, callee))
	_, _, err = f.db.AddDoNotCall(f.ctx(), f.account, store.DoNotCall{Number: callee, Source: store.ListedByAPI})
	f.ok(err)
	f.arrive("z", "START")
	if !listed() {
		t.Error("a word has taken off what no word has put there")
	}
	f.ok(f.Receive(f.ctx(), messages.Arrival{Node: f.node, Carrier: seller, Ref: "n", From: "A Bank", To: own, Text: "STOP", Card: priced}))
	f.verified()
}

// TestList: an account sees its own, by direction, numbers, status and time, and pages of them.
func TestList(t *testing.T) {
	f := setup(t)
	other := f.rich()
	first := f.send("one")
	f.now = f.now.Add(time.Hour)
	second := f.send("two")
	f.now = f.now.Add(time.Second)
	f.arrive("y1", "three")
	count := func(account string, filter messages.Filter) int {
		list, err := f.Messages(f.ctx(), account, filter, store.Page{})
		f.ok(err)
		return len(list)
	}
	for _, tt := range []struct {
		filter messages.Filter
		want   int
	}{
		{messages.Filter{}, 3}, {messages.Filter{Direction: messages.Outbound}, 2}, {messages.Filter{Peer: callee}, 3}, {messages.Filter{Number: callee}, 0},
		{messages.Filter{Number: own, Status: messages.Queued}, 2}, {messages.Filter{Range: store.Range{From: second.CreatedAt}}, 2},
		{messages.Filter{Range: store.Range{To: second.CreatedAt}}, 1},
	} {
		if got := count(f.account, tt.filter); got != tt.want {
			t.Errorf("%+v: %d, want %d", tt.filter, got, tt.want)
		}
		if got := count(other, tt.filter); got != 0 {
			t.Errorf("%+v: another account sees %d", tt.filter, got)
		}
	}
	page, err := f.Messages(f.ctx(), f.account, messages.Filter{}, store.Page{After: second.ID})
	f.ok(err)
	if len(page) != 1 || page[0].ID != first.ID {
		t.Errorf("%+v", page)
	}
	_, err = f.Message(f.ctx(), other, first.ID)
	f.is(err, store.ErrNotFound)
	f.is(f.Forget(f.ctx(), other, first.ID), store.ErrNotFound)
}

// TestForget: a text goes on request and when the account's conversations do, and that there was the message stays.
func TestForget(t *testing.T) {
	f := setup(t)
	m := f.send("secret")
	f.is(f.Forget(f.ctx(), f.account, m.ID), store.ErrNotFound) // it is on its way
	f.ok(f.Reported(f.ctx(), f.claim(), messages.News{Ref: "x1", State: messages.Sent}))
	f.arrive("y1", "also secret")
	f.ok(f.Forget(f.ctx(), f.account, m.ID))
	f.ok(f.Forget(f.ctx(), f.account, m.ID))
	if m = f.wants(m.ID, messages.Sent, out, 0); m.Text != "" || m.DeletedAt == nil || m.Peer != callee {
		t.Errorf("%+v", m)
	}
	days := 7
	f.ok(f.ledger.ChangeAccount(f.ctx(), f.account, ledger.AccountChange{ConversationDays: &days}))
	for _, want := range []int64{0, 1, 0} {
		if n, err := f.Expire(f.ctx()); n != want || err != nil {
			t.Errorf("%d expire, %v; want %d", n, err, want)
		}
		f.now = f.now.AddDate(0, 0, 7)
	}
	if list := f.received(); len(list) != 1 || list[0].Text != "" || list[0].DeletedAt == nil {
		t.Errorf("%+v", list)
	}
	f.verified()
}

// TestCreditExpires: a message that comes in, or news that changes nothing, may be what finds that credit has expired.
func TestCreditExpires(t *testing.T) {
	for name, look := range map[string]func(f *fixture, d *messages.Due){
		"free":     func(f *fixture, _ *messages.Due) { f.arrive("y2", "Hello") },
		"old news": func(f *fixture, d *messages.Due) { f.ok(f.Refused(f.ctx(), d, "late")) },
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.send("Hello")
			d := f.claim()
			f.ok(f.Reported(f.ctx(), d, messages.News{Ref: "x1", State: messages.Sent}))
			suspended := true
			f.ok(f.ledger.ChangeAccount(f.ctx(), f.account, ledger.AccountChange{Suspended: &suspended}))
			f.now = f.now.AddDate(0, 0, 200)
			look(f, d)
			f.verified()
			a, err := f.ledger.Account(f.ctx(), f.account)
			f.ok(err)
			if a.Bonus != 0 {
				t.Errorf("%s are left", a.Bonus)
			}
		})
	}
}
