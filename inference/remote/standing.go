package remote

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"parley/inference"
)

const (
	// placeWait is how long a stream waits for a place at its vendor. After that another engine answers sooner.
	placeWait = 300 * time.Millisecond
	// fullRest is how long other engines are tried first after a stream has found no place.
	fullRest = time.Second
	// A vendor that is asked too often, and does not say until when, is left alone for firstRest, each time in a row for
	// twice as long, and for mostRest at most.
	firstRest = time.Second
	mostRest  = 30 * time.Second
	// deadRest is how long a key is not tried that its vendor does not take.
	deadRest = time.Minute
)

// standing is what a vendor makes of a key. All calls of the node heed it.
type standing struct {
	mu    sync.Mutex
	until time.Time       // the vendor is left alone until then
	fault inference.Fault // and why
	text  string          // likewise, for who asks meanwhile
	rest  time.Duration   // the latest that the vendor did not choose; 0: it has answered since
}

// leave has the vendor left alone for rest, as it wants, and returns for how long; 0: it does not say.
func (s *standing) leave(rest time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if rest == 0 {
		if left := s.until.Sub(now); left > 0 { // it was asked by several at the same time
			return left
		}
		s.rest = min(max(firstRest, 2*s.rest), mostRest)
		rest = s.rest
	}
	s.keepLocked(now.Add(rest), inference.ErrUnavailable, "it wants to be left alone for a while")
	return rest
}

// refuse has the key not tried for a minute, or for as long as the vendor wants to be left alone; text is its refusal.
func (s *standing) refuse(rest time.Duration, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepLocked(time.Now().Add(max(rest, deadRest)), inference.ErrRefused, "it has refused the key: "+text)
}

func (s *standing) keepLocked(until time.Time, fault inference.Fault, text string) {
	if until.After(s.until) {
		s.until, s.fault, s.text = until, fault, text
	}
}

// well notes that the vendor has answered.
func (s *standing) well() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = 0
}

// resting is the error of a vendor that is to be left alone for a while, or that does not take the key.
func (c *Client) resting() error {
	s := &c.standing
	s.mu.Lock()
	defer s.mu.Unlock()
	left := time.Until(s.until)
	if left <= 0 {
		return nil
	}
	return &inference.Error{Engine: c.engine, Fault: s.fault, Err: errors.New(s.text), RetryAfter: left, Key: s.fault == inference.ErrRefused}
}

// Names of errors that are about the key, those true whatever was asked, and of those that say that it asks too often.
var (
	ofKey = map[string]bool{"authentication_error": true, "billing_error": true, "insufficient_quota": true, "invalid_api_key": true,
		"account_deactivated": true, "billing_hard_limit_reached": true, "API_KEY_INVALID": true, "permission_error": false}
	tooOften = map[string]bool{"rate_limit_error": true, "rate_limit_exceeded": true}
)

// KeyStatus says whether a status is about the key: it is wrong (401), is not paid for (402), or may not do this (403).
func KeyStatus(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusPaymentRequired || status == http.StatusForbidden
}

// refused is the error of a refusal, which it notes where it is about the key. rest is for how long the vendor wants to be left
// alone; 0: it does not say.
func (c *Client) refused(fault inference.Fault, status int, name, text string, rest time.Duration) error {
	dead, about := ofKey[name]
	about = fault == inference.ErrRefused && (about || KeyStatus(status))
	switch {
	case about && (dead || KeyStatus(status) && status != http.StatusForbidden): // what it may not do says nothing of what it may
		c.standing.refuse(rest, text)
	case fault == inference.ErrUnavailable && (rest > 0 || status == http.StatusTooManyRequests || tooOften[name]):
		rest = c.standing.leave(rest)
	}
	return &inference.Error{Engine: c.engine, Fault: fault, Err: errors.New(text), RetryAfter: rest, Key: about}
}

// Limit has at most n streams at a time reach the vendor with the key; 0: any number. Of several limits the lowest counts. No
// stream is open yet.
func (c *Client) Limit(n int) {
	if n > 0 && (c.places == nil || n < cap(c.places)) {
		c.places = make(chan struct{}, n)
	}
}

// Enter takes a place for a stream: a request, a recognition, a conversation, or a reply that is spoken. leave gives it back, and
// may be called again. Where there is none for 300 ms the vendor is not available, so that another engine serves.
func (c *Client) Enter(ctx context.Context) (leave func(), err error) {
	places := c.places
	if places == nil {
		return func() {}, nil
	}
	wait := time.NewTimer(placeWait)
	defer wait.Stop()
	select {
	case places <- struct{}{}:
		return sync.OnceFunc(func() { <-places }), nil
	case <-wait.C:
		return nil, &inference.Error{Engine: c.engine, Fault: inference.ErrUnavailable, Err: errors.New("as many streams are open as it may have"), RetryAfter: fullRest}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
