package trunk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
)

const (
	// defaultProbe is how often a target that is up is asked whether it lives.
	// One that is down is asked oftener, by probeHaste.
	defaultProbe = 30 * time.Second
	probeHaste   = 6
	// probePatience is how long an answer may take, in T1: 5 s.
	probePatience = 10
	// probeStrikes is how many probes in a row a target may miss: one may be lost.
	probeStrikes = 2
	// maxRest bounds how long a target that says Retry-After is left alone.
	maxRest = 10 * time.Minute
)

// Server is an endpoint and how it does. The trunk's lock guards it, except for
// the endpoint, which does not change.
type Server struct {
	Endpoint

	up      bool
	strikes int // probes missed in a row
	detail  string
	rest    time.Time // it has asked to be left alone until then
	refused []string  // numbers in a row that it could not take a call to, see failed
	probing bool
	next    time.Time     // of the next probe
	waited  chan struct{} // closed at the end of the probe; nil: nobody waits for it
}

// probedLocked notes the end of a probe.
func (s *Server) probedLocked() {
	if s.probing = false; s.waited != nil {
		close(s.waited)
		s.waited = nil
	}
}

// due lists the targets to probe now and moves next forward to when the next
// one will be.
func (t *Trunk) due(now time.Time, next *time.Time) (list []*Server) {
	if t.Has(NoProbe) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.servers {
		if s.probing {
			continue // it will wake us
		}
		if s.next.IsZero() {
			s.next = now // a new one
		}
		if !now.Before(s.next) {
			s.probing = true
			list = append(list, s)
		} else if s.next.Before(*next) {
			*next = s.next
		}
	}
	return list
}

// probe asks a target whether it lives. Whatever it answers, it does, unless it
// says that it cannot work now.
func (t *Trunk) probe(ctx context.Context, s *Server) {
	d := t.outside(s.Endpoint, gosip.OPTIONS)
	req := d.Request(gosip.OPTIONS, d.Contact())
	ctx, cancel := context.WithTimeout(ctx, probePatience*t.T1)
	defer cancel()
	_, res, err := d.Own().Do(ctx, req)
	var rest time.Duration
	if res != nil { // also where it does not accept our credentials
		err = nil
		if Unavailable(res.StatusCode) {
			err = fmt.Errorf("OPTIONS: %d %s", res.StatusCode, res.Reason)
			rest = Rest(res)
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return // we are closing
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errNoAnswer
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.probedLocked()
	every := t.Probe
	if err == nil {
		s.strikes = 0
		t.markLocked(s, true, "")
	} else {
		if s.strikes++; s.strikes >= probeStrikes || !s.up || rest > 0 {
			t.markLocked(s, false, err.Error())
		} else {
			s.detail = err.Error()
		}
		every /= probeHaste
	}
	t.restLocked(s, rest)
	s.next = time.Now().Add(max(every, rest))
	t.stir()
}

var errNoAnswer = errors.New("OPTIONS: no answer")

// outside is the dialog of a request to a server outside of any call, which builds it again
// when it is challenged.
func (t *Trunk) outside(e Endpoint, method gosip.RequestMethod) *dialog.Dialog {
	d := &dialog.Dialog{Far: t.Far(dialog.NewAuthorizer(t.Auth)), State: dialog.State{
		CallID: dialog.NewTag(), LocalTag: dialog.NewTag(), Transport: e.Transport, Peer: e.Addr, Home: e.Addr.Addr(),
		Self:   netip.AddrPortFrom(t.Facing(e.Addr.Addr()), t.layer.Port(e.Transport)),
		Target: dialog.URI{Uri: e.Target.URI("")}, Routes: t.Routes(),
		Detour: true, // to the server, wherever its name leads
	}}
	d.Local.Uri = gosip.Uri{Scheme: "sip", User: t.user(), Host: Bracketed(cmp.Or(t.FromHost, e.Target.Host))}
	d.Remote.Uri = gosip.Uri{Scheme: "sip", Host: Bracketed(e.Target.Host)}
	if method == gosip.REGISTER {
		d.Remote = d.Local
	}
	return d
}

// probed lets a target be probed again whose probe panicked.
func (t *Trunk) probed(s *Server) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.probing {
		s.probedLocked()
		s.next = time.Now().Add(t.Probe)
		t.stir()
	}
}

// Unavailable says whether a response means that the next target should be
// tried, and this one left alone for a while (telephone numbers do not matter:
// 404, 486 and 603 are answers).
func Unavailable(code int) bool {
	return code == 408 || code == 500 || code >= 502 && code <= 504
}

// Rest is for how long a target asks to be left alone, at most maxRest; 0: it
// does not (RFC 3261 sections 20.33 and 21.5.4).
func Rest(res *gosip.Response) time.Duration {
	if res.StatusCode != 503 {
		return 0 // other codes concern the callee, not the target
	}
	d, _, _ := dialog.Seconds(res, "retry-after")
	return min(d, maxRest)
}

// restLocked leaves a target alone for d, which may be 0.
func (t *Trunk) restLocked(s *Server, d time.Duration) {
	if d > 0 {
		s.rest = t.Now().Add(d)
	}
}

// restsLocked says whether a target is to be left alone now.
func (t *Trunk) restsLocked(s *Server) bool { return t.Now().Before(s.rest) }

// maxRefused is how many numbers in a row a target may refuse by codes that speak of it
// (408, 503 and the like) before it counts as down: behind a target they come from the
// networks of single callees, too.
const maxRefused = 3

// Failed notes that a call to a number could not be begun there, and why: code is that of the
// final response, 0 for none, and rest for how long the server asks to be left alone.
func (t *Trunk) Failed(s *Server, number string, why error, code int, rest time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if code != 0 && !slices.Contains(s.refused, number) && len(s.refused) < maxRefused {
		s.refused = append(s.refused, number)
	}
	one := code != 0 && len(s.refused) < maxRefused && (rest == 0 || len(t.servers) == 1)
	if !one {
		t.restLocked(s, rest)
	}
	switch {
	case one, t.Has(NoProbe) && rest > 0: // nothing but the end of a rest would bring back what is not probed
		s.detail = why.Error()
	case !t.Has(NoProbe):
		t.markLocked(s, false, why.Error())
		s.next = time.Now().Add(max(t.Probe/probeHaste, rest))
		t.stir()
	}
}

// Worked notes that a target has taken a call, or has refused it for good.
func (t *Trunk) Worked(s *Server) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.refused = nil
	if s.up {
		s.detail = ""
	}
}

