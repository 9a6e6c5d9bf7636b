package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/gorilla/websocket"
)

// Error is what the server answered instead of doing what it was asked.
type Error struct {
	Status    int    // of HTTP; 0 when a socket told it
	Code      string // such as "billing.insufficient_balance"; empty when the answer had none
	Message   string // a sentence
	Detail    string // what exactly was wrong; may be empty
	Retryable bool   // the same request may succeed later
	Request   string // names the request for the server's operator; empty: the server did not say
}

func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
	}
	if e.Detail != "" {
		text += " " + e.Detail
	}
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	if e.Request != "" && e.Status >= http.StatusInternalServerError { // otherwise the client knows what to do
		text += "; request " + e.Request
	}
	return text
}

// UnreachableError says that no server answers at the address.
type UnreachableError struct {
	Server string // its address, without the path
	Err    error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no server answers at %s: %v", e.Server, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// Refusal reads the error of an answer.
func Refusal(resp *http.Response) *Error {
	e := &Error{Status: resp.StatusCode, Retryable: resp.StatusCode >= 500, Request: resp.Header.Get("X-Request-Id")}
	var p struct {
		Code      string `json:"code"`
		Error     string `json:"error"`
		Detail    string `json:"detail"`
		Retryable *bool  `json:"retryable"`
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem)) // what there is of it
	if json.Unmarshal(b, &p) == nil {
		e.Code, e.Message, e.Detail = p.Code, p.Error, p.Detail
		if p.Retryable != nil {
			e.Retryable = *p.Retryable
		}
	}
	return e
}

// lost is why a connection failed: the end of ctx, a server that is not there, or
// one that went away.
func (c *Client) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, ErrTooLarge) {
		return err
	}
	server := (&url.URL{Scheme: c.base.Scheme, Host: c.base.Host}).String()
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return &UnreachableError{server, op.Err}
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the connection to %s was lost: %w", server, err)
}

// hungUp is why a socket ended that had more to tell.
func (c *Client) hungUp(ctx context.Context, err error) error {
	if end, ok := errors.AsType[*websocket.CloseError](err); ok && end.Text != "" && end.Code != websocket.CloseAbnormalClosure && ctx.Err() == nil {
		return &Error{Message: end.Text}
	}
	return c.lost(ctx, err)
}
