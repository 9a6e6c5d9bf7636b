package paymenttest

import (
	"errors"
	"net/url"

	"parley/billing"
	"parley/billing/payment"
)

func (s *suite) topUp() {
	r, c := s.checkout(s.c.Amount(Normal))
	if u, err := url.Parse(c.URL); err != nil || u.Host == "" || c.ID == "" || c.Customer == "" {
		s.Errorf("checkout %+v", c)
	}
	want := payment.Payment{TopUp: r.TopUp, Account: account, Customer: c.Customer, Amount: r.Amount, State: payment.Pending}
	if got := s.read(c.ID); got != want {
		s.Errorf("before: %+v, want %+v", got, want)
	}
	again, err := s.p.Checkout(s.Context(), r)
	s.must(err)
	if again.ID != c.ID {
		s.Errorf("the same top-up made the page %s after %s", again.ID, c.ID)
	}
	other := r
	other.Amount += billing.Cent
	_, err = s.p.Checkout(s.Context(), other)
	s.wants(err, payment.ErrKeyReused)

	s.c.Pay(s, c)
	events := about(s.events(), payment.PaymentSucceeded)
	if len(events) == 0 {
		s.Fatal("no event says that the payment succeeded")
	}
	want.State = payment.Succeeded
	for _, e := range events {
		got := s.read(e.Payment)
		want.ID = got.ID
		if got.ID == "" || got != want {
			s.Errorf("after: %+v, want %+v", got, want)
		}
	}
	if byPage := s.read(c.ID); byPage != want {
		s.Errorf("by the page's id: %+v, want %+v", byPage, want)
	}
}

func (s *suite) topUpRetried() {
	_, c := s.checkout(s.c.Amount(Normal))
	s.c.Refuse(s, c)
	if got := s.read(c.ID); got.State != payment.Pending || got.Code == "" {
		s.Errorf("after a decline: %+v", got)
	}
	if len(about(s.events(), payment.PaymentFailed)) == 0 {
		s.Error("no event about the decline")
	}
	s.c.Pay(s, c)
	if got := s.read(c.ID); got.State != payment.Succeeded || got.Code != "" {
		s.Errorf("after paying: %+v", got)
	}
}

func (s *suite) charge() {
	r := s.request(Normal)
	got, err := s.p.Charge(s.Context(), r)
	s.must(err)
	want := payment.Payment{
		ID: got.ID, Key: r.Key, Account: account, Customer: r.Customer, Amount: r.Amount, State: payment.Succeeded,
	}
	if got.ID == "" || got != want {
		s.Errorf("%+v, want %+v", got, want)
	}
	if read := s.read(got.ID); read != want {
		s.Errorf("read %+v, want %+v", read, want)
	}
	for _, e := range about(s.events(), payment.PaymentSucceeded) {
		if e.Payment != got.ID {
			s.Errorf("event about %s, want %s", e.Payment, got.ID)
		}
	}
}

func (s *suite) chargeOnce() {
	r := s.request(Normal)
	first, err := s.p.Charge(s.Context(), r)
	s.must(err)
	second, err := s.p.Charge(s.Context(), r)
	s.must(err)
	if second != first {
		s.Errorf("the second call gave %+v, the first %+v", second, first)
	}
	ids := map[string]bool{}
	for _, e := range about(s.events(), payment.PaymentSucceeded) {
		ids[e.Payment] = true
	}
	if len(ids) != 1 {
		s.Errorf("one key paid %d times", len(ids))
	}
	for _, change := range []func(*payment.ChargeRequest){
		func(r *payment.ChargeRequest) { r.Amount += billing.USD },
		func(r *payment.ChargeRequest) { r.Account = "acct_other" },
	} {
		other := r
		change(&other)
		_, err = s.p.Charge(s.Context(), other)
		s.wants(err, payment.ErrKeyReused)
	}
	r.Key = s.id("attempt")
	third, err := s.p.Charge(s.Context(), r)
	s.must(err)
	if third.ID == first.ID {
		s.Error("another key is another payment")
	}
}

func (s *suite) refusals() {
	for _, c := range []struct {
		b    Behaviour
		err  error
		code string
	}{
		{Declined, payment.ErrDeclined, "generic_decline"},
		{InsufficientFunds, payment.ErrDeclined, "insufficient_funds"},
		{AuthenticationRequired, payment.ErrAuthentication, "authentication_required"},
	} {
		r := s.request(c.b)
		for range 2 { // the second call repeats the first outcome
			_, err := s.p.Charge(s.Context(), r)
			s.wants(err, c.err)
			var card *payment.CardError
			if !errors.As(err, &card) || card.Code != c.code || card.Payment == "" {
				s.Fatalf("%v: %#v, want code %s", c.b, err, c.code)
			}
			if got := s.read(card.Payment); got.State != payment.Failed || got.Code != c.code || got.Key != r.Key {
				s.Errorf("%v: %+v", c.b, got)
			}
		}
		events := s.events()
		if len(about(events, payment.PaymentFailed)) == 0 || len(about(events, payment.PaymentSucceeded)) > 0 {
			s.Errorf("%v: events %+v", c.b, events)
		}
	}
}

