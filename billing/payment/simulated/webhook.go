package simulated

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"parley/billing"
	"parley/billing/payment"
)

// maxOutbox is half a megabyte on disk, and a receiver that far behind has to
// read its payments anyway.
const maxOutbox = 1000

// message is the body of a webhook.
type message struct {
	ID        string           `json:"id"`
	Object    string           `json:"object"` // "event"
	Simulated bool             `json:"simulated"`
	Type      payment.Kind     `json:"type"`
	Payment   string           `json:"payment"`
	Dispute   *disputeContents `json:"dispute,omitempty"`
}

type disputeContents struct {
	Ref    string        `json:"ref"`
	Amount billing.Money `json:"amount"` // dollars
	Reason string        `json:"reason"`
}

func bodyOf(e payment.Event) ([]byte, error) {
	m := message{ID: e.ID, Object: "event", Simulated: true, Type: e.Kind, Payment: e.Payment}
	if e.Dispute.Ref != "" {
		m.Dispute = (*disputeContents)(&e.Dispute)
	}
	return json.Marshal(m)
}

// Event implements payment.Provider.
func (p *Provider) Event(header http.Header, body []byte, now time.Time) (payment.Event, error) {
	if err := payment.Verify(p.secret, header.Get(SignatureHeader), body, now); err != nil {
		return payment.Event{}, err
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return payment.Event{}, fmt.Errorf("%w: %w", payment.ErrEvent, err)
	}
	if m.Object != "event" || m.ID == "" || m.Payment == "" {
		return payment.Event{}, fmt.Errorf("%w: not an event with its payment", payment.ErrEvent)
	}
	out := payment.Event{ID: m.ID, Kind: m.Type, Payment: m.Payment}
	switch m.Type {
	case payment.PaymentSucceeded, payment.PaymentFailed, payment.Refunded:
		return out, nil
	case payment.DisputeOpened, payment.DisputeFundsWithdrawn, payment.DisputeWon, payment.DisputeLost:
		if m.Dispute == nil {
			return payment.Event{}, fmt.Errorf("%w: a dispute without its contents", payment.ErrEvent)
		}
		out.Dispute = payment.Dispute(*m.Dispute)
		return out, nil
	}
	return payment.Event{ID: m.ID, Kind: payment.Ignored}, nil
}

func (p *Provider) eventLocked(kind payment.Kind, id string) payment.Event {
	return payment.Event{ID: p.st.id("evt"), Kind: kind, Payment: id}
}

func (p *Provider) disputeEventLocked(kind payment.Kind, d *dispute) payment.Event {
	e := p.eventLocked(kind, d.Payment)
	e.Dispute = d.Dispute
	return e
}

// sendLocked queues an event for delivery when it falls due.
func (p *Provider) sendLocked(e payment.Event, due time.Time) *webhook {
	p.st.Seq++
	w := &webhook{Event: e, Seq: p.st.Seq, Created: p.now(), Due: due}
	p.st.Outbox = append(p.st.Outbox, w)
	if len(p.st.Outbox) > maxOutbox {
		p.dropLocked(p.st.Outbox[0], "too many wait")
	}
	return w
}

func (p *Provider) dropLocked(w *webhook, why string) {
	p.removeLocked(w)
	p.st.Dropped++
	p.log.Warn("simulated payment webhook dropped", "event", w.Event.ID, "attempts", w.Attempts, "reason", why)
}

func (p *Provider) removeLocked(w *webhook) {
	p.st.Outbox = slices.DeleteFunc(p.st.Outbox, func(o *webhook) bool { return o == w })
}

// Dropped counts the webhooks that were given up since the state began.
func (p *Provider) Dropped() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.st.Dropped
}
