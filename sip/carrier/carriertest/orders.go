package carriertest

import (
	"errors"
	"strings"
	"sync"

	"parley/sip/carrier"
)

func (s *suite) order() {
	reference, number := s.reference(), s.number(Prompt)
	first, err := s.p.Order(s.Context(), carrier.Order{Reference: reference, Number: number})
	s.must(err)
	if first.Number != number || first.State == carrier.Failed {
		s.Errorf("ordered: %+v", first)
	}
	o := s.settled(reference)
	if o.State != carrier.Active || o.Number != number || o.NumberID == "" || strings.Contains(o.NumberID, number[1:]) {
		s.Fatalf("settled: %+v", o)
	}
	if held, _ := s.c.Held(s, o.NumberID); held != number {
		s.Errorf("the carrier holds %q for us, want %s", held, number)
	}
	_, err = s.p.Offer(s.Context(), number)
	s.wants(err, carrier.ErrNotAvailable)
	for _, offer := range s.search(carrier.Query{Country: s.c.Country()}).Offers {
		if offer.Number == number {
			s.Error("still for sale")
		}
	}
}

func (s *suite) late() {
	reference, number := s.reference(), s.number(Late)
	for range 2 {
		o, err := s.p.Order(s.Context(), carrier.Order{Reference: reference, Number: number})
		s.must(err)
		if o.State != carrier.Pending || o.Number != number || o.NumberID != "" {
			s.Errorf("ordered: %+v", o)
		}
	}
	if s.c.Count(s) != 0 {
		s.Error("ours before it is active")
	}
	if o := s.settled(reference); o.State != carrier.Active || o.NumberID == "" {
		s.Errorf("settled: %+v", o)
	}
}

func (s *suite) failing() {
	order := carrier.Order{Reference: s.reference(), Number: s.number(Failing)}
	o, err := s.p.Order(s.Context(), order)
	s.must(err)
	if o.State != carrier.Pending {
		s.Errorf("ordered: %+v", o)
	}
	failed := s.settled(order.Reference)
	if failed.State != carrier.Failed || failed.NumberID != "" || failed.Reason == "" || failed.Number != order.Number {
		s.Errorf("settled: %+v", failed)
	}
	again, err := s.p.Order(s.Context(), order)
	s.must(err)
	if again != failed || s.c.Count(s) != 0 {
		s.Errorf("ordered again: %+v, and %d numbers are ours", again, s.c.Count(s))
	}
}

func (s *suite) refused() {
	order := carrier.Order{Reference: s.reference(), Number: s.number(Refused)}
	_, err := s.p.Order(s.Context(), order)
	s.wants(err, carrier.ErrRefused)
	var r *carrier.Refusal
	if !errors.As(err, &r) || r.Reason == "" {
		s.Errorf("%v has no reason", err)
	}
	_, err = s.p.Lookup(s.Context(), order.Reference)
	s.wants(err, carrier.ErrNotFound)
}

func (s *suite) once() {
	reference, o := s.bought()
	again, err := s.p.Order(s.Context(), carrier.Order{Reference: reference, Number: o.Number})
	s.must(err)
	if again != o || s.c.Count(s) != 1 {
		s.Errorf("ordered again: %+v, want %+v; %d numbers are ours", again, o, s.c.Count(s))
	}
	_, err = s.p.Order(s.Context(), carrier.Order{Reference: reference, Number: s.number(Prompt)})
	s.wants(err, carrier.ErrReferenceReused)

	// At the same time, as an impatient customer does it.
	same := carrier.Order{Reference: s.reference(), Number: s.number(Prompt)}
	for _, err := range s.together(func(int) carrier.Order { return same }) {
		s.must(err)
	}
	if s.settled(same.Reference).State != carrier.Active || s.c.Count(s) != 2 {
		s.Errorf("%d numbers are ours, want 2", s.c.Count(s))
	}
}

const crowd = 8

// together places orders at the same time.
func (s *suite) together(order func(int) carrier.Order) []error {
	errs := make([]error, crowd)
	var wg sync.WaitGroup
	for i := range crowd {
		o := order(i)
		wg.Go(func() { _, errs[i] = s.p.Order(s.Context(), o) })
	}
	wg.Wait()
	return errs
}

