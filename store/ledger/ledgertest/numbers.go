package ledgertest

import (
	"time"

	"parley/billing"
	"parley/sip/carrier"
	"parley/store/numbers"
)

// Order asks for a number of the carrier "acme".
func (f *Fixture) Order(account, e164 string, now time.Time) (*numbers.Number, error) {
	return f.Numbers.Order(f.At(now), numbers.Order{Account: account, E164: e164, Country: "ES", Carrier: "acme",
		Monthly: billing.USD, Card: Card})
}

// CarrierSays settles an order.
func (f *Fixture) CarrierSays(n *numbers.Number, state carrier.State, now time.Time) *numbers.Number {
	f.T.Helper()
	o := carrier.Ordered{State: state, Number: n.E164}
	if state == carrier.Active {
		o.NumberID = "acme-" + n.ID
	}
	got, err := f.Numbers.Reconcile(f.At(now), n.Account, n.ID, o)
	f.OK(err)
	return got
}

// Buy makes the account the owner of a number.
func (f *Fixture) Buy(account, e164 string, now time.Time) *numbers.Number {
	f.T.Helper()
	n, err := f.Order(account, e164, now)
	f.OK(err)
	n = f.CarrierSays(n, carrier.Active, now)
	if n.State != numbers.Owned {
		f.T.Fatalf("bought: %+v", n)
	}
	return n
}

// Months charges what is due.
func (f *Fixture) Months(now time.Time) numbers.Months {
	f.T.Helper()
	sum, err := f.Numbers.Charge(f.At(now), Card)
	f.OK(err)
	return sum
}
