package callcenter_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
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
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var card = billing.DefaultRateCard()

const usd = billing.USD

// shop is a server with the routes, the simulated carrier behind them, and two accounts.
type shop struct {
	*testing.T
	db     *store.DB
	desk   *callcenter.Numbers
	sim    *simulated.Carrier
	rough  *rough
	signer *ticket.Signer
	server *httptest.Server
	url    string       // of the database
	clock  atomic.Int64 // of the carrier, ns after now
	sent   atomic.Uint32
	a, b   owner
}

// owner is an account with an agent.
type owner struct{ account, key, keyID, agent string }

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

func open(t *testing.T) *shop {
	t.Helper()
	return openAt(t, storetest.URL(t))
}

func openAt(t *testing.T, url string) *shop {
	t.Helper()
	s := &shop{T: t, db: storetest.Open(t, url), url: url}
	var err error
	if s.signer, err = ticket.NewSigner("a master secret of a test, long enough"); err != nil {
		t.Fatal(err)
	}
	s.sim, err = simulated.New(simulated.Config{Now: func() time.Time { return time.Now().Add(time.Duration(s.clock.Load())) }})
	s.ok(err)
	s.rough = &rough{Carrier: s.sim}
	s.ok(s.db.PutRateCard(t.Context(), card, time.Now()))
	s.a, s.b = s.owner("A", 100*usd), s.owner("B", 100*usd)
	s.desk = callcenter.New(callcenter.Numbers{Store: s.db, Carrier: s.rough, Card: func() *billing.RateCard { return card }, Log: slog.New(slog.DiscardHandler)})
	a, h := s.mount(s.desk)
	s.server = httptest.NewServer(apitest.Judged(t, a, h))
	t.Cleanup(s.server.Close)
	return s
}

// mount serves a desk's routes.
func (s *shop) mount(d *callcenter.Numbers) (*api.API, http.Handler) {
	a := api.New(ticket.Keys{Signer: s.signer, Store: s.db, People: people.New(s.db)})
	callcenter.Mount(a, d)
	return a, a.Handler(api.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

// notifier is a carrier that has a webhook.
type notifier struct {
	*rough
	reference string
	err       error
}

func (n notifier) Notice(http.Header, []byte, time.Time) (string, error) { return n.reference, n.err }

func (s *shop) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *shop) owner(name string, paid billing.Money) owner {
	s.Helper()
	now, ctx := time.Now(), s.Context()
	acc, err := ledger.New(s.db).CreateAccount(ctx, name, card, now)
	s.ok(err)
	key, secret, err2 := people.New(s.db).MakeKey(storetest.At(ctx, now), people.NewKey{Account: acc.ID, Name: "first", Role: people.RoleMember})
	agent, err3 := s.db.CreateAgent(ctx, acc.ID, store.Agent{Name: "Ana of " + name, Voice: "F1", Language: "es"}, now)
	s.ok(errors.Join(err2, err3))
	if paid > 0 {
		_, _, err := ledger.New(s.db).Credit(ctx, ledger.Credit{Account: acc.ID, Kind: ledger.Topup, Amount: paid, Key: "pi:" + acc.ID, Source: "sim"}, now)
		s.ok(err)
	}
	return owner{acc.ID, secret, key.ID, agent.ID}
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// number reads the answer's body as a number.
func (s *shop) number(r reply) (n wire.Number) {
	s.Helper()
	s.ok(json.Unmarshal(r.body, &n))
	return n
}

// send makes a request; header is name, value and so on.
func (s *shop) send(method, target, body string, header ...string) reply {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.server.URL+target, bytes.NewReader([]byte(body)))
	s.ok(err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	// Whose attempts fail too often is barred: each comes from an address of its own.
	r.Header.Set("X-Forwarded-For", netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, s.sent.Add(1)))).String())
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := s.server.Client().Do(r)
	s.ok(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	s.ok(err)
	return reply{res.StatusCode, res.Header, text}
}

// as sends with a key.
func (s *shop) as(who owner, method, target, body string, header ...string) reply {
	s.Helper()
	return s.send(method, target, body, append(header, "Authorization", "Bearer "+who.key)...)
}

// buy asks for a number, bound to the owner's agent.
func (s *shop) buy(who owner, number string, header ...string) reply {
	s.Helper()
	return s.as(who, "POST", "/callcenter/numbers", `{"phone_number":"`+number+`","agent_id":"`+who.agent+`"}`, header...)
}

// owned buys a number that is active at once.
func (s *shop) owned(who owner, number string) wire.Number {
	s.Helper()
	r := s.buy(who, number)
	s.want("buy", r, 200, "")
	return s.number(r)
}

// want checks a status and, of an error, its code.
func (s *shop) want(what string, r reply, status int, code string) {
	s.Helper()
	var p struct{ Code string }
	_ = json.Unmarshal(r.body, &p) // not every answer has a body
	if r.status != status || p.Code != code {
		s.Errorf("%s: %d %.300s, want %d %s", what, r.status, r.body, status, code)
	}
}

// offers are the numbers that a search finds.
func (s *shop) offers(query string) (found struct {
	Numbers  []wire.Offer
	Page     int
	PageSize int  `json:"page_size"`
	HasMore  bool `json:"has_more"`
}) {
	s.Helper()
	r := s.as(s.a, "GET", "/callcenter/numbers/search?"+query, "")
	s.want(query, r, 200, "")
	s.ok(json.Unmarshal(r.body, &found))
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
	r := s.as(who, "GET", "/callcenter/numbers", "")
	s.want("list", r, 200, "")
	var out struct{ Numbers []wire.Number }
	s.ok(json.Unmarshal(r.body, &out))
	return out.Numbers
}

// paid is what the owner has of what was paid in.
func (s *shop) pots(who owner) billing.Pots {
	s.Helper()
	a, err := ledger.New(s.db).Account(s.Context(), who.account)
	s.ok(err)
	return a.Pots
}

func (s *shop) verified() {
	s.Helper()
	r, err := ledger.New(s.db).Verify(context.WithoutCancel(s.Context()))
	s.ok(err)
	for _, v := range r.Violations {
		s.Error(v)
	}
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

// later lets the carrier's time pass and looks after all numbers an hour on.
func (s *shop) later() {
	s.Helper()
	s.clock.Add(int64(time.Minute))
	s.ok(s.desk.Sweep(s.Context(), time.Now().Add(2*time.Hour)))
}
