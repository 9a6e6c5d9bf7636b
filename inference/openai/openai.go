// Package openai speaks the HTTP dialect that OpenAI made common, and that vLLM,
// llama.cpp, Ollama, Groq, Speaches, whisper.cpp, Kokoro-FastAPI and others
// answer to: an LLM over /chat/completions with server-sent events, a TTS over
// /audio/speech and a batch ASR over /audio/transcriptions.
//
// Requests are written by hand on net/http, because a call needs to cancel a
// request at any byte, to bound all that a server may send, and to know what was
// consumed when it did. The engines are safe for use from several goroutines.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"parley/inference"
)

// Config is how to reach one server. Fields that an engine has no use for are
// ignored by it.
type Config struct {
	// BaseURL is what the paths are appended to, as in http://127.0.0.1:11434/v1.
	// It may hold neither credentials nor a query.
	BaseURL string
	APIKey  string // sent as a bearer token; empty: none
	Model   string // empty: the engine's default
	// HTTPClient replaces a client with keep-alive connections and a connection
	// timeout of 3 s that follows no redirects.
	HTTPClient *http.Client
	// Timeout is the longest silence of the server: before its answer begins and
	// between two pieces of it. 0 means 10 s.
	Timeout time.Duration
	// Verbose asks for verbose_json (ASR): it brings a confidence, and servers
	// that do not know it refuse.
	Verbose bool
}

// client is one server, as all three engines use it.
type client struct {
	name    string
	base    string
	key     string
	model   string
	http    *http.Client
	timeout time.Duration
}

func newClient(name, model string, c Config) (*client, error) {
	u, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	switch {
	case err != nil:
		return nil, errors.New("openai: the base URL cannot be read") // err would repeat it
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("openai: the base URL must begin with http:// or https:// and a host")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("openai: the base URL must have no credentials, query or fragment")
	case strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, errors.New("openai: the API key holds a space or a character that no header can carry")
	}
	return &client{name: name, base: u.String(), key: c.APIKey, model: cmp.Or(c.Model, model),
		http: cmp.Or(c.HTTPClient, newHTTPClient()), timeout: cmp.Or(c.Timeout, 10*time.Second)}, nil
}

func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 3 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	t.MaxIdleConnsPerHost = 64 // a busy node keeps about as many requests in flight
	t.DisableCompression = true
	return &http.Client{
		Transport: t,
		// A redirect would take the caller's words to a host nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// fault is an error of this engine.
func (c *client) fault(f inference.Fault, err error) error {
	return &inference.Error{Engine: c.name, Fault: f, Err: err}
}

// answer is the body of a response under a watchdog. It belongs to one goroutine.
type answer struct {
	*client
	ctx    context.Context // the caller's
	inner  context.Context // the request's, which the watchdog may end before
	cancel context.CancelCauseFunc
	header http.Header
	body   io.ReadCloser
	quiet  *time.Timer
}

// post sends a request and returns the answer once its status is good. The
// caller closes it, which also ends the request at the server.
func (c *client) post(ctx context.Context, path, contentType string, body []byte) (*answer, error) {
	a := &answer{client: c, ctx: ctx}
	a.inner, a.cancel = context.WithCancelCause(ctx)
	a.quiet = time.AfterFunc(c.timeout, func() { a.cancel(inference.ErrStalled) })
	request, err := http.NewRequestWithContext(a.inner, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		a.Close()
		return nil, c.fault(inference.ErrRefused, errors.New("the request cannot be made"))
	}
	request.Header.Set("Content-Type", contentType)
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	inference.Sent(ctx)
	response, err := c.http.Do(request)
	if err != nil {
		err = a.explain(err)
		a.Close()
		return nil, err
	}
	a.header, a.body = response.Header, response.Body
	if response.StatusCode/100 != 2 {
		err := a.refusal(response.StatusCode)
		a.Close()
		return nil, err
	}
	a.quiet.Stop()
	return a, nil
}

// Read implements io.Reader. The watchdog runs only while the server is waited
// for, not while our own consumer takes its time.
func (a *answer) Read(p []byte) (int, error) {
	a.quiet.Reset(a.timeout)
	n, err := a.body.Read(p)
	a.quiet.Stop()
	if n > 0 {
		inference.Got(a.ctx, time.Now())
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
func (a *answer) Close() {
	a.quiet.Stop()
	a.cancel(nil)
	if a.body != nil {
		a.body.Close()
	}
}

// explain turns an error of net/http into ours. Its text is dropped: it repeats
// the URL, and what the transport quotes may come from the other side.
func (a *answer) explain(err error) error {
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case a.ctx.Err() != nil:
		return context.Cause(a.ctx)
	case a.inner.Err() != nil, isTimeout(err):
		return a.fault(inference.ErrFailed, inference.ErrStalled)
	case errors.As(err, &certificate):
		return a.fault(inference.ErrUnavailable, errors.New("the server's certificate is not trusted"))
	case errors.As(err, &dial) && dial.Op == "dial":
		return a.fault(inference.ErrUnavailable, errors.New("no connection"))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return a.fault(inference.ErrFailed, io.ErrUnexpectedEOF)
	}
	return a.fault(inference.ErrFailed, errors.New("connection broken"))
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// refusal is the error of a status that is not 2xx.
func (a *answer) refusal(status int) error {
	fault := inference.ErrRefused
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		fault = inference.ErrUnavailable
	case status >= 500, status == http.StatusRequestTimeout:
		fault = inference.ErrFailed
	}
	text := fmt.Sprintf("status %d", status)
	body, _ := io.ReadAll(io.LimitReader(a, 16<<10))
	var e struct {
		Error serverError `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil {
		if code := a.code(e.Error); code != "" {
			text += " " + code
		}
	}
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	return a.fault(fault, errors.New(text))
}

// serverError is the part of an error object that may be shown. The message is
// left out on purpose: servers quote the key and the caller's words in it.
type serverError struct {
	Code any    `json:"code"` // a string at OpenAI, a number elsewhere
	Type string `json:"type"`
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{1,47}$`)

// code is an error's own name when it looks like one and holds no secret.
func (c *client) code(e serverError) string {
	code, _ := e.Code.(string)
	for _, s := range []string{code, e.Type} {
		if identifier.MatchString(s) && (c.key == "" || !strings.Contains(s, c.key) && !strings.Contains(c.key, s)) {
			return s
		}
	}
	return ""
}
