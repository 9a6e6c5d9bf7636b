package simulated

import (
	"fmt"
	"time"

	"parley/billing"
	"parley/billing/payment"
)

// Pay does what the button of the page does and says how the payment stands
// after it: declined cards leave it Pending with a Code, for another try.
func (p *Provider) Pay(checkout string) (payment.Payment, error) {
	return p.try(checkout, func(r *payment.Payment) {
		if code := behaviourOf(r.Amount).refusal(true); code != "" {
			p.refuseLocked(r, payment.Pending, code)
		} else {
			p.succeedLocked(r)
		}
	})
}

// Decline is a try with a card that the bank refuses.
func (p *Provider) Decline(checkout string) (payment.Payment, error) {
	return p.try(checkout, func(r *payment.Payment) { p.refuseLocked(r, payment.Pending, "generic_decline") })
}

// Cancel gives the checkout up for good.
func (p *Provider) Cancel(checkout string) (payment.Payment, error) {
	return p.try(checkout, func(r *payment.Payment) { p.refuseLocked(r, payment.Canceled, "") })
}

// try acts on a payment that still waits for its customer, and on no other.
func (p *Provider) try(id string, act func(*payment.Payment)) (payment.Payment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.st.Checkouts[id]
	if c == nil {
		return payment.Payment{}, payment.ErrNotFound
	}
	r := p.st.Payments[c.Payment]
	if r == nil {
		if p.st.full() {
			return payment.Payment{}, errFull
		}
		r = p.recordLocked(waiting(c))
		c.Payment = r.ID
	}
	if r.State != payment.Pending {
		return *r, nil
	}
	act(r)
	return *r, p.saveLocked()
}

// OpenDispute disputes amount of a payment: opened and funds withdrawn, at once.
func (p *Provider) OpenDispute(id string, amount billing.Money) (ref string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.st.Payments[id]
	switch {
	case r == nil:
		return "", payment.ErrNotFound
	case r.State != payment.Succeeded || p.contestedLocked(id):
		return "", fmt.Errorf("%w: there is nothing to dispute", payment.ErrRefused)
	case amount <= 0 || amount%billing.Cent != 0 || amount > r.Amount-r.Refunded:
		return "", payment.ErrAmount
	case p.st.full():
		return "", errFull
	}
	now := p.now()
	return p.disputeLocked(r, amount, now, now).Ref, p.saveLocked()
}

// CloseDispute decides a dispute, once.
func (p *Provider) CloseDispute(ref string, won bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.st.Disputes[ref]
	if d == nil {
		return payment.ErrNotFound
	}
	if d.Outcome != payment.DisputeOpened {
		return fmt.Errorf("%w: the dispute is closed", payment.ErrRefused)
	}
	p.decideLocked(d, won, p.now())
	return p.saveLocked()
}

func (p *Provider) disputeLocked(r *payment.Payment, amount billing.Money, opened, withdrawn time.Time) *dispute {
	d := &dispute{
		Payment: r.ID,
		Dispute: payment.Dispute{Ref: p.st.id("dp"), Amount: amount, Reason: "simulated"},
		Outcome: payment.DisputeOpened,
	}
	p.st.Disputes[d.Ref] = d
	p.sendLocked(p.disputeEventLocked(payment.DisputeOpened, d), opened)
	p.sendLocked(p.disputeEventLocked(payment.DisputeFundsWithdrawn, d), withdrawn)
	return d
}

func (p *Provider) decideLocked(d *dispute, won bool, at time.Time) {
	d.Outcome = payment.DisputeLost
	if won {
		d.Outcome = payment.DisputeWon
	}
	p.sendLocked(p.disputeEventLocked(d.Outcome, d), at)
}

// contestedLocked says whether a dispute holds or took the money.
func (p *Provider) contestedLocked(id string) bool {
	for _, d := range p.st.Disputes {
		if d.Payment == id && d.Outcome != payment.DisputeWon {
			return true
		}
	}
	return false
}
