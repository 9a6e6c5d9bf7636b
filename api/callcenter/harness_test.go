package callcenter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/callcenter"
	"parley/api/ticket"
	"parley/api/wire"
	"parley/billing"
	"parley/sip/carrier"
	"parley/sip/carrier/simulated"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var card = billing.DefaultRateCard()

const usd = billing.USD

// shop is a world with the routes and the simulated carrier behind them.
type shop struct {
	*apitest.World
	desk   *callcenter.Numbers
	sim    *simulated.Carrier
	rough  *rough
	signer *ticket.Signer
	clock  atomic.Int64  // of the carrier, ns after now
	ahead  time.Duration // of the last look after numbers, after now
}

type (
	owner = apitest.Owner
	reply = apitest.Reply
)

func open(t *testing.T) *shop {
	t.Helper()
	s := &shop{World: apitest.Open(t, apitest.Options{Paid: 100 * usd})}
	var err error
	s.signer, err = ticket.NewSigner("a master secret of a test, long enough")
	s.OK(err)
	s.sim, err = simulated.New(simulated.Config{Now: func() time.Time { return time.Now().Add(time.Duration(s.clock.Load())) }})
	s.OK(err)
	s.rough = &rough{Carrier: s.sim}
	s.desk = callcenter.New(callcenter.Numbers{Store: s.DB, Carrier: s.rough, Card: func() *billing.RateCard { return card }, Routing: plainRouting(), Log: slog.New(slog.DiscardHandler)})
	s.Serve(s.routes(s.desk), api.Options{})
	return s
}

// routes are those of a desk.
func (s *shop) routes(d *callcenter.Numbers) *api.API {
	a := api.New(ticket.Keys{Signer: s.signer, Store: s.DB, People: s.People})
	callcenter.Mount(a, d)
	return a
}

// rough is the simulated carrier over a bad line.
type rough struct {
	carrier.Carrier
	mu sync.Mutex
	// order, lookup, route and release are called first; what they return is returned.
	// With lost the carrier does it all the same, and its answer is lost.
	order, lookup, route, release func() error
	lost                          bool
}

func (r *rough) fault(f *func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if *f == nil {
		return nil
	}
	return (*f)()
}

func (r *rough) set(f *func() error, to func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*f = to
}

func (r *rough) Order(ctx context.Context, o carrier.Order) (carrier.Ordered, error) {
	if err := r.fault(&r.order); err != nil {
		if r.lost {
			_, _ = r.Carrier.Order(ctx, o)
		}
		return carrier.Ordered{}, err
	}
	return r.Carrier.Order(ctx, o)
}

func (r *rough) Lookup(ctx context.Context, reference string) (carrier.Ordered, error) {
	if err := r.fault(&r.lookup); err != nil {
		return carrier.Ordered{}, err
	}
	return r.Carrier.Lookup(ctx, reference)
}

func (r *rough) Route(ctx context.Context, id string) error {
	if err := r.fault(&r.route); err != nil {
		return err
	}
	return r.Carrier.Route(ctx, id)
}

func (r *rough) Release(ctx context.Context, id string) error {
	if err := r.fault(&r.release); err != nil {
		return err
	}
	return r.Carrier.Release(ctx, id)
}

func away() error { return carrier.ErrUnavailable }

// notifier is a carrier that has a webhook.
type notifier struct {
	*rough
	reference string
	err       error
}

func (n notifier) Notice(http.Header, []byte, time.Time) (carrier.Notice, error) {
	return carrier.Notice{Order: n.reference}, n.err
}

// number reads the answer's body as a number.
func (s *shop) number(r reply) (n wire.Number) {
	s.Helper()
	s.OK(json.Unmarshal(r.Body, &n))
	return n
}

// buy asks for a number, bound to the owner's agent.
func (s *shop) buy(who owner, number string, header ...string) reply {
	s.Helper()
	return s.As(who, "POST", "/callcenter/numbers", `{"phone_number":"`+number+`","agent_id":"`+who.Agent+`"}`, header...)
}

// owned buys a number that is active at once.
func (s *shop) owned(who owner, number string) wire.Number {
	s.Helper()
	r := s.buy(who, number)
	s.Want("buy", r, 200, "")
	return s.number(r)
}

// offers are the numbers that a search finds.
func (s *shop) offers(query string) (found struct {
	Numbers  []wire.Offer
	Page     int
	PageSize int  `json:"page_size"`
	HasMore  bool `json:"has_more"`
}) {
	s.Helper()
	r := s.As(s.A, "GET", "/callcenter/numbers/search?"+query, "")
	s.Want(query, r, 200, "")
	s.OK(json.Unmarshal(r.Body, &found))
	return found
}

// ending finds a number for sale in Spain by its last digit: 4 is late, 9 is dear.
func (s *shop) ending(digits string) string {
	s.Helper()
	for page := 1; ; page++ {
		found := s.offers("country_code=ES&page=" + string(rune('0'+page)))
		for _, o := range found.Numbers {
			if bytes.ContainsAny([]byte(o.PhoneNumber[len(o.PhoneNumber)-1:]), digits) {
				return o.PhoneNumber
			}
		}
		if !found.HasMore {
			s.Fatal("no number ends with one of ", digits)
		}
	}
}

const prompt = "01235678" // last digits of numbers that are active at once

// list is what the owner has.
func (s *shop) list(who owner) []wire.Number {
	s.Helper()
	r := s.As(who, "GET", "/callcenter/numbers", "")
	s.Want("list", r, 200, "")
	var out struct{ Numbers []wire.Number }
	s.OK(json.Unmarshal(r.Body, &out))
	return out.Numbers
}

// paid is what the owner has of what was paid in.
func (s *shop) pots(who owner) billing.Pots {
	s.Helper()
	a, err := s.Ledger.Account(s.Context(), who.Account)
	s.OK(err)
	return a.Pots
}

// eventually waits until ok is true.
func (s *shop) eventually(what string, ok func() bool) {
	s.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatal(what, " does not happen")
		}
	}
}

// later lets the carrier's time pass and looks after all numbers two hours on.
func (s *shop) later() {
	s.Helper()
	s.clock.Add(int64(time.Minute))
	s.after(2 * time.Hour)
}

// after looks after all numbers when so much time more has gone by.
func (s *shop) after(d time.Duration) {
	s.Helper()
	s.ahead += d
	s.OK(s.desk.Sweep(storetest.At(s.Context(), time.Now().Add(s.ahead))))
}