func (s *suite) soldOnce() {
	_, o := s.bought()
	_, err := s.p.Order(s.Context(), carrier.Order{Reference: s.reference(), Number: o.Number})
	s.wants(err, carrier.ErrNotAvailable)

	number, won := s.number(Prompt), 0
	for _, err := range s.together(func(int) carrier.Order { return carrier.Order{Reference: s.reference(), Number: number} }) {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, carrier.ErrNotAvailable):
			s.Error(err)
		}
	}
	if won != 1 {
		s.Errorf("sold to %d", won)
	}
}

func (s *suite) badOrders() {
	for _, number := range []string{"", "+", "nonsense", "+12125551234", "+1212555123400000"} {
		_, err := s.p.Order(s.Context(), carrier.Order{Reference: s.reference(), Number: number})
		s.wants(err, carrier.ErrNotAvailable)
	}
	for _, reference := range []string{"", "a b", "a\nb", "ö", strings.Repeat("x", carrier.MaxReference+1)} {
		_, err := s.p.Order(s.Context(), carrier.Order{Reference: reference, Number: "+12125550100"})
		s.wants(err, carrier.ErrRefused)
		_, err = s.p.Lookup(s.Context(), reference)
		s.wants(err, carrier.ErrNotFound)
	}
	_, err := s.p.Lookup(s.Context(), s.reference())
	s.wants(err, carrier.ErrNotFound)
}

func (s *suite) busy() {
	id := s.c.Owned(s, s.p)
	order := carrier.Order{Reference: s.reference(), Number: s.number(Prompt)}
	for _, request := range []func() error{
		func() error { _, err := s.p.Search(s.Context(), carrier.Query{Country: s.c.Country()}); return err },
		func() error { _, err := s.p.Offer(s.Context(), order.Number); return err },
		func() error { _, err := s.p.Order(s.Context(), order); return err },
		func() error { _, err := s.p.Lookup(s.Context(), order.Reference); return err },
		func() error { return s.p.Route(s.Context(), id) },
		func() error { return s.p.Release(s.Context(), id) },
	} {
		s.network(Busy)
		s.must(request())
	}
	if o := s.settled(order.Reference); o.State != carrier.Active || s.c.Count(s) != 1 {
		s.Errorf("%+v, and %d numbers are ours; want one", o, s.c.Count(s))
	}
}

func (s *suite) answerLost() {
	order := carrier.Order{Reference: s.reference(), Number: s.number(Prompt)}
	s.network(AnswerLost)
	_, err := s.p.Order(s.Context(), order)
	if err != nil {
		s.wants(err, carrier.ErrUnavailable)
		_, err = s.p.Order(s.Context(), order)
		s.must(err)
	}
	if o := s.settled(order.Reference); o.State != carrier.Active || s.c.Count(s) != 1 {
		s.Errorf("%+v, and %d numbers are ours; want one", o, s.c.Count(s))
	}
}

func (s *suite) away() {
	id, number := s.c.Owned(s, s.p), s.number(Prompt)
	s.network(Unreachable)
	_, err := s.p.Search(s.Context(), carrier.Query{Country: s.c.Country()})
	s.wants(err, carrier.ErrUnavailable)
	_, err = s.p.Offer(s.Context(), number)
	s.wants(err, carrier.ErrUnavailable)
	order := carrier.Order{Reference: s.reference(), Number: number}
	_, err = s.p.Order(s.Context(), order)
	s.wants(err, carrier.ErrUnavailable)
	_, err = s.p.Lookup(s.Context(), order.Reference)
	s.wants(err, carrier.ErrUnavailable)
	s.wants(s.p.Route(s.Context(), id), carrier.ErrUnavailable)
	s.wants(s.p.Release(s.Context(), id), carrier.ErrUnavailable)
	s.network(Repaired)
	_, err = s.p.Order(s.Context(), order)
	s.must(err)
	s.must(s.p.Route(s.Context(), id))
}
