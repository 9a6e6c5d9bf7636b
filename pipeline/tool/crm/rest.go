package crm

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// rest speaks the plain protocol, for databases that somebody puts a small service
// before:
//
//	GET  {address}/contacts?phone=%2B34910000001   200 {"contacts": [{"id", "name", "company", "email", "phone", "notes"}]}, or 404
//	POST {address}/calls                           2xx; Idempotency-Key is the call's id, for a call may be sent twice
//
// The key is sent as "Authorization: Bearer KEY".
type rest struct{ caller }

// Contact implements CRM.
func (r *rest) Contact(ctx context.Context, number string) (*Contact, error) {
	var found struct {
		Contacts []Contact `json:"contacts"`
	}
	err := r.do(ctx, http.MethodGet, "/contacts?phone="+url.QueryEscape(number), nil, nil, &found)
	if s, ok := errors.AsType[*StatusError](err); ok && s.Status == http.StatusNotFound {
		return nil, ErrNoContact
	}
	if err != nil {
		return nil, err
	}
	if len(found.Contacts) == 0 {
		return nil, ErrNoContact
	}
	return &found.Contacts[0], nil
}

// restCall is a call as the plain protocol writes it.
type restCall struct {
	ID         string    `json:"id"`
	ContactID  string    `json:"contact_id,omitempty"`
	Direction  string    `json:"direction"` // inbound or outbound
	From       string    `json:"from"`
	To         string    `json:"to"`
	StartedAt  time.Time `json:"started_at"`
	DurationMS int64     `json:"duration_ms"`
	EndReason  string    `json:"end_reason"`
	Text       string    `json:"text"`
}

// Log implements CRM. The service recognises repetitions by their key, so they need not
// be recognised here.
func (r *rest) Log(ctx context.Context, c Call, _ bool) error {
	out := restCall{ID: c.ID, Direction: "outbound", From: c.From, To: c.To, StartedAt: c.StartedAt.UTC(),
		DurationMS: c.Duration.Milliseconds(), EndReason: c.Reason, Text: c.Text}
	if c.Inbound {
		out.Direction = "inbound"
	}
	if c.Other() != "" {
		contact, err := r.Contact(ctx, c.Other())
		if err != nil && !errors.Is(err, ErrNoContact) {
			return err
		}
		if contact != nil {
			out.ContactID = contact.ID
		}
	}
	return r.do(ctx, http.MethodPost, "/calls", http.Header{"Idempotency-Key": {c.ID}}, out, nil)
}
