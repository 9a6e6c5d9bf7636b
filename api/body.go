package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// bodyPatience is how long a client may take to send a request's body, unless the route
// gives it another time with SetBodyPatience.
const bodyPatience = 30 * time.Second

// timed bounds how long r's body may take to arrive, also when net/http reads it: where the handler
// does not, net/http does before it answers.
func timed(w http.ResponseWriter, r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	SetBodyPatience(w, bodyPatience)
	r.Body = &timedBody{ReadCloser: r.Body, conn: http.NewResponseController(w)}
	return r
}

// SetBodyPatience gives the client this long from now to send the body of the request
// that w answers. The bound ends with the body.
func SetBodyPatience(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d)) // writers of tests have none
}

// timedBody takes the bound away once the body is there: the server goes on reading from
// the connection, to learn that the client has gone, and that may take any time.
type timedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.conn.SetReadDeadline(time.Time{}) // as SetBodyPatience
	}
	return n, err
}

// bounded is the body of r, limit bytes at most. net/http keeps a connection open
// for a moment after it refused the rest of a body, so that the client can read
// why, but learns of the refusal only from its own ResponseWriter, whichever is
// wrapped around it.
func bounded(w http.ResponseWriter, r *http.Request, limit int64) io.ReadCloser {
	for {
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return http.MaxBytesReader(w, r.Body, limit)
		}
		w = inner.Unwrap()
	}
}

// tooLarge says whether a body has gone past its bound.
func tooLarge(err error) bool {
	_, ok := errors.AsType[*http.MaxBytesError](err)
	return ok
}

// ReadError is what an error of reading a request's body means.
func ReadError(err error) error {
	if tooLarge(err) || errors.Is(err, ErrTooLarge) {
		return ErrTooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return Detail(context.DeadlineExceeded, "the body took too long to arrive")
	}
	return ErrBadRequest
}
