// Package client is a Go client of the service's HTTP API: speech from text in one
// request, as a stream or as a task in the background, text from recordings or from
// a microphone, and noise removal. Conversations with agents have a client of their
// own in api/wsagent/client.
//
//	c, err := client.New("http://127.0.0.1:8080", os.Getenv("PARLEY_API_KEY"))
//	audio, err := c.Synthesize(ctx, client.Speech{Text: "Hello!", Voice: "F1", Language: "en"})
//
// The key travels in a header, never in a URL. Answers are read up to a bound, and
// every method ends with its context. A refusal of the server is an *Error; a server
// that cannot be reached an *UnreachableError.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"parley/api/wire"
)

// Bounds of answers, in bytes.
const (
	maxProblem = 64 << 10
	maxJSON    = 16 << 20  // two hours of talk, word by word
	maxOneShot = 256 << 20 // 5,000 characters at half speed are some 90 MB
	maxResult  = 2 << 30   // 100,000 characters likewise
)

// dialPatience is how long a server may take to accept a connection.
const dialPatience = 10 * time.Second

// Client speaks to one server with one credential. It may be used from several
// goroutines.
type Client struct {
	base   *url.URL
	key    string
	http   *http.Client
	dialer *websocket.Dialer
	// diverted: see Divert.
	diverted bool
}

// New returns a client of the server at baseURL, such as https://voice.example.com,
// for an API key or a ticket. It connects to nothing yet.
func New(baseURL, key string) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" {
		return nil, errors.New("the server's address is not a URL such as http://127.0.0.1:8080")
	}
	switch u.Scheme {
	case "http", "https":
	case "ws":
		u.Scheme = "http"
	case "wss":
		u.Scheme = "https"
	default:
		return nil, errors.New("the server's address must begin with http or https")
	}
	u.Path, u.RawQuery, u.Fragment = strings.TrimRight(u.Path, "/"), "", ""
	dial := &net.Dialer{Timeout: dialPatience}
	return &Client{
		base: u,
		key:  key,
		http: &http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext, TLSHandshakeTimeout: dialPatience,
			ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
			// Uploads ask first, so that a refusal comes before 25 MB are sent.
			ExpectContinueTimeout: time.Second,
		}},
		dialer: &websocket.Dialer{Proxy: http.ProxyFromEnvironment, NetDialContext: dial.DialContext, HandshakeTimeout: dialPatience},
	}, nil
}

// Divert has requests go to rt, with their credential, and none over the network. The error of rt is part of that
// of the method. Sockets fail with ErrDiverted. It must be called before any other method.
func (c *Client) Divert(rt http.RoundTripper) {
	c.http = &http.Client{Transport: rt}
	c.diverted = true
}

// ErrDiverted says that what needs a socket was asked of a client whose requests are diverted.
var ErrDiverted = errors.New("this needs a WebSocket")

// address is the URL of a route. Its parts are escaped.
func (c *Client) address(path ...string) *url.URL { return c.base.JoinPath(path...) }

// query is address with a query.
func (c *Client) query(v url.Values, path ...string) *url.URL {
	u := c.address(path...)
	u.RawQuery = v.Encode()
	return u
}

