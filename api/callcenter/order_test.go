package callcenter_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/sip/carrier"
	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/storetest"
)

// A late number is charged at once, listed as pending, and owned when the carrier
// says so, without anybody asking again.
func TestLateNumbers(t *testing.T) {
	s := open(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error)
	go func() { done <- s.desk.Run(ctx) }()
	r := s.buy(s.A, s.ending("4"))
	s.Want("buy", r, 202, "")
	n := s.number(r)
	l := s.list(s.A)
	if n.Status != "pending" || len(l) != 1 || l[0].ID != n.ID || l[0].Status != "pending" || *l[0].AgentID != s.A.Agent {
		t.Errorf("%+v, listed %+v", n, l)
	}
	if p := s.pots(s.A); p.Paid != 95*usd || p.Held != 0 {
		t.Errorf("%+v", p)
	}
	s.clock.Add(int64(time.Minute))
	s.eventually("activation", func() bool { return s.list(s.A)[0].Status == "active" })
	s.eventually("the route", func() bool { h := s.sim.Held(); return len(h) == 1 && h[0].Routed })
	stop()
	s.OK(<-done)
	s.Verified()
}

func TestFailedActivationIsGivenBack(t *testing.T) {
	s := open(t)
	number := s.ending(prompt)
	s.sim.Fail(number)
	s.Want("buy", s.buy(s.A, number), 202, "")
	if p := s.pots(s.A); p.Paid != 95*usd {
		t.Errorf("%+v", p)
	}
	s.later()
	if p := s.pots(s.A); p.Paid != 100*usd || p.Held != 0 || len(s.list(s.A)) != 0 {
		t.Errorf("%+v, %+v", p, s.list(s.A))
	}
	s.Verified()
	s.Want("again", s.buy(s.B, number), 200, "")
	s.Verified()
}

// However the line to the carrier breaks, the number is bought and charged once, or
// neither.
func TestOrdersOverABadLine(t *testing.T) {
	calls := 0
	for name, test := range map[string]struct {
		prepare func(s *shop)
		status  int
		code    string
		pending bool // after the purchase
		owned   bool // when the line works again

	}{
		"refused":        {func(s *shop) { s.rough.order = func() error { return carrier.Refused("no") } }, 400, "callcenter.number_not_available", false, false},
		"sold meanwhile": {func(s *shop) { s.rough.order = func() error { return carrier.ErrNotAvailable } }, 400, "callcenter.number_not_available", false, false},
		"never arrived":  {func(s *shop) { s.rough.order = away }, 202, "", true, false},
		"answer lost":    {func(s *shop) { s.rough.order, s.rough.lost = away, true }, 202, "", true, true},
		"first answer lost": {func(s *shop) {
			calls = 0
			s.rough.lost = true
			s.rough.order = func() error {
				if calls++; calls == 1 {
					return carrier.ErrUnavailable
				}
				return nil
			}
		}, 200, "", false, true},
		"not routed": {func(s *shop) { s.rough.route = away }, 200, "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			number := s.ending(prompt)
			test.prepare(s)
			s.Want("buy", s.buy(s.A, number), test.status, test.code)
			s.Verified()
			if l := s.list(s.A); test.pending && (len(l) != 1 || l[0].Status != "pending") {
				t.Errorf("%+v", l)
			}
			s.rough.set(&s.rough.lookup, away)
			s.later() // nothing can be learnt: nothing changes
			s.rough.set(&s.rough.lookup, nil)
			s.rough.set(&s.rough.order, nil)
			s.rough.set(&s.rough.route, nil)
			s.Verified()
			for range 3 {
				s.after(24 * time.Hour)
			}
			p, l, held := s.pots(s.A), s.list(s.A), s.sim.Held()
			switch {
			case p.Held != 0:
				t.Errorf("%+v", p)
			case test.owned && (p.Paid != 95*usd || len(l) != 1 || l[0].Status != "active" || len(held) != 1 || !held[0].Routed):
				t.Errorf("%+v, %+v, the carrier has %+v", p, l, held)
			case !test.owned && (p.Paid != 100*usd || len(l) != 0 || len(held) != 0):
				t.Errorf("%+v, %+v, the carrier has %+v", p, l, held)
			}
			s.Verified()
		})
	}
}

