package loopbacktest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// ModelScript is what a fake of a language model does. Its zero value says OK. Q are the requests of its vendor, R
// the replies of the fake.
type ModelScript[Q, R any] struct {
	Key string // "": the fake's DefaultKey
	// Replies are given in turn, one for each request that is accepted; the last one repeats.
	Replies []R
	// Answer, when set, decides instead. n counts accepted requests from 0.
	Answer   func(n int, q Q) R
	Delays   Delays
	Faults   []Fault
	Expects  []string // parts of the violations that the test means to cause
	Requests int      // in progress at a time, more get 429; 0: any number
	Models   []string // nil: all of the vendor's families
}

// ToolUse is a call. The server gives it an id when it has none.
type ToolUse struct {
	ID, Name string
	Input    string   // a JSON object; "": {}
	Pieces   []string // of Input, as they are sent; nil: small ones, or all of it where calls come whole
}

// Split is the input in the pieces that are sent.
func (t *ToolUse) Split() []string {
	if t.Pieces != nil {
		return t.Pieces
	}
	return Pieces(t.Input)
}

// ModelVendor is what the vendor of a model has of its own.
type ModelVendor[Q, R any] struct {
	Key      string   // unless the script names one
	Families []string // how the names of its models begin
	Post     string   // the pattern of requests
	List     string   // the pattern of the list of models, which a client asks for that warms its connection
	None     string   // that list, without any
	MaxBody  int64    // bytes of a request
	OK       R        // without a script

	// Admit says why a request may not enter.
	Admit func(*http.Request) error
	// Read reads and checks a request, and says which model it is for.
	Read func(r *http.Request, body []byte) (q *Q, model string, err error)
	// Refuse answers a request with an error of these two, or with a Refusal.
	Refuse func(http.ResponseWriter, error)
	// Reply answers a request that was accepted.
	Reply func(w http.ResponseWriter, r *http.Request, f Fault, q *Q, reply R)
}

// Refusal is an error that all vendors have: that of a fault, of an address or a model that does not exist, of a body
// that is too large, of too many requests.
type Refusal struct {
	Fault          // its status, and what goes with that
	Message string // "": the vendor's own
	Model   string // that does not exist
}

// Error implements error.
func (r Refusal) Error() string { return r.Message }

// Model is the part of a fake that is the same for every language model.
type Model[Q, R any] struct {
	*Server
	Script ModelScript[Q, R]

	vendor ModelVendor[Q, R]
	asked  atomic.Int64 // requests that were accepted
}

// ListenModel begins to serve a vendor's model.
func ListenModel[Q, R any](script ModelScript[Q, R], v ModelVendor[Q, R]) (*Model[Q, R], error) {
	m := &Model[Q, R]{Script: script, vendor: v}
	return m, ListenAt(&m.Server, cmp.Or(script.Key, v.Key), script.Faults, map[string]http.HandlerFunc{
		v.Post: m.ask,
		v.List: func(w http.ResponseWriter, r *http.Request) {
			if err := v.Admit(r); err != nil {
				v.Refuse(w, err)
				return
			}
			Answer(w, http.StatusOK, json.RawMessage(v.None))
		},
		"/": func(w http.ResponseWriter, r *http.Request) {
			v.Refuse(w, m.mistake(http.StatusNotFound, "%s %s does not exist", r.Method, r.URL.Path))
		},
	})
}

// mistake notes one of the client's, and is the error for it.
func (m *Model[Q, R]) mistake(status int, format string, args ...any) error {
	m.Violate(format, args...)
	return Refusal{Fault: Fault{Status: status}, Message: fmt.Sprintf(format, args...)}
}

// ask answers one request.
func (m *Model[Q, R]) ask(w http.ResponseWriter, r *http.Request) {
	f := m.Next()
	body, err := m.Receive(w, r, m.vendor.MaxBody)
	var large *http.MaxBytesError
	var q *Q
	switch {
	case errors.As(err, &large):
		err = m.mistake(http.StatusRequestEntityTooLarge, "a request of more than %d bytes", large.Limit)
	case err != nil:
		return
	case f.Status != 0:
		err = Refusal{Fault: f}
	default:
		q, err = m.accept(r, body)
	}
	if err == nil && !m.Enter(m.Script.Requests) {
		err = Refusal{Fault: Fault{Status: http.StatusTooManyRequests}}
	}
	if err != nil {
		m.vendor.Refuse(w, err)
		return
	}
	defer m.Leave()
	m.Note(func(b *Books) { b.Requests, b.Body = b.Requests+1, body })
	m.vendor.Reply(w, r, f, q, m.next(*q))
}

// accept reads a request, unless something is wrong with it.
func (m *Model[Q, R]) accept(r *http.Request, body []byte) (*Q, error) {
	if err := m.vendor.Admit(r); err != nil {
		return nil, err
	}
	q, model, err := m.vendor.Read(r, body)
	if err != nil {
		m.Violate("%v", err)
		return nil, err
	}
	isOurs := func(family string) bool { return strings.HasPrefix(model, family) }
	if s := m.Script.Models; s != nil && !slices.Contains(s, model) || s == nil && !slices.ContainsFunc(m.vendor.Families, isOurs) {
		return nil, Refusal{Fault: Fault{Status: http.StatusNotFound}, Model: model}
	}
	return q, nil
}

// next is the reply to the next request.
func (m *Model[Q, R]) next(q Q) R {
	n, list := int(m.asked.Add(1)-1), m.Script.Replies
	switch {
	case m.Script.Answer != nil:
		return m.Script.Answer(n, q)
	case len(list) > 0:
		return list[min(n, len(list)-1)]
	}
	return m.vendor.OK
}

// IsJSON says whether a request says that its body is JSON.
func IsJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "application/json"
}
