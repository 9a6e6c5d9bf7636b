package paymenttest

import (
	"bytes"
	"net/http"
	"time"

	"parley/billing"
	"parley/billing/payment"
)

func (s *suite) dispute(won bool) {
	p := s.paid()
	ref := s.c.Dispute(s, p.ID, 4*billing.USD)
	events := s.events()
	s.c.Decide(s, ref, won)
	events = append(events, s.events()...)
	last, other := payment.DisputeLost, payment.DisputeWon
	if won {
		last, other = other, last
	}
	for _, kind := range []payment.Kind{payment.DisputeOpened, payment.DisputeFundsWithdrawn, last} {
		about := about(events, kind)
		if len(about) != 1 {
			s.Errorf("%d events %s, want one", len(about), kind)
			continue
		}
		e := about[0]
		if e.Payment != p.ID || e.Dispute.Ref != ref || e.Dispute.Amount != 4*billing.USD {
			s.Errorf("%s: %+v, want payment %s and dispute %s", kind, e, p.ID, ref)
		}
	}
	if len(about(events, other)) > 0 {
		s.Errorf("the dispute also ended %s", other)
	}
}

func (s *suite) signatures() {
	_, c := s.checkout(s.c.Amount(Normal))
	s.c.Pay(s, c)
	deliveries := s.c.Deliveries(s)
	if len(deliveries) == 0 {
		s.Fatal("no webhook")
	}
	d := deliveries[0]
	if _, err := s.p.Event(d.Header, d.Body, d.At.Add(payment.Tolerance-time.Second)); err != nil {
		s.Errorf("still fresh: %v", err)
	}
	refused := func(what string, h http.Header, body []byte, now time.Time) {
		s.Helper()
		if e, err := s.p.Event(h, body, now); err == nil {
			s.Errorf("%s: accepted as %+v", what, e)
		} else {
			s.wants(err, payment.ErrSignature)
		}
	}
	refused("old", d.Header, d.Body, d.At.Add(payment.Tolerance+2*time.Second))
	refused("ten minutes old", d.Header, d.Body, d.At.Add(10*time.Minute))
	refused("unsigned", http.Header{}, d.Body, d.At)
	refused("body changed", d.Header, bytes.Replace(d.Body, []byte(":"), []byte(": "), 1), d.At)
	refused("body empty", d.Header, nil, d.At)
	for name, values := range d.Header {
		for _, change := range []string{"", "nonsense", values[0][:len(values[0])-1], values[0] + "0"} {
			h := d.Header.Clone()
			h.Set(name, change)
			if _, err := s.p.Event(h, d.Body, d.At); err == nil && isSignature(s, d, name) {
				s.Errorf("%s: %q was accepted", name, change)
			}
		}
	}
}

// isSignature tells the header that carries the signature: nothing is accepted without it.
func isSignature(s *suite, d Delivery, name string) bool {
	h := d.Header.Clone()
	h.Del(name)
	_, err := s.p.Event(h, d.Body, d.At)
	return err != nil
}

func (s *suite) network() {
	for _, c := range []struct {
		b                 Behaviour
		succeeded, failed bool
	}{
		{Late, true, false}, {Twice, true, false}, {OutOfOrder, true, true}, {Never, false, false},
	} {
		r := s.request(c.b)
		p, err := s.p.Charge(s.Context(), r)
		s.must(err)
		events := s.events()
		good, bad := about(events, payment.PaymentSucceeded), about(events, payment.PaymentFailed)
		if len(good) > 0 != c.succeeded || len(bad) > 0 != c.failed {
			s.Errorf("behaviour %d: events %+v", c.b, events)
		}
		if c.b == Twice && (len(good) != 2 || good[0] != good[1]) {
			s.Errorf("a webhook twice is the same event twice: %+v", good)
		}
		if c.b == OutOfOrder && len(events) > 0 && events[len(events)-1].Kind != payment.PaymentFailed {
			s.Errorf("the failure is not the last event: %+v", events)
		}
		for _, e := range events {
			if e.Payment != p.ID {
				s.Errorf("event about %s, want %s", e.Payment, p.ID)
			}
		}
		// Whatever was heard, and in which order, the payment is what it is.
		if got := s.read(p.ID); got != p || got.State != payment.Succeeded {
			s.Errorf("behaviour %d: %+v, want %+v", c.b, got, p)
		}
	}
}