// A process that dies between any two steps of a purchase leaves what another one
// finishes. What is done up to the crash is done here by hand.
func TestCrashesOfAPurchase(t *testing.T) {
	order := func(s *shop, number string) *numbers.Number {
		n, err := numbers.New(s.DB).Order(t.Context(), numbers.Order{Account: s.A.Account, E164: number, Country: "ES", Agent: s.A.Agent,
			Carrier: "simulated", Card: card})
		s.OK(err)
		return n
	}
	for name, test := range map[string]struct {
		steps func(s *shop, number string)
		owned bool
	}{
		"between hold and order": {func(s *shop, number string) { order(s, number) }, false},
		"between order and posting": {func(s *shop, number string) {
			n := order(s, number)
			_, err := s.sim.Order(t.Context(), carrier.Order{Reference: n.OrderRef, Number: number})
			s.OK(err)
		}, true},
		"between posting and route": {func(s *shop, number string) {
			n := order(s, number)
			o, err := s.sim.Order(t.Context(), carrier.Order{Reference: n.OrderRef, Number: number})
			s.OK(err)
			_, err = numbers.New(s.DB).Reconcile(t.Context(), s.A.Account, n.ID, o)
			s.OK(err)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			number := s.ending(prompt)
			test.steps(s, number)
			s.Verified()
			s.OK(s.desk.Sweep(t.Context())) // too early for orders
			if l := s.list(s.A); len(l) != 1 {
				t.Errorf("%+v", l)
			}
			s.later()
			p, l, held := s.pots(s.A), s.list(s.A), s.sim.Held()
			if test.owned && (p.Paid != 95*usd || len(l) != 1 || l[0].Status != "active" || !held[0].Routed) ||
				!test.owned && (p.Paid != 100*usd || len(l) != 0 || len(held) != 0) || p.Held != 0 {
				t.Errorf("%+v, %+v, the carrier has %+v", p, l, held)
			}
			s.Verified()
		})
	}
}

// A process is stopped after it has held the money; the others take its order for failed
// before it goes on, or dies. What the carrier has sold then is given back, for nothing.
func TestOrdersThatComeLateAreReleased(t *testing.T) {
	for _, test := range []struct {
		name, ending string
		settled      bool // the process continues and settles the order
	}{{"settled", prompt, true}, {"only ordered", prompt, false}, {"settled, and the number is late", "4", true}, {"only ordered, and the number is late", "4", false}} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			n, err := numbers.New(s.DB).Order(t.Context(), numbers.Order{Account: s.A.Account, E164: s.ending(test.ending), Country: "ES", Agent: s.A.Agent,
				Carrier: "simulated", Card: card})
			s.OK(err)
			s.later()
			if p := s.pots(s.A); p.Paid != 100*usd || p.Held != 0 {
				t.Fatalf("nobody took the order for failed: %+v", p)
			}
			o, err := s.sim.Order(t.Context(), carrier.Order{Reference: n.OrderRef, Number: n.E164})
			s.OK(err)
			if test.settled {
				_, err = numbers.New(s.DB).Reconcile(t.Context(), n.Account, n.ID, o)
				s.OK(err)
			}
			for range 3 {
				s.later()
			}
			if p, held := s.pots(s.A), s.sim.Held(); p.Paid != 100*usd || p.Held != 0 || len(held) != 0 || len(s.list(s.A)) != 0 {
				t.Errorf("%+v, the carrier has %+v", p, held)
			}
			s.Verified()
		})
	}
}

// A release is tried until the carrier has the number back; the account has lost it
// from the first moment.
func TestReleaseOverABadLine(t *testing.T) {
	s := open(t)
	n := s.owned(s.A, s.ending(prompt))
	s.rough.set(&s.rough.release, away)
	s.Want("release", s.As(s.A, "DELETE", "/callcenter/numbers/"+n.ID, ""), 200, "")
	if len(s.list(s.A)) != 0 {
		t.Error("it is still there")
	}
	for range 20 {
		s.later()
	}
	if len(s.sim.Held()) != 1 {
		t.Error("the carrier has it back over a dead line")
	}
	s.rough.set(&s.rough.release, nil)
	s.after(24 * time.Hour)
	if held := s.sim.Held(); len(held) != 0 {
		t.Errorf("the carrier has %+v", held)
	}
	s.Verified()
}

// Numbers that are released before they came are given back as soon as they come.
func TestReleaseOfPendingNumbers(t *testing.T) {
	s := open(t)
	n := s.number(s.buy(s.A, s.ending("4")))
	s.Want("release", s.As(s.A, "DELETE", "/callcenter/numbers/"+n.ID, ""), 200, "")
	if len(s.list(s.A)) != 0 {
		t.Error("it is still there")
	}
	s.later()
	if p, held := s.pots(s.A), s.sim.Held(); p.Paid != 95*usd || len(held) != 0 {
		t.Errorf("%+v, the carrier has %+v", p, held)
	}
	s.Verified()
}

