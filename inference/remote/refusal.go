package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"parley/inference"
)

// overloaded is Anthropic's status of a service that has no room.
const overloaded = 529

// refusal is the error of a status that is not a success.
func (c *Client) refusal(status int, header http.Header, body []byte) error {
	fault := inference.ErrRefused
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == overloaded:
		fault = inference.ErrUnavailable
	case status >= 500, status == http.StatusRequestTimeout:
		fault = inference.ErrFailed
	}
	text := fmt.Sprintf("status %d", status)
	var e struct {
		Error json.RawMessage `json:"error"`
		Named
	}
	if json.Unmarshal(body, &e) == nil {
		var inner Named
		json.Unmarshal(e.Error, &inner) // a string at some: then the outer names count
		if code := c.Name(inner, e.Named); code != "" {
			text += " " + code
		}
	}
	rest := retryAfter(header)
	if rest > 0 && fault == inference.ErrUnavailable {
		c.rests.Store(time.Now().Add(rest).UnixNano())
	}
	return &inference.Error{Engine: c.engine, Fault: fault, Err: errors.New(text), RetryAfter: rest}
}

// resting is the error of a vendor that wants to be left alone for a while. All calls of the node heed that.
func (c *Client) resting() error {
	left := time.Until(time.Unix(0, c.rests.Load()))
	if left <= 0 {
		return nil
	}
	return &inference.Error{Engine: c.engine, Fault: inference.ErrUnavailable, Err: errors.New("it wants to be left alone for a while"), RetryAfter: left}
}

// retryAfter is what a server asks for in seconds (RFC 9110, section 10.2.3); dates are not heeded.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}

// Named is the part of an error object that may be shown. The message is
// left out on purpose: servers quote the key and the caller's words in it.
type Named struct {
	Code      any    `json:"code"` // a string at OpenAI, a number elsewhere
	ErrorCode any    `json:"error_code"`
	ErrCode   string `json:"err_code"`
	Type      string `json:"type"`
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{1,47}$`)

// Name is an error's own name where it has one that looks like one and holds no secret;
// the first of several objects that has.
func (c *Client) Name(objects ...Named) string {
	for _, o := range objects {
		code, _ := o.Code.(string)
		other, _ := o.ErrorCode.(string)
		for _, s := range []string{code, other, o.ErrCode, o.Type} {
			if identifier.MatchString(s) && s != "error" && s != "Error" && (c.key == "" || !strings.Contains(s, c.key) && !strings.Contains(c.key, s)) {
				return s
			}
		}
	}
	return ""
}
