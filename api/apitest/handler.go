package apitest

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"testing"

	"parley/api"
)

// Judged is h, and every answer is held to the document of a, to which all routes
// have been added. Sockets, and answers to clients that have gone, are not judged.
func Judged(t testing.TB, a *api.API, h http.Handler) http.Handler {
	t.Helper()
	d, err := Of(a)
	if err != nil {
		t.Fatal(err)
	}
	return d.Around(t, h)
}

// Around is h, and every answer is held to the document as by Judged.
func (d *Document) Around(t testing.TB, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w}
		h.ServeHTTP(a, r)
		if a.hijacked || r.Context().Err() != nil {
			return
		}
		a.begin(http.StatusOK)
		report(t, d, r, &http.Response{StatusCode: a.status, Header: a.header}, a.body.Bytes())
	})
}

// answer keeps what a handler answers on its way to the client.
type answer struct {
	http.ResponseWriter
	status   int         // 0: nothing was sent
	header   http.Header // as it was sent
	body     bytes.Buffer
	hijacked bool
}

// begin notes the status of the answer; those below 200 come before it.
func (a *answer) begin(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status, a.header = status, a.Header().Clone()
	}
}

func (a *answer) WriteHeader(status int) {
	a.begin(status)
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	a.begin(http.StatusOK)
	n, err := a.ResponseWriter.Write(p)
	a.body.Write(p[:n])
	return n, err
}

// Flush implements http.Flusher, for those that do not look for Unwrap.
func (a *answer) Flush() {
	a.begin(http.StatusOK)
	_ = http.NewResponseController(a.ResponseWriter).Flush() // a writer that cannot has nothing to flush
}

// Hijack implements http.Hijacker, which WebSocket upgrades ask for directly.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(a.ResponseWriter).Hijack()
	a.hijacked = err == nil
	return conn, rw, err
}

// Unwrap lets http.ResponseController find what the server's writer can do.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
