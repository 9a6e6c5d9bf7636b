package carriertest

import (
	"reflect"
	"slices"
	"strings"

	"parley/sip/carrier"
)

func (s *suite) search(q carrier.Query) carrier.Page {
	s.Helper()
	p, err := s.p.Search(s.Context(), q)
	s.must(err)
	if len(p.Offers) > carrier.PageSize || (p.More && len(p.Offers) < carrier.PageSize) {
		s.Errorf("page %d has %d offers, and more: %v", q.Page, len(p.Offers), p.More)
	}
	for _, o := range p.Offers {
		if o.Country != q.Country || o.Monthly < 0 || o.Upfront < 0 ||
			(carrier.Order{Reference: "x", Number: o.Number}).Check() != nil {
			s.Errorf("not an offer: %+v", o)
		}
	}
	return p
}

func (s *suite) pages() {
	if s.p.Name() == "" || s.p.Name() != strings.ToLower(s.p.Name()) {
		s.Errorf("the name is %q", s.p.Name())
	}
	if s.c.Country() == "" {
		if p := s.search(carrier.Query{Country: "US"}); len(p.Offers) > 0 || p.More {
			s.Errorf("sells nothing and offers %+v", p)
		}
		return
	}
	q, seen := carrier.Query{Country: s.c.Country(), Page: 1}, map[string]bool{}
	first := s.search(q)
	if len(first.Offers) != carrier.PageSize || !first.More {
		s.Fatalf("the first page has %d offers, and more: %v", len(first.Offers), first.More)
	}
	if again := s.search(carrier.Query{Country: q.Country}); !reflect.DeepEqual(again, first) {
		s.Errorf("the same search gave %+v after %+v", again, first)
	}
	for p := first; ; p = s.search(q) {
		for _, o := range p.Offers {
			if seen[o.Number] {
				s.Errorf("%s is on two pages", o.Number)
			}
			seen[o.Number] = true
		}
		if !p.More {
			break
		}
		q.Page++
	}
	q.Page = carrier.MaxPage
	if p := s.search(q); len(p.Offers) > 0 || p.More {
		s.Errorf("the page beyond the last has %d offers", len(p.Offers))
	}
}

func (s *suite) narrowed() {
	s.sells()
	q := carrier.Query{Country: s.c.Country()}
	all := s.search(q).Offers
	one := all[0]
	if !slices.ContainsFunc(all, func(o carrier.Offer) bool { return o.Locality != one.Locality }) {
		s.Fatal("the first page shows one town only")
	}
	q.Region, q.Locality = one.Region, one.Locality
	found := s.search(q).Offers
	if !slices.ContainsFunc(found, func(o carrier.Offer) bool { return o.Number == one.Number }) {
		s.Errorf("%s is not among the numbers of %s", one.Number, one.Locality)
	}
	for _, o := range found {
		if o.Region != one.Region || o.Locality != one.Locality {
			s.Errorf("%+v is not in %s", o, one.Locality)
		}
	}
	q.Locality = "Nowhere & elsewhere"
	if p := s.search(q); len(p.Offers) > 0 || p.More {
		s.Errorf("nowhere has %+v", p)
	}
}

func (s *suite) badSearches() {
	for _, q := range []carrier.Query{
		{}, {Country: "UK1"}, {Country: "gb"}, {Country: "GB", Page: -1}, {Country: "GB", Page: carrier.MaxPage + 1},
		{Country: "GB", Region: strings.Repeat("x", 200)}, {Country: "GB", Locality: strings.Repeat("x", 200)},
	} {
		_, err := s.p.Search(s.Context(), q)
		s.wants(err, carrier.ErrRefused)
	}
}

func (s *suite) offer() {
	for _, number := range []string{"", "+", "nonsense", "+12125551234", "12125550100", "+1212555010000000000"} {
		_, err := s.p.Offer(s.Context(), number)
		s.wants(err, carrier.ErrNotAvailable)
	}
	s.sells()
	for _, o := range s.search(carrier.Query{Country: s.c.Country()}).Offers[:3] {
		got, err := s.p.Offer(s.Context(), o.Number)
		s.must(err)
		if !reflect.DeepEqual(got, o) {
			s.Errorf("alone %+v, in the search %+v", got, o)
		}
	}
}

func (s *suite) route() {
	id := s.c.Owned(s, s.p)
	if _, routed := s.c.Held(s, id); routed && s.c.Country() != "" {
		s.Fatal("routed before it was asked for")
	}
	for range 2 {
		s.must(s.p.Route(s.Context(), id))
		if _, routed := s.c.Held(s, id); !routed {
			s.Error("not routed")
		}
	}
	for _, id := range strange {
		s.wants(s.p.Route(s.Context(), id), carrier.ErrNotFound)
	}
}

// strange are ids that no number has.
var strange = []string{"", "nothing", "..", "../number_orders", "a/b", "a?b=c", "+12125550100", strings.Repeat("9", 300)}

func (s *suite) release() {
	id := s.c.Owned(s, s.p)
	before := s.c.Count(s)
	for range 2 {
		s.must(s.p.Release(s.Context(), id))
		if number, _ := s.c.Held(s, id); number != "" || s.c.Count(s) != before-1 {
			s.Errorf("%s was released and is held: %q", id, number)
		}
	}
	s.wants(s.p.Route(s.Context(), id), carrier.ErrNotFound)
	for _, id := range strange {
		s.must(s.p.Release(s.Context(), id))
	}
	if s.c.Count(s) != before-1 {
		s.Error("what nobody has was released")
	}
}
