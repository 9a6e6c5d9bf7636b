package telnyx

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"parley/sip/carrier"
)

const (
	callTimeout    = 30 * time.Second // a whole method, tries included
	attemptTimeout = 10 * time.Second // one HTTP request
	attempts       = 4
	firstWait      = 200 * time.Millisecond
	maxWait        = 5 * time.Second // when Telnyx asks for more, it is asked again later
	maxAnswer      = 4 << 20         // bytes; 300 offers are about 300 kB
	maxReason      = 200             // bytes of Telnyx's words that are kept
)

// request is one request, as often as it is sent.
type request struct {
	method, path string
	query        url.Values
	body         any
	// once: after an answer that leaves open what was done it is not sent again.
	once bool
}

// call sends a request until there is an answer that counts, and decodes it into out unless that is
// nil. Errors are those of package carrier: ErrNotFound for 404, a Refusal for other 4xx, ErrUnavailable
// for the rest, which with carrier.ErrUnclear may have been carried out.
func (c *Carrier) call(ctx context.Context, r request, out any) error {
	for i := 1; ; i++ {
		wait, err := c.attempt(ctx, r, out)
		if err == nil || !errors.Is(err, carrier.ErrUnavailable) || wait < 0 || i == attempts || (r.once && errors.Is(err, carrier.ErrUnclear)) {
			return err
		}
		wait = max(wait, firstWait<<(i-1))
		if wait > maxWait || c.sleep(ctx, wait) != nil {
			return err
		}
	}
}

// attempt sends a request once. After a failure wait is how long Telnyx wants to be left alone at
// least; below zero asking again is no use.
func (c *Carrier) attempt(ctx context.Context, r request, out any) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	req, err := c.build(ctx, r)
	if err != nil {
		return -1, err
	}
	what := r.method + " " + r.path
	res, err := c.client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("%w: telnyx: %s: %w: %w", carrier.ErrUnavailable, what, carrier.ErrUnclear, bare(err))
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil || len(text) > maxAnswer {
		return 0, fmt.Errorf("%w: telnyx: %s: %d, %w: the answer is too long or cut off", carrier.ErrUnavailable, what, res.StatusCode, carrier.ErrUnclear)
	}
	if res.StatusCode/100 != 2 {
		return c.refused(what, res, text)
	}
	if out == nil {
		return 0, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return 0, fmt.Errorf("%w: telnyx: %s: %w: the answer is not what is documented", carrier.ErrUnavailable, what, carrier.ErrUnclear)
	}
	return 0, nil
}

func (c *Carrier) build(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("telnyx: %s: %w", r.path, err)
		}
		body = bytes.NewReader(text)
	}
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("telnyx: %s: %w", r.path, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// refused reads an answer that is no success.
func (c *Carrier) refused(what string, res *http.Response, text []byte) (wait time.Duration, err error) {
	reason := c.reason(text)
	unavailable := fmt.Errorf("%w: telnyx: %s: %d %s", carrier.ErrUnavailable, what, res.StatusCode, reason)
	switch code := res.StatusCode; {
	case code == http.StatusTooManyRequests:
		return retryAfter(res.Header, time.Now()), unavailable
	case code >= http.StatusInternalServerError, code == http.StatusRequestTimeout:
		return retryAfter(res.Header, time.Now()), fmt.Errorf("%w: %w", unavailable, carrier.ErrUnclear)
	case code == http.StatusNotFound:
		return -1, carrier.ErrNotFound
	case code < http.StatusBadRequest, code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusPaymentRequired:
		return -1, unavailable // the operator's account, not the request
	}
	return -1, fmt.Errorf("telnyx: %s: %d: %w", what, res.StatusCode, carrier.Refused(cmp.Or(reason, "Telnyx refused the request.")))
}

// reason takes the words out of a refusal: of one line, bounded, and without the key, should Telnyx repeat it.
func (c *Carrier) reason(text []byte) string {
	var e apiErrors
	if json.Unmarshal(text, &e) != nil || len(e.Errors) == 0 {
		return ""
	}
	return oneLine(strings.ReplaceAll(e.Errors[0].Title+": "+e.Errors[0].Detail, c.key, "[key]"))
}

// oneLine bounds words of Telnyx's.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.Trim(strings.TrimSpace(s), ": "))
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "..."
	}
	return s
}

// retryAfter reads RFC 9110 10.2.3: seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil && s >= 0 {
		return time.Duration(min(s, 24*60*60)) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// bare takes the address, and the query with it, out of an error of the HTTP client.
func bare(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
