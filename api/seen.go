package api

import (
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// Seen is a request with a key or a ticket of an account, once it is over.
type Seen struct {
	ID        string // names it, as its answer does
	Client    string // the client's own name of it; empty: it gave none
	Principal Principal
	At        time.Time
	Took      time.Duration // of a socket as long as it was open
	Method    string
	Route     string // the path of its route in the OpenAPI document
	// Path and Query are as they were sent. They may hold credentials.
	Path, Query string
	Status      int    // of HTTP; 0: nothing was answered
	Code        string // of the error; empty: none
	In, Out     int64  // bytes of the bodies, as far as they were read and written; of a socket neither
	// Body is the beginning of a body of JSON, maxSeen bytes at most, as it was sent; nil: it had none, or another. The
	// taker owns it.
	Body []byte
	Cut  bool // there was more
}

// maxSeen bounds what Seen has of a body, in bytes.
const maxSeen = 4 << 10

// watch has a request of an account's key or ticket noted, unless nobody wants to know, and returns its body, which is
// noted while it is read. What people do on the pages is not noted.
func (v *passage) watch(r *http.Request, route string, p Principal) io.ReadCloser {
	if v == nil || !v.wanted || p.Account == "" || p.User != "" || r.Context().Value(insideKey{}) != nil {
		return r.Body
	}
	v.seen = &Seen{ID: v.request, Client: v.client, Principal: p, Method: r.Method, Route: route, Path: r.URL.Path, Query: r.URL.RawQuery}
	if r.Body == nil || r.Body == http.NoBody {
		return r.Body
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return &watchedBody{ReadCloser: r.Body, seen: v.seen, json: kind == "application/json" || strings.HasSuffix(kind, "+json")}
}

// watchedBody notes what is read.
type watchedBody struct {
	io.ReadCloser
	seen *Seen
	json bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.seen.In += int64(n)
	if b.json {
		room := min(n, maxSeen-len(b.seen.Body))
		b.seen.Body = append(b.seen.Body, p[:room]...)
		b.seen.Cut = b.seen.Cut || room < n
	}
	return n, err
}

// tell passes a request that is over to Options.Seen.
func (v *passage) tell(o *Options, status int, out int64, began time.Time) {
	if v.seen == nil {
		return
	}
	s := v.seen
	s.At, s.Took, s.Status, s.Out = began, time.Since(began), status, out
	if code := v.code.Load(); code != nil {
		s.Code = *code
	}
	o.Seen(*s)
}
