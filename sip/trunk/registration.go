package trunk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
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
	Contact    string    // the URI that is registered; empty before
	Former     string    // the URI of another user agent's, which is still to be taken back; empty: none is
}

// registration is one trunk's (RFC 3261 section 10.2): its requests share a
// Call-ID and count up.
type registration struct {
	trunk   *Trunk
	dialog  *dialog.Dialog // of the latest REGISTER
	expires time.Duration  // to ask for
	last    Endpoint       // where it stands
	contact gosip.Uri      // what stands there
	former  *gosip.Uri     // another's that is to be taken back; nil: there is none
	stale   bool           // the registrar has the other's beside ours
}

// registerDuring registers until a tenure is over, or until ctx ends, and then takes it back.
func (t *Trunk) registerDuring(ctx context.Context, mine *tenure) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(mine.ctx, stop)()
	r := &registration{trunk: t, expires: registerFor, former: formerOf(mine.former)}
	pause := registerRetry
	for {
		granted, err := r.attempt(ctx)
		wait := max(granted/2, leastRefresh)
		if err != nil {
			if errors.Is(err, dialog.ErrAuth) {
				pause = registerRetryMax
			}
			wait = pause + rand.N(pause/4+1)
			pause = min(2*pause, registerRetryMax)
		} else {
			pause = registerRetry
		}
		if ctx.Err() == nil {
			t.registered(mine, r, granted, err)
		}
		if err == nil {
			r.takeBack(ctx, mine)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			if mine.ctx.Err() == nil {
				r.leave()
			}
			return
		}
	}
}

// registered records the outcome of an attempt to register, unless the tenure is over.
func (t *Trunk) registered(mine *tenure, r *registration, granted time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tenure != mine {
		return
	}
	now, before := time.Now(), t.register.Registered
	t.register.Attempts++
	if err == nil {
		t.register.Registered, t.register.Until, t.register.Error = true, now.Add(granted), ""
		t.register.Contact = r.contact.String()
		if !before {
			t.Log.Info("sip: registered", "trunk", t.Name, "for", granted)
		}
		return
	}
	// What was granted stays in force while it lasts.
	t.register.Registered = before && now.Before(t.register.Until)
	t.register.Error = err.Error()
	t.Log.Warn("sip: cannot register", "trunk", t.Name, "err", err)
}

// attempt registers with the first target that takes it, and returns for how long.
func (r *registration) attempt(ctx context.Context) (time.Duration, error) {
	choices, err := r.trunk.Choices(ctx, Target{})
	for _, h := range choices {
		within, cancel := context.WithTimeout(ctx, registerPatience)
		var granted time.Duration
		granted, err = r.with(within, h.Endpoint, nil, r.expires)
		cancel()
		if err == nil {
			return granted, nil
		}
		var refused *registerRefused
		if errors.Is(err, dialog.ErrAuth) || errors.As(err, &refused) && !Unavailable(refused.code) {
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

// with registers at one endpoint for a time; 0 takes the registration back. The Contact of another user agent may be
// taken back, too; nil: it is ours.
func (r *registration) with(ctx context.Context, e Endpoint, other *gosip.Uri, expires time.Duration) (time.Duration, error) {
	for lengthened := false; ; {
		req := r.request(e, other, expires)
		_, res, err := r.dialog.Own().Do(ctx, req)
		switch {
		case err != nil:
			return 0, err
		case res.IsSuccess():
			r.last, r.stale = e, has(res, r.former) && !same(r.former, &r.contact)
			return r.granted(res, expires), nil
		case res.StatusCode == 423 && !lengthened && expires > 0: // section 10.2.8
			least, _, _ := dialog.Seconds(res, "Min-Expires")
			if least <= expires || least > longestExpiry {
				return 0, &registerRefused{res.StatusCode, res.Reason}
			}
			lengthened, expires, r.expires = true, least, least
		case res.StatusCode == 403:
			return 0, fmt.Errorf("%w: %d %s", dialog.ErrAuth, res.StatusCode, res.Reason)
		default:
			return 0, &registerRefused{res.StatusCode, res.Reason}
		}
	}
}

// request builds the next REGISTER, of our Contact unless there is another.
func (r *registration) request(e Endpoint, other *gosip.Uri, expires time.Duration) *gosip.Request {
	t := r.trunk
	d := t.outside(e, gosip.REGISTER)
	if old := r.dialog; old != nil {
		d.CallID, d.LocalSeq, d.Auth = old.CallID, old.LocalSeq, old.Auth
	}
	r.dialog = d
	contact := d.Contact()
	contact.Address.User = t.ContactUser()
	if r.contact = contact.Address; other != nil {
		contact.Address = *other
	}
	seconds := strconv.Itoa(int(expires / time.Second))
	contact.Params.Add("expires", seconds)
	return d.Request(gosip.REGISTER, contact, gosip.NewHeader("Expires", seconds), dialog.Allow())
}

// granted is what a 200 says about our Contact, which may stand among others.
func (r *registration) granted(res *gosip.Response, asked time.Duration) time.Duration {
	d := asked
	if s, _, _ := dialog.Seconds(res, "Expires"); s > 0 {
		d = s
	}
	for _, h := range res.GetHeaders("contact") {
		c, ok := h.(*gosip.ContactHeader)
		if !ok || c.Address.User != r.trunk.ContactUser() || r.stale && same(&c.Address, r.former) {
			continue
		}
		if n, err := strconv.ParseUint(c.Params.GetOr("expires", ""), 10, 32); err == nil && n > 0 {
			d = time.Duration(n) * time.Second
		}
	}
	return min(d, longestExpiry)
}

// leave takes the registration back; the registrar would otherwise send calls
// here until it ends.
func (r *registration) leave() {
	t := r.trunk
	t.mu.Lock()
	registered := t.register.Registered
	t.register.Registered = false
	t.mu.Unlock()
	if !registered {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), unregisterPatience)
	defer cancel()
	if _, err := r.with(ctx, r.last, nil, 0); err != nil {
		t.Log.Warn("sip: cannot unregister", "trunk", t.Name, "err", err)
	}
}

// ContactUser is the user of the Contact that we register: calls come to it. An account's is a name that others do
// not know: behind a registrar's address it is what tells calls of one account from those of another.
func (t *Trunk) ContactUser() string {
	if t.Account != "" {
		return t.Name
	}
	return t.user()
}

// user is who we are at the registrar (the address of record of RFC 3261 section 10).
func (t *Trunk) user() string { return cmp.Or(t.FromUser, t.Auth.Username, "parley") }
