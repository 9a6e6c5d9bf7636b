package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"
)

const (
	// registerFor is how long we ask for.
	registerFor = 10 * time.Minute
	// leastRefresh bounds what a registrar can make us do with a tiny expiry.
	leastRefresh = 5 * time.Second
	// longestExpiry is the most that a registrar can ask for with 423: a day.
	longestExpiry = 24 * time.Hour
	// Back-off after a failure: doubled each time. Wrong credentials are not
	// tried often: registrars lock those out who do.
	registerRetry    = 2 * time.Second
	registerRetryMax = 5 * time.Minute
	// registerPatience is how long one registrar may take, and unregisterPatience
	// how long we stay for goodbye.
	registerPatience   = 10 * time.Second
	unregisterPatience = 2 * time.Second
)

// Registration is how a trunk's stands.
type Registration struct {
	Registered bool
	Until      time.Time // when it ends unless it is refreshed
	Error      string    // of the last attempt; empty when it succeeded
	Attempts   uint64    // REGISTER exchanges so far
}

// registration is one trunk's (RFC 3261 section 10.2): its requests share a
// Call-ID and count up.
type registration struct {
	line    *line
	dialog  *dialog
	expires time.Duration // to ask for
	last    endpoint      // where it stands
}

// keepRegistered registers until ctx ends, and then takes it back.
func (l *line) keepRegistered(ctx context.Context) {
	r := &registration{line: l, expires: registerFor}
	pause := registerRetry
	for {
		granted, err := r.attempt(ctx)
		wait := max(granted/2, leastRefresh)
		if err != nil {
			if errors.Is(err, ErrAuth) {
				pause = registerRetryMax
			}
			wait = pause + rand.N(pause/4+1)
			pause = min(2*pause, registerRetryMax)
		} else {
			pause = registerRetry
		}
		if ctx.Err() == nil {
			l.registered(granted, err)
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			r.leave()
			return
		}
	}
}

// registered notes what came of an attempt.
func (l *line) registered(granted time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, before := time.Now(), l.register.Registered
	l.register.Attempts++
	if err == nil {
		l.register.Registered, l.register.Until, l.register.Error = true, now.Add(granted), ""
		if !before {
			l.ua.log.Info("sip: registered", "trunk", l.trunk.Name, "for", granted)
		}
		return
	}
	// What was granted stays in force while it lasts.
	l.register.Registered = before && now.Before(l.register.Until)
	l.register.Error = err.Error()
	l.ua.log.Warn("sip: cannot register", "trunk", l.trunk.Name, "err", err)
}

// attempt registers with the first target that takes it, and returns for how long.
func (r *registration) attempt(ctx context.Context) (time.Duration, error) {
	choices, err := r.line.choices(ctx)
	for _, h := range choices {
		within, cancel := context.WithTimeout(ctx, registerPatience)
		var granted time.Duration
		granted, err = r.with(within, h.endpoint, r.expires)
		cancel()
		if err == nil {
			return granted, nil
		}
		var refused *registerRefused
		if errors.Is(err, ErrAuth) || errors.As(err, &refused) && !unavailable(refused.code) {
			return 0, err // another server of the same registrar would say the same
		}
	}
	return 0, err
}

// registerRefused is a final answer that is no registration.
type registerRefused struct {
	code   int
	phrase string
}

func (e *registerRefused) Error() string { return fmt.Sprintf("REGISTER: %d %s", e.code, e.phrase) }

// with registers at one endpoint for a time; 0 takes the registration back.
func (r *registration) with(ctx context.Context, e endpoint, expires time.Duration) (time.Duration, error) {
	req := r.request(e, expires)
	var met round
	for lengthened := false; ; {
		res, err := r.line.ua.transact(ctx, r.line, nil, 0, req)
		switch {
		case err != nil:
			return 0, err
		case res.IsSuccess():
			r.last = e
			return r.granted(res, expires), nil
		case challenged(res):
			if err := r.dialog.auth.meet(res, &met); err != nil {
				return 0, err
			}
			req = r.dialog.again(req)
		case res.StatusCode == 423 && !lengthened && expires > 0: // section 10.2.8
			least := headerSeconds(res, "Min-Expires")
			if least <= expires || least > longestExpiry {
				return 0, &registerRefused{res.StatusCode, res.Reason}
			}
			lengthened, expires, r.expires = true, least, least
			req = r.request(e, expires)
		case res.StatusCode == 403:
			return 0, fmt.Errorf("%w: %d %s", ErrAuth, res.StatusCode, res.Reason)
		default:
			return 0, &registerRefused{res.StatusCode, res.Reason}
		}
	}
}

// request builds the next REGISTER.
func (r *registration) request(e endpoint, expires time.Duration) *gosip.Request {
	l := r.line
	old := r.dialog
	if _, r.dialog = l.outside(gosip.REGISTER, e); old != nil {
		r.dialog.callID, r.dialog.localSeq, r.dialog.auth = old.callID, old.localSeq, old.auth
	}
	req := r.dialog.request(gosip.REGISTER, 0)
	contact := r.dialog.contact()
	contact.Address.User = l.contactUser()
	contact.Params.Add("expires", strconv.Itoa(int(expires/time.Second)))
	req.AppendHeader(contact)
	req.AppendHeader(gosip.NewHeader("Expires", strconv.Itoa(int(expires/time.Second))))
	req.AppendHeader(allow())
	l.ua.aim(req, r.dialog, e)
	return req
}

// granted is what a 200 says about our Contact, which may stand among others.
func (r *registration) granted(res *gosip.Response, asked time.Duration) time.Duration {
	d := asked
	if s := headerSeconds(res, "Expires"); s > 0 {
		d = s
	}
	for _, h := range res.GetHeaders("contact") {
		c, ok := h.(*gosip.ContactHeader)
		if !ok || c.Address.User != r.line.contactUser() {
			continue
		}
		if n, err := strconv.ParseUint(c.Params.GetOr("expires", ""), 10, 32); err == nil && n > 0 {
			d = time.Duration(n) * time.Second
		}
	}
	return min(d, longestExpiry)
}

// leave takes the registration back; the registrar would otherwise send calls
// to nobody until it ends.
func (r *registration) leave() {
	l := r.line
	l.mu.Lock()
	registered := l.register.Registered
	l.register.Registered = false
	l.mu.Unlock()
	if !registered {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), unregisterPatience)
	defer cancel()
	if _, err := r.with(ctx, r.last, 0); err != nil {
		l.ua.log.Warn("sip: cannot unregister", "trunk", l.trunk.Name, "err", err)
	}
}

// contactUser is the user of the Contact that we register: calls come to it.
func (l *line) contactUser() string { return cmp.Or(l.trunk.FromUser, l.trunk.Auth.Username, "parley") }

// headerSeconds reads a header that is a number of seconds; 0: there is none.
func headerSeconds(m *gosip.Response, name string) time.Duration {
	h := m.GetHeader(name)
	if h == nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(h.Value()), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
