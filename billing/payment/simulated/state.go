package simulated

import (
	"fmt"
	"time"

	"parley/billing/payment"
	"parley/billing/statefile"
)

// maxRecords bounds the state, which is written whole at each change; a tool for
// trying things out needs no more.
const maxRecords = 10_000

var errFull = fmt.Errorf("%w: the simulated provider is full; delete its file", payment.ErrRefused)

// state is everything the provider knows. Amounts are cents.
type state struct {
	Instance  string
	Seq       int64
	Customers map[string]*customer
	Checkouts map[string]*checkout
	TopUps    map[string]string // top-up to checkout
	Payments  map[string]*payment.Payment
	Keys      map[string]string // charge key to payment
	Refunds   map[string]*refund
	Disputes  map[string]*dispute
	Outbox    []*webhook
	Dropped   int
}

type customer struct {
	Account string
	Card    bool // saved
}

type checkout struct {
	Request payment.CheckoutRequest
	Payment string // empty before the first try
}

type refund struct {
	payment.Refund
	Key string
}

type dispute struct {
	Payment string
	payment.Dispute
	Outcome payment.Kind // DisputeOpened, DisputeWon or DisputeLost
}

// webhook is an event on its way.
type webhook struct {
	Event    payment.Event
	Seq      int64
	Created  time.Time
	Due      time.Time
	Attempts int
	Refunds  bool // the whole payment is refunded when this falls due
}

func load(file string) (*state, error) {
	s := &state{}
	if err := statefile.Load(file, s); err != nil {
		return nil, err
	}
	fill(&s.Customers)
	fill(&s.Checkouts)
	fill(&s.TopUps)
	fill(&s.Payments)
	fill(&s.Keys)
	fill(&s.Refunds)
	fill(&s.Disputes)
	return s, nil
}

func fill[V any](m *map[string]V) {
	if *m == nil {
		*m = map[string]V{}
	}
}

// id makes the next id of a kind such as "pi".
func (s *state) id(kind string) string {
	s.Seq++
	return fmt.Sprintf("sim_%s_%s_%d", kind, s.Instance, s.Seq)
}

func (s *state) full() bool {
	return len(s.Payments)+len(s.Checkouts)+len(s.Refunds)+len(s.Disputes) >= maxRecords
}

// saveLocked writes the state. When that fails the change is known here but not on
// disk, which the caller of a payment has to take as an unknown outcome.
func (p *Provider) saveLocked() error {
	select {
	case p.wake <- struct{}{}:
	default:
	}
	if err := statefile.Save(p.file, p.st); err != nil {
		return fmt.Errorf("%w: simulated payments cannot be saved: %w", payment.ErrUnknown, err)
	}
	return nil
}
