package remote

import (
	"context"
	"net/http/httptrace"
	"net/url"
	"time"
)

// Passed is what kind of thing a Passage is.
type Passed uint8

// The kinds.
const (
	Asked    Passed = iota // a handshake, or a request
	Opened                 // a connection was opened for it
	Answered               // a request was, or a handshake was refused: its body follows in parts
	Said                   // a message, or a part of the body of an answer
	Ended                  // by a close frame, or with the body of an answer
)

// Passage is something that passes between a Client and its vendor.
type Passage struct {
	What   Passed
	Vendor bool          // the vendor does it
	Path   string        // Asked: with the query
	Took   time.Duration // Opened: dialling, TLS and, of a WebSocket, its handshake
	Status int           // Answered
	Type   string        // Asked, Answered: of a body over HTTP
	Data   []byte        // Asked over HTTP, Said; it is valid until the Tap returns
	Binary bool          // Said: a binary message
	Code   int           // Ended: of the close frame; 0: there was none
}

// Tap gets what passes, as it does. Several goroutines may call it, and wait for it.
type Tap func(Passage)

// Watch gives tap all that passes from now on. c is not in use yet.
func (c *Client) Watch(tap Tap) { c.tap = tap }

func (c *Client) pass(p Passage) {
	if c.tap != nil {
		c.tap(p)
	}
}

// asks passes a handshake or a request on.
func (c *Client) asks(path, contentType string, body []byte) {
	if c.tap == nil {
		return
	}
	if u, err := url.Parse(c.base + path); err == nil {
		path = u.RequestURI()
	}
	c.tap(Passage{What: Asked, Path: path, Type: contentType, Data: body})
}

// opening is ctx for a request for which a connection may be opened.
func (c *Client) opening(ctx context.Context) context.Context {
	if c.tap == nil {
		return ctx
	}
	began := time.Now()
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(conn httptrace.GotConnInfo) {
		if !conn.Reused {
			c.tap(Passage{What: Opened, Took: time.Since(began)})
		}
	}})
}
