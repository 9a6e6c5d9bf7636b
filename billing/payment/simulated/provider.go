package simulated

import (
	"context"
	"fmt"

	"parley/billing/payment"
)

// Checkout implements payment.Provider; the page is under Config.PageURL.
func (p *Provider) Checkout(_ context.Context, r payment.CheckoutRequest) (payment.Checkout, error) {
	if _, err := payment.Check(r.Amount, r.TopUp); err != nil {
		return payment.Checkout{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if id, ok := p.st.TopUps[r.TopUp]; ok {
		c := p.st.Checkouts[id]
		if c.Request.Amount != r.Amount || c.Request.Account != r.Account {
			return payment.Checkout{}, payment.ErrKeyReused
		}
		return p.pageOf(id, c), nil
	}
	if p.st.full() {
		return payment.Checkout{}, errFull
	}
	if p.st.Customers[r.Customer] == nil {
		r.Customer = p.st.id("cus")
		p.st.Customers[r.Customer] = &customer{Account: r.Account}
	}
	id, c := p.st.id("cs"), &checkout{Request: r}
	p.st.Checkouts[id], p.st.TopUps[r.TopUp] = c, id
	return p.pageOf(id, c), p.saveLocked()
}

func (p *Provider) pageOf(id string, c *checkout) payment.Checkout {
	return payment.Checkout{ID: id, URL: p.pages + "pay/" + id, Customer: c.Request.Customer}
}

// Charge implements payment.Provider.
func (p *Provider) Charge(_ context.Context, r payment.ChargeRequest) (payment.Payment, error) {
	if _, err := payment.Check(r.Amount, r.Key); err != nil {
		return payment.Payment{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if id, ok := p.st.Keys[r.Key]; ok {
		old := p.st.Payments[id]
		if old.Amount != r.Amount || old.Account != r.Account {
			return payment.Payment{}, payment.ErrKeyReused
		}
		return outcome(old)
	}
	if c := p.st.Customers[r.Customer]; c == nil || !c.Card {
		return payment.Payment{}, &payment.CardError{Err: payment.ErrNoCard}
	}
	if p.st.full() {
		return payment.Payment{}, errFull
	}
	made := p.recordLocked(payment.Payment{Key: r.Key, Account: r.Account, Customer: r.Customer, Amount: r.Amount})
	p.st.Keys[r.Key] = made.ID
	b := behaviourOf(r.Amount)
	if code := b.refusal(false); code != "" {
		p.refuseLocked(made, payment.Failed, code)
	} else {
		p.succeedLocked(made)
	}
	if err := p.saveLocked(); err != nil {
		return payment.Payment{}, err
	}
	if b == timeout {
		return payment.Payment{}, fmt.Errorf("%w: simulated timeout", payment.ErrUnknown)
	}
	return outcome(made)
}

// waiting is the payment of a checkout that nobody has tried to pay.
func waiting(c *checkout) payment.Payment {
	q := c.Request
	return payment.Payment{TopUp: q.TopUp, Account: q.Account, Customer: q.Customer, Amount: q.Amount, State: payment.Pending}
}

func (p *Provider) recordLocked(r payment.Payment) *payment.Payment {
	r.ID, r.State = p.st.id("pi"), payment.Pending
	p.st.Payments[r.ID] = &r
	return &r
}

func outcome(r *payment.Payment) (payment.Payment, error) {
	if r.State != payment.Failed {
		return *r, nil
	}
	kind := payment.ErrDeclined
	if r.Code == payment.CodeAuthentication {
		kind = payment.ErrAuthentication
	}
	return *r, &payment.CardError{Err: kind, Code: r.Code, Payment: r.ID}
}

// Payment implements payment.Provider.
func (p *Provider) Payment(_ context.Context, id string) (payment.Payment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.st.Checkouts[id]; c != nil {
		if c.Payment == "" {
			return waiting(c), nil
		}
		id = c.Payment
	}
	if r := p.st.Payments[id]; r != nil {
		return *r, nil
	}
	return payment.Payment{}, payment.ErrNotFound
}

// Refund implements payment.Provider. Like a real provider it refuses what is disputed.
func (p *Provider) Refund(_ context.Context, r payment.RefundRequest) (payment.Refund, error) {
	if _, err := payment.Check(r.Amount, r.Key); err != nil {
		return payment.Refund{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	paid := p.st.Payments[r.Payment]
	if paid == nil {
		return payment.Refund{}, payment.ErrNotFound
	}
	for _, old := range p.st.Refunds {
		if old.Key != r.Key {
			continue
		}
		if old.Payment != r.Payment || old.Amount != r.Amount {
			return payment.Refund{}, payment.ErrKeyReused
		}
		return old.Refund, nil
	}
	switch {
	case paid.State != payment.Succeeded:
		return payment.Refund{}, fmt.Errorf("%w: the payment is %s", payment.ErrRefused, paid.State)
	case r.Amount > paid.Amount-paid.Refunded:
		return payment.Refund{}, payment.ErrRefundTooLarge
	case p.contestedLocked(r.Payment):
		return payment.Refund{}, fmt.Errorf("%w: the payment is disputed", payment.ErrRefused)
	case p.st.full():
		return payment.Refund{}, errFull
	}
	paid.Refunded += r.Amount
	made := &refund{Key: r.Key, Refund: payment.Refund{
		ID: p.st.id("re"), Payment: r.Payment, Amount: r.Amount, State: payment.Succeeded,
	}}
	p.st.Refunds[made.ID] = made
	p.sendLocked(p.eventLocked(payment.Refunded, r.Payment), p.now())
	return made.Refund, p.saveLocked()
}