// markLocked changes what is known of a target.
func (t *Trunk) markLocked(s *Server, up bool, detail string) {
	s.detail = detail
	if s.up == up {
		return
	}
	s.up, s.refused = up, nil
	if up {
		t.Log.Info("sip: a target is up again", "trunk", t.Name, "target", s.String())
	} else {
		t.Log.Warn("sip: a target is down", "trunk", t.Name, "target", s.String(), "why", detail)
	}
}

// stir makes run look again at what is due.
func (t *Trunk) stir() {
	select {
	case t.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// TargetStatus is one server of a trunk.
type TargetStatus struct {
	Target string // transport and address
	Up     bool
	Detail string // why it is down, or what it last missed
}

// Status is a trunk as it does now.
type Status struct {
	Name         string
	Account      string // whose it is; empty: the operator's
	Calls        int    // on it, both directions, ringing ones included
	Channels     int    // that it may have here, see Set.Share; 0: no limit
	Targets      []TargetStatus
	Lookup       string        // why not all targets were found; empty: they were
	Registration *Registration // nil for a trunk that does not register
}

// Status says how all trunks do, in order.
func (set *Set) Status() (all []Status) {
	for _, t := range set.all() {
		all = append(all, t.status())
	}
	return all
}

func (t *Trunk) status() Status {
	st := Status{Name: t.Name, Account: t.Account, Calls: int(t.Calls.Load()), Channels: int(t.channels.Load())}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.servers {
		st.Targets = append(st.Targets, TargetStatus{s.String(), s.up && !t.restsLocked(s), s.detail})
	}
	if t.lookup != nil {
		st.Lookup = t.lookup.Error()
	}
	if t.Has(Register) {
		r := t.register
		st.Registration = &r
	}
	return st
}

// Check probes the targets of a trunk now, those that are not being probed, once they are looked up, and says how it does
// then, or when ctx ends. ok is false when there is no such trunk.
func (set *Set) Check(ctx context.Context, name string) (st Status, ok bool) {
	t := set.Named(name)
	if t == nil {
		return st, false
	}
	select {
	case <-t.located:
	case <-ctx.Done():
		return t.status(), true
	}
	for _, probed := range t.probeNow() {
		select {
		case <-probed:
		case <-ctx.Done():
		}
	}
	return t.status(), true
}

// probeNow has the targets be probed whatever their turn. Each channel is closed when one has been.
func (t *Trunk) probeNow() (all []<-chan struct{}) {
	if t.Has(NoProbe) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.servers {
		if s.next = time.Now(); s.waited == nil {
			s.waited = make(chan struct{})
		}
		s.strikes = max(s.strikes, probeStrikes-1) // who asks now gets the answer of now
		all = append(all, s.waited)
	}
	t.stir()
	return all
}