func TestIdempotency(t *testing.T) {
	s := open(t)
	number, other := s.ending(prompt), s.ending("4")
	body := `{"phone_number":"` + number + `","agent_id":"` + s.A.Agent + `"}`
	send := func(who owner, key, body string) reply {
		return s.As(who, "POST", "/callcenter/numbers", body, "Idempotency-Key", key)
	}
	first := send(s.A, "k1", body)
	s.Want("first", first, 200, "")
	s.Want("changed meanwhile", s.As(s.A, "POST", "/callcenter/numbers/"+s.number(first).ID+"/assign", `{"agent_id":""}`), 200, "")
	for range 3 {
		if again := send(s.A, "k1", body); again.Status != 200 || string(again.Body) != string(first.Body) {
			t.Errorf("%d %s, first it was %s", again.Status, again.Body, first.Body)
		}
	}
	s.Want("another body", send(s.A, "k1", `{"phone_number":"`+other+`"}`), 409, "request.idempotency_conflict")
	s.Want("another key", send(s.A, "k2", body), 400, "callcenter.number_not_available")
	s.Want("another account", send(s.B, "k1", body), 404, "agent.not_found")
	late := send(s.A, "k3", `{"phone_number":"`+other+`"}`)
	s.Want("late", late, 202, "")
	s.later()
	if again := send(s.A, "k3", `{"phone_number":"`+other+`"}`); again.Status != 202 || string(again.Body) != string(late.Body) {
		t.Errorf("%d %s, first it was %s", again.Status, again.Body, late.Body)
	}
	for _, bad := range []string{strings.Repeat("x", 256), "ä"} {
		s.Want(bad, send(s.A, bad, body), 400, "validation.invalid_request_format")
	}
	poor := s.Owner("poor", 4*usd)
	third := `{"phone_number":"` + s.ending(prompt) + `"}`
	s.Want("refused", send(poor, "k", third), 402, "billing.insufficient_balance")
	_, _, err := s.Ledger.Credit(t.Context(), ledger.Credit{Account: poor.Account, Kind: ledger.Topup, Amount: 10 * usd, Key: "pi:more", Source: "sim"})
	s.OK(err)
	s.Want("a refused one may be sent again", send(poor, "k", third), 200, "")
	if p := s.pots(s.A); p.Paid != 90*usd {
		t.Errorf("%+v", p)
	}
	s.Verified()
}

// Many at once with one key buy once; who comes while it is done is told so.
func TestIdempotencyAtOnce(t *testing.T) {
	s := open(t)
	body := `{"phone_number":"` + s.ending(prompt) + `"}`
	var mu sync.Mutex
	answers := map[string]int{}
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			r := s.As(s.A, "POST", "/callcenter/numbers", body, "Idempotency-Key", "k")
			mu.Lock()
			defer mu.Unlock()
			switch r.Status {
			case 200:
				answers[string(r.Body)]++
			default:
				s.Want("meanwhile", r, 409, "request.idempotency_conflict")
			}
		})
	}
	wg.Wait()
	if len(answers) != 1 || len(s.list(s.A)) != 1 || s.pots(s.A).Paid != 95*usd {
		t.Errorf("%v, %+v", answers, s.pots(s.A))
	}
	s.Verified()
}

// The process that bought it died before it answered: the same request is told what
// became of the purchase.
func TestIdempotencyAfterACrash(t *testing.T) {
	s := open(t)
	number := s.ending(prompt)
	body := `{"phone_number":"` + number + `"}`
	long := time.Now().Add(-time.Hour)
	dead := &store.IdempotencyKey{Account: s.A.Account, Route: "POST /callcenter/numbers", Key: "k", Hash: sha256.Sum256([]byte(body))}
	_, err := s.DB.BeginRequest(storetest.At(t.Context(), long), dead)
	s.OK(err)
	_, err = numbers.New(s.DB).Order(storetest.At(t.Context(), long), numbers.Order{Account: s.A.Account, E164: number, Country: "ES", Carrier: "simulated", Card: card, Once: dead})
	s.OK(err)
	first := s.As(s.A, "POST", "/callcenter/numbers", body, "Idempotency-Key", "k")
	s.Want("again", first, 200, "")
	second := s.As(s.A, "POST", "/callcenter/numbers", body, "Idempotency-Key", "k")
	if fmt.Sprint(first.Status, string(first.Body)) != fmt.Sprint(second.Status, string(second.Body)) || len(s.list(s.A)) != 1 || s.pots(s.A).Paid != 95*usd {
		t.Errorf("%s\n%s\n%+v", first.Body, second.Body, s.pots(s.A))
	}
	s.Verified()
}
