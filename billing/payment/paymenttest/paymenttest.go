// Package paymenttest is what every payment.Provider has to pass. A provider's
// own test calls Run with a way to make one and the Controls that play the
// customer, the bank and the network.
package paymenttest

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"parley/billing"
	"parley/billing/payment"
)

// Behaviour is how a payment goes.
type Behaviour int

// Behaviours. Those of the webhook leave the payment itself as Normal.
const (
	Normal Behaviour = iota
	Declined
	InsufficientFunds
	AuthenticationRequired
	TimeoutAfterSuccess // Charge takes the money, and the answer is lost
	Late                // the webhook is sent a minute later
	Twice               // the webhook is delivered twice
	OutOfOrder          // the webhook of a failed first try comes after the success
	Never               // no webhook
)

// Controls play everybody but us.
type Controls interface {
	// Amount is one between 10 and 2,000 dollars that makes a payment behave so.
	Amount(Behaviour) billing.Money
	// Pay is the customer paying on the page, Refuse one whose bank says no.
	Pay(testing.TB, payment.Checkout)
	Refuse(testing.TB, payment.Checkout)
	// Dispute opens a dispute and withdraws the funds; Decide closes it.
	Dispute(t testing.TB, paymentID string, amount billing.Money) (ref string)
	Decide(t testing.TB, ref string, won bool)
	// Deliveries are the webhooks since the last call, in the order they came,
	// once enough time went by for the late ones.
	Deliveries(testing.TB) []Delivery
}

// Delivery is one webhook as it came.
type Delivery struct {
	Header http.Header
	Body   []byte
	At     time.Time
}

const account = "acct_conformance"

// Run runs the whole suite. make is called for each test and cleans up by itself.
func Run(t *testing.T, make func(*testing.T) (payment.Provider, Controls)) {
	for _, c := range []struct {
		name string
		test func(*suite)
	}{
		{"a top-up is paid on a page", (*suite).topUp},
		{"a declined customer tries again", (*suite).topUpRetried},
		{"a saved card is charged", (*suite).charge},
		{"a key charges once", (*suite).chargeOnce},
		{"cards are refused", (*suite).refusals},
		{"without a card", (*suite).noCard},
		{"the answer is lost", (*suite).timeout},
		{"refunds", (*suite).refunds},
		{"amounts", (*suite).amounts},
		{"unknown ids", (*suite).unknown},
		{"a dispute is won", func(s *suite) { s.dispute(true) }},
		{"a dispute is lost", func(s *suite) { s.dispute(false) }},
		{"signatures", (*suite).signatures},
		{"late, twice, out of order, never", (*suite).network},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, controls := make(t)
			c.test(&suite{T: t, p: p, c: controls})
		})
	}
}

type suite struct {
	*testing.T
	p payment.Provider
	c Controls
	n int // for ids of our own
}

func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *suite) wants(err, target error) {
	s.Helper()
	if !errors.Is(err, target) {
		s.Errorf("error %v, want %v", err, target)
	}
}

func (s *suite) id(prefix string) string {
	s.n++
	return prefix + "_" + string(rune('a'+s.n))
}

func (s *suite) checkout(amount billing.Money) (payment.CheckoutRequest, payment.Checkout) {
	s.Helper()
	r := payment.CheckoutRequest{
		TopUp: s.id("topup"), Account: account, Amount: amount,
		SuccessURL: "https://parley.example/paid", CancelURL: "https://parley.example/canceled",
	}
	c, err := s.p.Checkout(s.Context(), r)
	s.must(err)
	return r, c
}

// card gives a customer with a saved card and forgets the webhooks about it.
func (s *suite) card() (customer string) {
	s.Helper()
	_, c := s.checkout(s.c.Amount(Normal))
	s.c.Pay(s, c)
	s.c.Deliveries(s)
	return c.Customer
}

func (s *suite) request(b Behaviour) payment.ChargeRequest {
	s.Helper()
	return payment.ChargeRequest{Key: s.id("attempt"), Account: account, Customer: s.card(), Amount: s.c.Amount(b)}
}

// paid is a payment that succeeded.
func (s *suite) paid() payment.Payment {
	s.Helper()
	p, err := s.p.Charge(s.Context(), s.request(Normal))
	s.must(err)
	s.c.Deliveries(s)
	return p
}

func (s *suite) read(id string) payment.Payment {
	s.Helper()
	p, err := s.p.Payment(s.Context(), id)
	s.must(err)
	return p
}

// events are the webhooks since the last call, each verified when it came,
// without those of no interest.
func (s *suite) events() (out []payment.Event) {
	s.Helper()
	for _, d := range s.c.Deliveries(s) {
		e, err := s.p.Event(d.Header, d.Body, d.At)
		s.must(err)
		if e.ID == "" {
			s.Error("an event without id")
		}
		if e.Kind != payment.Ignored {
			out = append(out, e)
		}
	}
	return out
}

// about keeps the events of one kind.
func about(events []payment.Event, kind payment.Kind) (out []payment.Event) {
	for _, e := range events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}
