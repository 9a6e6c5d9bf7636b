package remote

import (
	"cmp"
	"encoding/json"
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

// faultOf is the fault of a status that is not a success.
func faultOf(status int) inference.Fault {
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == overloaded:
		return inference.ErrUnavailable
	case status >= 500, status == http.StatusRequestTimeout:
		return inference.ErrFailed
	}
	return inference.ErrRefused
}

// faults are those of errors that count by their names, whatever their status.
var faults = map[string]inference.Fault{
	"rate_limit_error": inference.ErrUnavailable, "rate_limit_exceeded": inference.ErrUnavailable, "overloaded_error": inference.ErrUnavailable,
	"server_is_overloaded": inference.ErrUnavailable,
	"authentication_error": inference.ErrRefused, "permission_error": inference.ErrRefused, "invalid_request_error": inference.ErrRefused,
	"billing_error": inference.ErrRefused, "not_found_error": inference.ErrRefused, "insufficient_quota": inference.ErrRefused,
	"invalid_api_key": inference.ErrRefused, "account_deactivated": inference.ErrRefused, "billing_hard_limit_reached": inference.ErrRefused,
}

// refusal is the error of a status that is not a success.
func (c *Client) refusal(status int, header http.Header, body []byte) error {
	fault, text, name := faultOf(status), fmt.Sprintf("status %d", status), ""
	var e struct {
		Error json.RawMessage `json:"error"`
		Named
	}
	rest := retryAfter(header)
	if json.Unmarshal(body, &e) == nil {
		var inner struct {
			Named
			Details []struct {
				Retry  string `json:"retryDelay"` // Google's, as in 34.5s
				Reason string `json:"reason"`
			} `json:"details"`
		}
		json.Unmarshal(e.Error, &inner) // a string at some: then the outer names count
		if name = c.Name(inner.Named, e.Named); name != "" {
			text += " " + name
			fault = cmp.Or(faults[name], fault)
		}
		for _, d := range inner.Details {
			if _, known := ofKey[d.Reason]; known {
				name = d.Reason
			}
			if delay, err := time.ParseDuration(d.Retry); err == nil {
				rest = min(max(rest, delay), time.Hour)
			}
		}
	}
	return c.refused(fault, status, name, text, rest)
}

// Refused is an error that came in a stream, after a good status.
func (c *Client) Refused(e Named) error {
	fault, text, name, status := inference.ErrFailed, "error in the stream", c.Name(e), 0
	if code, ok := e.Code.(float64); ok && code >= 400 && code < 600 {
		status = int(code)
		fault = faultOf(status)
	}
	if name != "" {
		text += ": " + name
	}
	return c.refused(cmp.Or(faults[name], fault), status, name, text, 0)
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
	Status    any    `json:"status"` // a name at Google, a number elsewhere
	Type      string `json:"type"`
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{1,47}$`)

// Name is an error's own name where it has one that looks like one and holds no secret;
// the first of several objects that has.
func (c *Client) Name(objects ...Named) string {
	for _, o := range objects {
		code, _ := o.Code.(string)
		other, _ := o.ErrorCode.(string)
		status, _ := o.Status.(string)
		for _, s := range []string{code, other, o.ErrCode, status, o.Type} {
			if identifier.MatchString(s) && s != "error" && s != "Error" && (c.key == "" || !strings.Contains(s, c.key) && !strings.Contains(c.key, s)) {
				return s
			}
		}
	}
	return ""
}
