// Package remote is what the engines of vendors share: how they are reached, over HTTP or a
// WebSocket, with how many streams at a time, how long they may be silent, and what their refusals mean.
//
// Requests are written by hand on net/http, because a call needs to cancel a request at any
// byte, to bound all that a server may send, and to know what was consumed when it did.
//
// An error says what was refused and never by what words: vendors repeat the key and what
// the caller said in theirs.
package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"parley/inference"
)

// Config is how to reach one vendor.
type Config struct {
	// Engine is the name that errors carry.
	Engine string
	// BaseURL is what paths are appended to, as in http://127.0.0.1:11434/v1.
	// It may hold neither credentials nor a query.
	BaseURL string
	Key     string // empty: none
	// Headers are sent with every request and handshake. They hold the key in the vendor's own way.
	Headers map[string]string
	// HTTPClient replaces a client with keep-alive connections and a connection
	// timeout of 3 s that follows no redirects.
	HTTPClient *http.Client
	// Dial replaces the dialling of WebSockets.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Timeout is the longest silence of the server: before its answer begins and
	// between two pieces of it. 0 means 10 s.
	Timeout time.Duration
}

// Client is one vendor. Safe for use from several goroutines.
type Client struct {
	engine  string
	base    string
	key     string
	headers map[string]string
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	timeout time.Duration
	tap     Tap // nil: nobody watches
	*shared
}

// shared is what clients with one key have in common.
type shared struct {
	http     *http.Client
	tls      *tls.Config  // of WebSockets
	used     atomic.Int64 // when the latest answer over HTTP began, Unix nanoseconds
	standing standing
	places   chan struct{} // that streams take; nil: there is no limit
}

// connectTimeout bounds the dialling of a connection, and the handshake of a WebSocket.
const connectTimeout = 3 * time.Second

// NewClient checks c and contacts nobody.
func NewClient(c Config) (*Client, error) {
	u, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	refuse := func(text string) (*Client, error) { return nil, errors.New(c.Engine + ": " + text) }
	switch {
	case err != nil:
		return refuse("the base URL cannot be read") // err would repeat it
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return refuse("the base URL must begin with http:// or https:// and a host")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return refuse("the base URL must have no credentials, query or fragment")
	case strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return refuse("the API key holds a space or a character that no header can carry")
	}
	return &Client{engine: c.Engine, base: u.String(), key: c.Key, headers: c.Headers, dial: c.Dial, timeout: cmp.Or(c.Timeout, 10*time.Second),
		shared: &shared{http: cmp.Or(c.HTTPClient, newHTTPClient()), tls: newTLS()}}, nil
}

// Remote is c, by which engines say that they have it.
func (c *Client) Remote() *Client { return c }

// Share has c use the connections and the places of another client with the same key, and leave the vendor alone with it. c is
// not in use yet.
func (c *Client) Share(with *Client) { c.shared = with.shared }

// newTLS remembers sessions, which saves a round trip when a connection is opened again.
func newTLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(64)}
}

// Engine is the name that errors carry.
func (c *Client) Engine() string { return c.engine }

// Base is the address that paths are appended to, without a slash at its end.
func (c *Client) Base() string { return c.base }

// Fault is an error of this engine.
func (c *Client) Fault(f inference.Fault, err error) error {
	return &inference.Error{Engine: c.engine, Fault: f, Err: err}
}

func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}).DialContext
	t.MaxIdleConnsPerHost = 64 // a busy node keeps about as many requests in flight
	t.DisableCompression = true
	t.TLSClientConfig = newTLS()
	return &http.Client{
		Transport: t,
		// A redirect would take the caller's words to a host nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
