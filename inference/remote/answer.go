package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"parley/inference"
)

// Answer is the body of a response under a watchdog. It belongs to one goroutine.
type Answer struct {
	*Client
	Header http.Header

	ctx    context.Context // the caller's
	inner  context.Context // the request's, which the watchdog may end before
	cancel context.CancelCauseFunc
	leave  func() // gives its place back
	body   io.ReadCloser
	quiet  *time.Timer
}

// Post sends a request and returns the answer once its status is good. The
// caller closes it, which also ends the request at the server. A vendor that wants to be left alone is not asked, and one that has
// as many requests as it may have is not available.
func (c *Client) Post(ctx context.Context, path, contentType string, body []byte) (*Answer, error) {
	if err := c.resting(); err != nil {
		return nil, err
	}
	leave, err := c.Enter(ctx)
	if err != nil {
		return nil, err
	}
	a := &Answer{Client: c, ctx: ctx, leave: leave}
	a.inner, a.cancel = context.WithCancelCause(ctx)
	a.quiet = time.AfterFunc(c.timeout, func() { a.cancel(inference.ErrStalled) })
	c.asks(path, contentType, body)
	request, err := http.NewRequestWithContext(c.opening(a.inner), http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		a.Close()
		return nil, c.Fault(inference.ErrRefused, errors.New("the request cannot be made"))
	}
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", contentType)
	inference.Sent(ctx)
	response, err := c.http.Do(request)
	if err != nil {
		err = a.explain(err)
		a.Close()
		return nil, err
	}
	c.used.Store(time.Now().UnixNano())
	a.Header, a.body = response.Header, response.Body
	c.pass(Passage{What: Answered, Vendor: true, Status: response.StatusCode, Type: response.Header.Get("Content-Type")})
	if response.StatusCode/100 != 2 {
		body, _ := io.ReadAll(io.LimitReader(a, 16<<10))
		err := context.Cause(ctx)
		if ctx.Err() == nil {
			err = c.refusal(response.StatusCode, response.Header, body)
		}
		a.Close()
		return nil, err
	}
	a.quiet.Stop()
	c.standing.well()
	return a, nil
}

// keptFor is how long a connection is open for certain after an answer: servers close those that nobody uses, some
// after a minute.
const keptFor = 30 * time.Second

// Warm connects, by asking for path, so that the next request need not wait for that. What the server answers does not
// matter. Where there was an answer a moment ago it does nothing.
func (c *Client) Warm(ctx context.Context, path string) {
	if time.Since(time.Unix(0, c.used.Load())) < keptFor {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(c.opening(ctx), http.MethodGet, c.base+path, nil)
	if err != nil {
		return
	}
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	if response, err := c.http.Do(request); err == nil {
		c.used.Store(time.Now().UnixNano())
		io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // a connection is used again when all was read
		response.Body.Close()
	}
}

// Context is that of the request.
func (a *Answer) Context() context.Context { return a.ctx }

// Read implements io.Reader. The watchdog runs only while the server is waited
// for, not while our own consumer takes its time.
func (a *Answer) Read(p []byte) (int, error) {
	a.quiet.Reset(a.timeout)
	n, err := a.body.Read(p)
	a.quiet.Stop()
	if n > 0 {
		inference.Got(a.ctx, time.Now())
		a.pass(Passage{What: Said, Vendor: true, Data: p[:n]})
	}
	if a.ctx.Err() != nil {
		return 0, context.Cause(a.ctx)
	}
	if err != nil && err != io.EOF {
		err = a.explain(err)
	}
	return n, err
}

// Close ends the request.
func (a *Answer) Close() {
	a.quiet.Stop()
	a.cancel(nil)
	if a.body != nil {
		a.body.Close()
		a.pass(Passage{What: Ended, Vendor: true})
	}
	a.leave()
}

// explain turns an error of net/http into ours, or into the cause for which the request ended.
func (a *Answer) explain(err error) error {
	switch {
	case a.ctx.Err() != nil:
		return context.Cause(a.ctx)
	case a.inner.Err() != nil:
		return a.Fault(inference.ErrFailed, inference.ErrStalled)
	}
	return a.broken(err)
}

// broken is the fault of a connection. The text of err is dropped: it repeats the URL, and
// what the transport quotes may come from the other side.
func (c *Client) broken(err error) error {
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	var late net.Error
	switch {
	case errors.As(err, &late) && late.Timeout():
		return c.Fault(inference.ErrFailed, inference.ErrStalled)
	case errors.As(err, &certificate):
		return c.Fault(inference.ErrUnavailable, errors.New("the server's certificate is not trusted"))
	case errors.As(err, &dial) && dial.Op == "dial":
		return c.Fault(inference.ErrUnavailable, errors.New("no connection"))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return c.Fault(inference.ErrFailed, io.ErrUnexpectedEOF)
	}
	return c.Fault(inference.ErrFailed, errors.New("connection broken"))
}
