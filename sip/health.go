package sip

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gosip "github.com/emiago/sipgo/sip"
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

// health is an endpoint and how it does. The line's lock guards it, except for
// the endpoint, which does not change.
type health struct {
	endpoint

	up      bool
	since   time.Time
	strikes int // probes missed in a row
	detail  string
	rest    time.Time // it has asked to be left alone until then
	refused []string  // numbers in a row that it could not take a call to, see failed
	probing bool
	next    time.Time // of the next probe
}

// due lists the targets to probe now and moves next forward to when the next
// one will be.
func (l *line) due(now time.Time, next *time.Time) (list []*health) {
	if l.trunk.NoProbe {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.ends {
		if h.probing {
			continue // it will wake us
		}
		if h.next.IsZero() {
			h.next = now // a new one
		}
		if !now.Before(h.next) {
			h.probing = true
			list = append(list, h)
		} else if h.next.Before(*next) {
			*next = h.next
		}
	}
	return list
}

// probe asks a target whether it lives. Whatever it answers, it does, unless it
// says that it cannot work now.
func (l *line) probe(ctx context.Context, h *health) {
	req, d := l.outside(gosip.OPTIONS, h.endpoint)
	ctx, cancel := context.WithTimeout(ctx, probePatience*l.ua.cfg.T1)
	defer cancel()
	var r round
	var err error
	var rest time.Duration
	for {
		var res *gosip.Response
		if res, err = l.ua.transact(ctx, l, nil, 0, req); err != nil {
			break
		}
		if challenged(res) && d.auth.meet(res, &r) == nil {
			req = d.again(req)
			continue
		}
		if unavailable(res.StatusCode) {
			err = fmt.Errorf("OPTIONS: %d %s", res.StatusCode, res.Reason)
			rest = restOf(res)
		}
		break
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return // we are closing
	}
	l.mu.Lock()
	h.probing = false
	every := l.ua.cfg.Probe
	switch {
	case err == nil:
		h.strikes = 0
		l.markLocked(h, true, "")
	default:
		if h.strikes++; h.strikes >= probeStrikes || !h.up || rest > 0 {
			l.markLocked(h, false, err.Error())
		}
		every /= probeHaste
	}
	l.restLocked(h, rest)
	h.next = time.Now().Add(max(every, rest))
	l.mu.Unlock()
	l.stir()
}

// probed lets a target be probed again whose probe panicked.
func (l *line) probed(h *health) {
	l.mu.Lock()
	lost := h.probing
	if lost {
		h.probing, h.next = false, time.Now().Add(l.ua.cfg.Probe)
	}
	l.mu.Unlock()
	if lost {
		l.stir()
	}
}

// unavailable says whether a response means that the next target should be
// tried, and this one left alone for a while (telephone numbers do not matter:
// 404, 486 and 603 are answers).
func unavailable(code int) bool {
	switch code {
	case 408, 500, 502, 503, 504:
		return true
	}
	return false
}

// restOf is for how long a target asks to be left alone, at most maxRest; 0: it
// does not (RFC 3261 sections 20.33 and 21.5.4).
func restOf(res *gosip.Response) time.Duration {
	if res.StatusCode != 503 {
		return 0 // other codes speak of who is called
	}
	d, _, _ := seconds(res, "retry-after")
	return min(d, maxRest)
}

// restLocked leaves a target alone for d, which may be 0.
func (l *line) restLocked(h *health, d time.Duration) {
	if d > 0 {
		h.rest = l.ua.cfg.clock.Now().Add(d)
	}
}

// restsLocked says whether a target is to be left alone now.
func (l *line) restsLocked(h *health) bool { return l.ua.cfg.clock.Now().Before(h.rest) }

// maxRefused is how many numbers in a row a target may refuse by codes that speak of it
// (408, 503 and the like) before it counts as down: behind a target they come from the
// networks of single callees, too.
const maxRefused = 3

// failed notes that a call to a number could not be begun there.
func (l *line) failed(h *health, number string, why *NotAnswered) {
	l.mu.Lock()
	if why.Code != 0 && !slices.Contains(h.refused, number) && len(h.refused) < maxRefused {
		h.refused = append(h.refused, number)
	}
	if one := why.Code != 0 && len(h.refused) < maxRefused; one && (why.rest == 0 || len(l.ends) == 1) {
		h.detail = why.Error()
		l.mu.Unlock()
		return
	}
	l.restLocked(h, why.rest)
	if l.trunk.NoProbe { // nothing but the end of a rest would bring it back
		if why.rest > 0 {
			h.detail = why.Error()
		}
		l.mu.Unlock()
		return
	}
	l.markLocked(h, false, why.Error())
	h.next = time.Now().Add(max(l.ua.cfg.Probe/probeHaste, why.rest))
	l.mu.Unlock()
	l.stir()
}

// worked notes that a target has taken a call, or has refused it for good.
func (l *line) worked(h *health) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.refused = nil
	if h.up {
		h.detail = ""
	}
}

// markLocked changes what is known of a target.
func (l *line) markLocked(h *health, up bool, detail string) {
	h.detail = detail
	if h.up == up {
		return
	}
	h.up, h.since = up, time.Now()
	if h.refused = nil; up {
		l.ua.log.Info("sip: a target is up again", "trunk", l.trunk.Name, "target", h.String())
	} else {
		l.ua.log.Warn("sip: a target is down", "trunk", l.trunk.Name, "target", h.String(), "why", detail)
	}
}

// stir makes run look again at what is due.
func (l *line) stir() {
	select {
	case l.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// TargetHealth is one server of a trunk.
type TargetHealth struct {
	Target string // transport and address
	Up     bool
	Since  time.Time
	Detail string // why it is down, or what it last missed
}

// TrunkHealth is a trunk as it does now.
type TrunkHealth struct {
	Name         string
	Calls        int // on it, both directions, ringing ones included
	Channels     int // that it may have here, see Share; 0: no limit
	Targets      []TargetHealth
	Lookup       string        // why a target cannot be found; empty when all are
	Registration *Registration // nil for a trunk that does not register
}

// Trunks says how all trunks do, in the order of Config.Trunks.
func (u *UserAgent) Trunks() []TrunkHealth {
	var all []TrunkHealth
	for _, l := range u.lines {
		t := TrunkHealth{Name: l.trunk.Name, Calls: int(l.calls.Load()), Channels: int(l.channels.Load())}
		l.mu.Lock()
		for _, h := range l.ends {
			t.Targets = append(t.Targets, TargetHealth{h.String(), h.up && !l.restsLocked(h), h.since, h.detail})
		}
		if l.lookup != nil {
			t.Lookup = l.lookup.Error()
		}
		if l.trunk.Register {
			r := l.register
			t.Registration = &r
		}
		l.mu.Unlock()
		all = append(all, t)
	}
	return all
}
