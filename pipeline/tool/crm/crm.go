// Package crm is what the server needs of a customer database: who has a telephone
// number, and a note of each call. One adapter speaks a plain protocol of our own,
// one that of HubSpot.
package crm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// CRM is a customer database. It may be used from several goroutines.
type CRM interface {
	// Contact finds who has a telephone number (E.164): the best match, or
	// ErrNoContact.
	Contact(ctx context.Context, number string) (*Contact, error)
	// Log notes a call that is over. again says that an earlier attempt may have
	// arrived: the call is looked for first, so that it is noted once.
	Log(ctx context.Context, c Call, again bool) error
}

// Contact is a person that the database knows. Empty fields are not known.
type Contact struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Company string `json:"company,omitempty"`
	Email   string `json:"email,omitempty"`
	Phone   string `json:"phone,omitempty"`
	Notes   string `json:"notes,omitempty"`
}

// Call is a call that is over.
type Call struct {
	ID        string // of the session; unique
	Inbound   bool
	From, To  string // E.164; empty: withheld
	StartedAt time.Time
	Duration  time.Duration
	Reason    string // how it ended: one of the words of media.EndReason
	Text      string // what was said, a line each
}

// Other is the number of the far end.
func (c *Call) Other() string {
	if c.Inbound {
		return c.From
	}
	return c.To
}

// ErrNoContact: nobody in the database has the number.
var ErrNoContact = errors.New("crm: no contact has this number")

// StatusError is an answer other than 2xx. Its text holds nothing of the answer, for
// that may repeat what was sent.
type StatusError struct{ Status int }

func (e *StatusError) Error() string { return fmt.Sprintf("crm: status %d", e.Status) }

// Kinds of databases, as settings and agents name them.
const (
	REST    = "rest"
	HubSpot = "hubspot"
)

// New returns the adapter of a kind. address is the base of the service, without a
// final slash; it may be empty for HubSpot. client makes the requests and must follow
// no redirect with the key.
func New(kind, address, key string, client *http.Client) (CRM, error) {
	switch {
	case kind == REST && address != "":
		return &rest{caller{address, key, client}}, nil
	case kind == HubSpot:
		return &hubspot{caller{cmp.Or(address, HubSpotAddress), key, client}}, nil
	}
	return nil, fmt.Errorf("crm: no kind %q", kind)
}

// caller makes requests to a database.
type caller struct {
	address, key string
	client       *http.Client
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 1 << 20

// do sends JSON and reads JSON into out; nil: the answer does not matter.
func (c *caller) do(ctx context.Context, method, path string, header http.Header, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("crm: %w", err)
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.address+path, body)
	if err != nil {
		return errors.New("crm: not an address")
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "Parley")
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := c.client.Do(r)
	if err != nil {
		return fmt.Errorf("crm: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return &StatusError{res.StatusCode}
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("crm: the answer cannot be read")
	}
	return nil
}

// name joins the parts of a name that are known.
func name(parts ...string) string { return strings.Join(strings.Fields(strings.Join(parts, " ")), " ") }