func (s *suite) noCard() {
	r := payment.ChargeRequest{Key: s.id("attempt"), Account: account, Amount: s.c.Amount(Normal)}
	_, err := s.p.Charge(s.Context(), r)
	s.wants(err, payment.ErrNoCard)
	_, c := s.checkout(s.c.Amount(Normal)) // and never paid
	r.Customer = c.Customer
	_, err = s.p.Charge(s.Context(), r)
	s.wants(err, payment.ErrNoCard)
}

func (s *suite) timeout() {
	r := s.request(TimeoutAfterSuccess)
	_, err := s.p.Charge(s.Context(), r)
	s.wants(err, payment.ErrUnknown)
	got, err := s.p.Charge(s.Context(), r)
	s.must(err)
	if got.State != payment.Succeeded || got.Key != r.Key || got.Amount != r.Amount {
		s.Errorf("%+v", got)
	}
	for _, e := range about(s.events(), payment.PaymentSucceeded) {
		if e.Payment != got.ID {
			s.Errorf("one key paid %s and %s", e.Payment, got.ID)
		}
	}
}

func (s *suite) refunds() {
	p := s.paid()
	part := payment.RefundRequest{Key: s.id("refund"), Payment: p.ID, Amount: 3 * billing.USD}
	first, err := s.p.Refund(s.Context(), part)
	s.must(err)
	if first.ID == "" || first.Payment != p.ID || first.Amount != part.Amount || first.State != payment.Succeeded {
		s.Errorf("%+v", first)
	}
	again, err := s.p.Refund(s.Context(), part)
	s.must(err)
	if again != first {
		s.Errorf("the second call gave %+v, the first %+v", again, first)
	}
	events := about(s.events(), payment.Refunded)
	if len(events) != 1 || events[0].Payment != p.ID {
		s.Errorf("events %+v", events)
	}
	changed := part
	changed.Amount += billing.Cent
	_, err = s.p.Refund(s.Context(), changed)
	s.wants(err, payment.ErrKeyReused)

	rest := payment.RefundRequest{Key: s.id("refund"), Payment: p.ID, Amount: p.Amount - part.Amount + billing.Cent}
	_, err = s.p.Refund(s.Context(), rest)
	s.wants(err, payment.ErrRefundTooLarge)
	rest.Key, rest.Amount = s.id("refund"), p.Amount-part.Amount
	_, err = s.p.Refund(s.Context(), rest)
	s.must(err)
	if got := s.read(p.ID); got.Refunded != p.Amount || got.State != payment.Succeeded {
		s.Errorf("refunded in full: %+v", got)
	}
	rest.Key, rest.Amount = s.id("refund"), billing.Cent
	_, err = s.p.Refund(s.Context(), rest)
	s.wants(err, payment.ErrRefundTooLarge)
}

func (s *suite) amounts() {
	customer, p := s.card(), s.paid()
	for _, m := range []billing.Money{0, -10 * billing.USD, 10*billing.USD + 1, billing.Cent / 2} {
		_, err := s.p.Checkout(s.Context(), payment.CheckoutRequest{TopUp: s.id("topup"), Account: account, Amount: m})
		s.wants(err, payment.ErrAmount)
		_, err = s.p.Charge(s.Context(), payment.ChargeRequest{Key: s.id("attempt"), Account: account, Customer: customer, Amount: m})
		s.wants(err, payment.ErrAmount)
		_, err = s.p.Refund(s.Context(), payment.RefundRequest{Key: s.id("refund"), Payment: p.ID, Amount: m})
		s.wants(err, payment.ErrAmount)
	}
	if len(s.events()) > 0 {
		s.Error("a wrong amount reached the provider")
	}
}

func (s *suite) unknown() {
	for _, id := range []string{"", "nothing", "pi_nothing", "cs_nothing", "../customers"} {
		_, err := s.p.Payment(s.Context(), id)
		s.wants(err, payment.ErrNotFound)
		_, err = s.p.Refund(s.Context(), payment.RefundRequest{Key: s.id("refund"), Payment: id, Amount: billing.USD})
		s.wants(err, payment.ErrNotFound)
	}
	if s.p.Name() == "" {
		s.Error("a provider has a name")
	}
}
