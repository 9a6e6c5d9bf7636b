package simulated

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"parley/billing/payment"
)

const (
	firstRetry = time.Second
	maxRetry   = 5 * time.Minute
	giveUp     = 72 * time.Hour // as long as Stripe tries
	// clockPoll bounds how long Run sleeps while something waits: an injected
	// clock may jump without telling.
	clockPoll = time.Second
)

// Run delivers webhooks until the context ends and returns its cause.
func (p *Provider) Run(ctx context.Context) error {
	for {
		p.Deliver(ctx)
		var tick <-chan time.Time
		if wait, some := p.next(); some {
			tick = time.After(min(wait, clockPoll))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.wake:
		case <-tick:
		}
	}
}

// next says how long until the first webhook falls due.
func (p *Provider) next() (wait time.Duration, some bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.st.Outbox) == 0 {
		return 0, false
	}
	first := slices.MinFunc(p.st.Outbox, byDue)
	return max(0, first.Due.Sub(p.now())), true
}

func byDue(a, b *webhook) int {
	return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Seq, b.Seq))
}

// Deliver tries each webhook that is due once, the one due first first, and
// returns how many were accepted. Run calls it; a test may instead.
func (p *Provider) Deliver(ctx context.Context) (accepted int) {
	p.sending.Lock()
	defer p.sending.Unlock()
	for _, w := range p.due() {
		if ctx.Err() != nil {
			return accepted
		}
		err := p.post(ctx, w)
		if err != nil && ctx.Err() != nil { // stopping is no answer
			return accepted
		}
		if err == nil {
			accepted++
		}
		p.settle(w, err)
	}
	return accepted
}

// due lists what is due, and lets happen what an event reports on.
func (p *Provider) due() []*webhook {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	var out []*webhook
	for _, w := range p.st.Outbox {
		if w.Due.After(now) {
			continue
		}
		if r := p.st.Payments[w.Event.Payment]; w.Refunds && r != nil {
			r.Refunded, w.Refunds = r.Amount, false
		}
		out = append(out, w)
	}
	slices.SortFunc(out, byDue)
	return out
}

// post sends one webhook. Its event never changes once queued, so no lock is held.
func (p *Provider) post(ctx context.Context, w *webhook) error {
	body, err := bodyOf(w.Event)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.hook, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(SignatureHeader, payment.Sign(p.secret, body, p.now()))
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // lets the connection be used again
	if res.StatusCode/100 != 2 {
		return errors.New(res.Status)
	}
	return nil
}

// settle notes how a try went. The file is best effort here: what it forgets is
// delivered again.
func (p *Provider) settle(w *webhook, failure error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Attempts++
	now := p.now()
	switch {
	case failure == nil:
		p.removeLocked(w)
	case now.Sub(w.Created) >= giveUp:
		p.dropLocked(w, fmt.Sprint("last answer: ", failure))
	default:
		w.Due = now.Add(min(maxRetry, firstRetry<<min(w.Attempts-1, 20)))
	}
	if err := p.saveLocked(); err != nil {
		p.log.Error("simulated payments cannot be saved", "error", err)
	}
}
