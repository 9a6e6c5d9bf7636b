package simulated

import (
	"time"

	"parley/billing"
	"parley/billing/payment"
)

// behaviour is the cents of an amount, read as in the package comment.
type behaviour int64

const (
	declined     behaviour = 1
	noFunds      behaviour = 2
	authenticate behaviour = 3
	timeout      behaviour = 4
	late         behaviour = 5
	twice        behaviour = 6
	outOfOrder   behaviour = 7
	never        behaviour = 8
	disputed     behaviour = 9
	disputeWon   behaviour = 10
	disputeLost  behaviour = 11
	refunded     behaviour = 12
)

// Delays of the table.
const (
	lateBy      = 60 * time.Second
	secondAfter = time.Second
	afterwards  = 2 * time.Second // what follows a payment
	withdrawn   = 3 * time.Second
	decided     = 10 * time.Second
)

func behaviourOf(m billing.Money) behaviour { return behaviour(m % billing.USD / billing.Cent) }

// refusal gives the decline code, or nothing when the card is charged.
func (b behaviour) refusal(present bool) string {
	switch {
	case b == declined:
		return "generic_decline"
	case b == noFunds:
		return "insufficient_funds"
	case b == authenticate && !present:
		return payment.CodeAuthentication
	}
	return ""
}

// succeedLocked marks a payment paid and sends what the table says about it.
func (p *Provider) succeedLocked(r *payment.Payment) {
	r.State, r.Code = payment.Succeeded, ""
	if c := p.st.Customers[r.Customer]; c != nil {
		c.Card = true
	}
	now := p.now()
	ok := p.eventLocked(payment.PaymentSucceeded, r.ID)
	switch b := behaviourOf(r.Amount); b {
	case late:
		p.sendLocked(ok, now.Add(lateBy))
	case twice:
		p.sendLocked(ok, now)
		p.sendLocked(ok, now.Add(secondAfter))
	case outOfOrder:
		p.sendLocked(ok, now)
		p.sendLocked(p.eventLocked(payment.PaymentFailed, r.ID), now.Add(afterwards))
	case never:
	case disputed, disputeWon, disputeLost:
		p.sendLocked(ok, now)
		d := p.disputeLocked(r, r.Amount, now.Add(afterwards), now.Add(withdrawn))
		if b != disputed {
			p.decideLocked(d, b == disputeWon, now.Add(decided))
		}
	case refunded:
		p.sendLocked(ok, now)
		p.sendLocked(p.eventLocked(payment.Refunded, r.ID), now.Add(afterwards)).Refunds = true
	default:
		p.sendLocked(ok, now)
	}
}

// refuseLocked notes a declined try and reports it at once.
func (p *Provider) refuseLocked(r *payment.Payment, s payment.State, code string) {
	r.State, r.Code = s, code
	p.sendLocked(p.eventLocked(payment.PaymentFailed, r.ID), p.now())
}
