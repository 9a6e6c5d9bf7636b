// Package carriertest is what every carrier.Carrier has to pass. A carrier's own
// test calls Run with a way to make one and the Controls that play the shop, the
// authorities and the network.
package carriertest

import (
	"errors"
	"strconv"
	"testing"

	"parley/sip/carrier"
)

// Behaviour is how the order of a number goes.
type Behaviour int

// Behaviours of numbers that are for sale.
const (
	Prompt  Behaviour = iota // Active at once, or after Settle
	Late                     // Pending first
	Failing                  // Pending first, then Failed
	Refused                  // the order is refused although the number is for sale
)

// Network is what becomes of requests.
type Network int

// What can go wrong between us and the carrier.
const (
	Busy        Network = iota // the next request is turned away, and its repetition taken
	AnswerLost                 // the next order is taken, and its answer lost
	Unreachable                // nothing gets through from now on
	Repaired                   // everything does
)

// Controls play everybody but us.
type Controls interface {
	// Country has more than one page of numbers for sale in more than one place; empty: nothing is sold.
	Country() string
	// Number is one for sale that behaves so, another each time; empty: none ever does.
	Number(testing.TB, Behaviour) string
	// Settle lets time pass until every order is decided.
	Settle(testing.TB)
	// Held is what the carrier itself knows of our number: empty when it is not ours.
	Held(t testing.TB, numberID string) (number string, routed bool)
	// Count says how many numbers of ours the carrier knows.
	Count(testing.TB) int
	// Network changes the network; false: there is none.
	Network(testing.TB, Network) bool
	// Owned is the id of a number that is ours, and not routed yet where numbers are sold.
	Owned(testing.TB, carrier.Carrier) (numberID string)
}

// Run runs the whole suite. make is called for each test and cleans up by itself.
func Run(t *testing.T, make func(*testing.T) (carrier.Carrier, Controls)) {
	for _, c := range []struct {
		name string
		test func(*suite)
	}{
		{"a search has pages", (*suite).pages},
		{"a search is narrowed", (*suite).narrowed},
		{"bad searches", (*suite).badSearches},
		{"one offer", (*suite).offer},
		{"an order", (*suite).order},
		{"an order takes time", (*suite).late},
		{"an order fails", (*suite).failing},
		{"an order is refused", (*suite).refused},
		{"a reference orders once", (*suite).once},
		{"a number is sold once", (*suite).soldOnce},
		{"bad orders", (*suite).badOrders},
		{"calls are routed", (*suite).route},
		{"a number is released", (*suite).release},
		{"the carrier is busy", (*suite).busy},
		{"the answer is lost", (*suite).answerLost},
		{"the carrier is away", (*suite).away},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, controls := make(t)
			c.test(&suite{T: t, p: p, c: controls})
		})
	}
}

type suite struct {
	*testing.T
	p carrier.Carrier
	c Controls
	n int // for references of our own
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

func (s *suite) reference() string {
	s.n++
	return "order-" + strconv.Itoa(s.n)
}

// sells skips what only a carrier with something to sell can show.
func (s *suite) sells() {
	s.Helper()
	if s.c.Country() == "" {
		s.Skip("sells nothing")
	}
}

func (s *suite) number(b Behaviour) string {
	s.Helper()
	s.sells()
	n := s.c.Number(s, b)
	if n == "" {
		s.Skip("no number behaves so")
	}
	return n
}

func (s *suite) network(n Network) {
	s.Helper()
	if !s.c.Network(s, n) {
		s.Skip("there is no network")
	}
}

// bought is an order that has come to its end well.
func (s *suite) bought() (reference string, o carrier.Ordered) {
	s.Helper()
	reference = s.reference()
	_, err := s.p.Order(s.Context(), carrier.Order{Reference: reference, Number: s.number(Prompt)})
	s.must(err)
	return reference, s.settled(reference)
}

// settled is what became of an order.
func (s *suite) settled(reference string) carrier.Ordered {
	s.Helper()
	s.c.Settle(s)
	o, err := s.p.Lookup(s.Context(), reference)
	s.must(err)
	return o
}