// picked are the values that are not empty.
func picked(values map[string]string) url.Values {
	v := url.Values{}
	for name, value := range values {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

// request sends one request and returns the answer when it is good. The caller
// closes its body.
func (c *Client) request(r *http.Request) (*http.Response, error) {
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, c.lost(r.Context(), err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, Refusal(resp)
}

// send sends a request with in as its JSON body, unless in is nil, and headers, names and values in
// turn. It returns a good answer, whose body the caller closes.
func (c *Client) send(ctx context.Context, method string, u *url.URL, in any, header ...string) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return c.request(r)
}

// did is send for an answer without a body.
func (c *Client) did(ctx context.Context, method string, u *url.URL, in any, header ...string) error {
	resp, err := c.send(ctx, method, u, in, header...)
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

// pageSize is how many entries of a list are asked for at once: as many as there may be.
const pageSize = 100

// pages reads a list from its beginning: at most so many entries. more says whether there are others.
func pages[T any](ctx context.Context, c *Client, most int, v url.Values, path ...string) (list []T, more bool, err error) {
	list = []T{}
	for {
		v.Set("limit", strconv.Itoa(min(pageSize, most-len(list))))
		page, err := ask[struct {
			Data       []T    `json:"data"`
			HasMore    bool   `json:"has_more"`
			NextCursor string `json:"next_cursor"`
		}](ctx, c, http.MethodGet, c.query(v, path...), nil)
		if err != nil {
			return nil, false, err
		}
		list = append(list, page.Data...)
		if more = page.HasMore && page.NextCursor != ""; !more || len(list) >= most {
			return list, more, nil
		}
		v.Set("cursor", page.NextCursor)
	}
}

// each reads a list from its beginning, page by page, as far as it is wanted. An error comes last.
func each[T any](ctx context.Context, c *Client, v url.Values, path ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			page, err := ask[struct {
				Data       []T    `json:"data"`
				NextCursor string `json:"next_cursor"`
			}](ctx, c, http.MethodGet, c.query(v, path...), nil)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, one := range page.Data {
				if !yield(one, nil) {
					return
				}
			}
			if page.NextCursor == "" {
				return
			}
			v.Set("cursor", page.NextCursor)
		}
	}
}

// ask is send for an answer in JSON, a T.
func ask[T any](ctx context.Context, c *Client, method string, u *url.URL, in any) (*T, error) {
	return decode[T](ctx, c)(c.send(ctx, method, u, in))
}

// decode reads and closes an answer in JSON, a T.
func decode[T any](ctx context.Context, c *Client) func(*http.Response, error) (*T, error) {
	return func(resp *http.Response, err error) (*T, error) {
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(&bounded{r: resp.Body, left: maxJSON})
		if err != nil {
			return nil, c.lost(ctx, err)
		}
		out := new(T)
		if err := json.Unmarshal(b, out); err != nil {
			return nil, fmt.Errorf("the server's answer is not what it should be: %w", err)
		}
		return out, nil
	}
}

// dial opens a socket that ends with ctx. done must be called when it is closed.
func (c *Client) dial(ctx context.Context, path string) (conn *websocket.Conn, done func() bool, err error) {
	if c.diverted {
		return nil, nil, ErrDiverted
	}
	u := c.address(path)
	u.Scheme = strings.Replace(u.Scheme, "http", "ws", 1)
	header := http.Header{}
	if c.key != "" {
		header.Set("Authorization", "Bearer "+c.key)
	}
	conn, resp, err := c.dialer.DialContext(ctx, u.String(), header)
	if err != nil {
		if errors.Is(err, websocket.ErrBadHandshake) && resp != nil {
			return nil, nil, Refusal(resp)
		}
		return nil, nil, c.lost(ctx, err)
	}
	conn.SetReadLimit(maxMessage)
	return conn, context.AfterFunc(ctx, func() { conn.Close() }), nil
}

// bounded reads at most left bytes and fails when there are more: half an answer
// must not pass for a whole one.
type bounded struct {
	r    io.Reader
	left int64
}

// ErrTooLarge says that an answer is larger than this client takes.
var ErrTooLarge = errors.New("the server's answer is too large")

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// Agents lists the account's agents, the first hundred.
func (c *Client) Agents(ctx context.Context) ([]wire.Agent, error) {
	list, err := ask[struct{ Data []wire.Agent }](ctx, c, http.MethodGet, c.query(url.Values{"limit": {"100"}}, "v1", "agents"), nil)
	if err != nil {
		return nil, err
	}
	return list.Data, nil
}

// AgentVariables are the variables of an agent of the account's, with their values where a call brings none.
func (c *Client) AgentVariables(ctx context.Context, id string) (map[string]string, error) {
	a, err := ask[struct {
		Settings struct{ Variables map[string]string }
	}](ctx, c, http.MethodGet, c.address("v1", "agents", id), nil)
	if err != nil {
		return nil, err
	}
	return a.Settings.Variables, nil
}

// DemoLink makes a link that opens the pages of the server's demonstration once. The key
// must be an owner's of its account.
func (c *Client) DemoLink(ctx context.Context) (string, error) {
	made, err := ask[struct{ Path string }](ctx, c, http.MethodPost, c.address("v1", "demonstration-links"), nil)
	if err != nil {
		return "", err
	}
	u, err := c.base.Parse(made.Path)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}
