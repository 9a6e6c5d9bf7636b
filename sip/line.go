package sip

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"parley/media/isolate"
)

// line is a Trunk at work: where its targets are, how they do, what is on it.
// Its methods may be called from several goroutines.
type line struct {
	ua    *UserAgent
	trunk Trunk

	private *regexp.Regexp // the trunk's own headers, for traces

	calls    atomic.Int64  // answered or not, both directions
	channels atomic.Int64  // how many of them there may be; 0: no limit
	pace     *rate.Limiter // of calls that begin; nil: no limit

	located chan struct{} // closed by looked when the targets were looked up once
	looked  func()
	wake    chan struct{} // a target went down: it is to be probed soon

	mu       sync.Mutex
	ends     []*health // in the order in which they are tried
	lookup   error     // of the last look-up, nil when all went well
	register Registration
}

const (
	// relocateAfter is how long a look-up counts: what most carriers give their
	// records. Resolvers cache, so it costs little; old answers are kept while no
	// new one comes.
	relocateAfter  = time.Minute
	relocateRetry  = 5 * time.Second
	lookupPatience = 5 * time.Second
	// paceWait is how long a call may wait for its turn under Trunk.CPS.
	paceWait = time.Second
)

func newLine(u *UserAgent, t Trunk) *line {
	l := &line{ua: u, trunk: t, private: t.private(), located: make(chan struct{}), wake: make(chan struct{}, 1)}
	l.looked = sync.OnceFunc(func() { close(l.located) })
	if t.CPS > 0 {
		// One at a time: in no second may there be more.
		l.pace = rate.NewLimiter(rate.Limit(t.CPS), 1)
	}
	l.share(1)
	return l
}

// TrunkFull says that a trunk takes no further call just now.
type TrunkFull struct {
	Trunk string
	Limit string // "channels" or "cps"
}

func (e *TrunkFull) Error() string { return fmt.Sprintf("sip: trunk %s: no free %s", e.Trunk, e.Limit) }

// seize takes a channel and waits a little for a turn; release gives the
// channel back. The error is a *TrunkFull, or ctx's.
func (l *line) seize(ctx context.Context) error {
	if !l.enter() {
		return &TrunkFull{l.trunk.Name, "channels"}
	}
	if err := l.turn(ctx); err != nil {
		l.calls.Add(-1)
		return err
	}
	return nil
}

func (l *line) release() { l.calls.Add(-1) }

func (l *line) turn(ctx context.Context) error {
	if l.pace == nil {
		return nil
	}
	r := l.pace.Reserve()
	d := r.Delay()
	if d > paceWait {
		r.Cancel()
		return &TrunkFull{l.trunk.Name, "cps"}
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		r.Cancel()
		return &NotAnswered{Err: context.Cause(ctx)}
	}
}

// run keeps the addresses of the targets, their health and the registration,
// until ctx ends.
func (l *line) run(ctx context.Context) {
	if len(l.trunk.Targets) == 0 {
		l.looked()
		return
	}
	var all sync.WaitGroup
	defer l.drop() // not before the registration is taken back, which has an answer
	defer all.Wait()
	l.locate(ctx)
	l.looked()
	if l.trunk.Register {
		all.Add(1)
		isolate.Keep(ctx, "sip/registration", func() { l.keepRegistered(ctx) }, all.Done)
	}
	again := time.Now().Add(l.relocate())
	for {
		next := again
		for _, h := range l.due(time.Now(), &next) {
			all.Add(1)
			isolate.Go("sip/probe", nil, func() { l.probe(ctx, h) }, func() { l.probed(h) }, all.Done)
		}
		t := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-l.wake:
			t.Stop()
		case <-t.C:
		}
		if now := time.Now(); !now.Before(again) {
			l.locate(ctx)
			again = now.Add(l.relocate())
		}
	}
}

// relocate is when to look the targets up again.
func (l *line) relocate() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lookup != nil {
		return relocateRetry
	}
	return relocateAfter
}

// locate looks the targets up. What answers already keeps its health, and old
// addresses stay in force when there are no new ones.
func (l *line) locate(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	found, err := l.ua.locate(ctx, l.trunk.Targets)
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.lookup == nil; err != nil && first && ctx.Err() != context.Canceled {
		l.ua.log.Warn("sip: a trunk's target cannot be found", "trunk", l.trunk.Name, "err", err)
	}
	l.lookup = err
	if len(found) == 0 {
		return
	}
	var ends []*health
	for _, e := range found {
		i := slices.IndexFunc(l.ends, func(h *health) bool { return h.endpoint == e })
		if i >= 0 {
			ends = append(ends, l.ends[i])
			continue
		}
		l.ua.expect(e.addr.Addr())
		ends = append(ends, &health{endpoint: e, up: true, since: time.Now()})
	}
	for _, h := range l.ends {
		if !slices.Contains(ends, h) {
			l.ua.forget(h.addr.Addr())
		}
	}
	l.ends = ends
}

// drop forgets the addresses.
func (l *line) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.ends {
		l.ua.forget(h.addr.Addr())
	}
	l.ends = nil
}

// reaches says whether an address is one of the targets'.
func (l *line) reaches(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.ends, func(h *health) bool { return h.addr.Addr() == a })
}

// choices are the targets to try, in order: those that are up; when none is, all
// that do not rest, because a call is a probe too. The error is a *NotAnswered.
func (l *line) choices(ctx context.Context) ([]*health, error) {
	select {
	case <-l.located:
	case <-ctx.Done():
		return nil, &NotAnswered{Err: context.Cause(ctx)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) == 0 {
		return nil, unreached(ctx, cmp.Or(l.lookup, fmt.Errorf("trunk %s has no target", l.trunk.Name)))
	}
	var up, awake []*health
	for _, h := range l.ends {
		if l.restsLocked(h) {
			continue
		}
		awake = append(awake, h)
		if h.up {
			up = append(up, h)
		}
	}
	switch {
	case len(awake) == 0:
		return nil, &NotAnswered{Code: 503, Phrase: "trunk " + l.trunk.Name + " wants to be left alone"}
	case len(up) == 0:
		return awake, nil
	}
	return up, nil
}

// lineNamed finds a trunk; nil: there is none.
func (u *UserAgent) lineNamed(name string) *line {
	for _, l := range u.lines {
		if l.trunk.Name == name {
			return l
		}
	}
	return nil
}

// linesFor are the trunks that may carry a call from a number, in order: those
// that list it, then those that list none. Where no target answers, a trunk comes after
// all that have one: a call would first wait for nothing.
func (u *UserAgent) linesFor(number string) []*line {
	var own, open []*line
	for _, l := range u.lines {
		switch {
		case len(l.trunk.Targets) == 0:
		case slices.Contains(l.trunk.Numbers, number):
			own = append(own, l)
		case len(l.trunk.Numbers) == 0:
			open = append(open, l)
		}
	}
	all := append(own, open...)
	slices.SortStableFunc(all, func(a, b *line) int { return cmp.Compare(a.deaf(), b.deaf()) })
	return all
}

// deaf is 1 when all targets of the trunk are known to be down, else 0.
func (l *line) deaf() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) == 0 || slices.ContainsFunc(l.ends, func(h *health) bool { return h.up && !l.restsLocked(h) }) {
		return 0
	}
	return 1
}

// lineOf is the trunk that a source belongs to: the one with the narrowest
// network around it, the first of several; nil: none.
func (u *UserAgent) lineOf(source netip.Addr) *line {
	if best := u.linesOf(source); len(best) > 0 {
		return best[0]
	}
	return nil
}

// linesOf are all with that network: accounts at one carrier share its addresses.
func (u *UserAgent) linesOf(source netip.Addr) (best []*line) {
	most := -1
	for _, l := range u.lines {
		bits := -1
		for _, p := range l.trunk.Allow {
			if p.Contains(source) {
				bits = max(bits, p.Bits())
			}
		}
		if l.trunk.Register && l.reaches(source) {
			bits = source.BitLen()
		}
		if bits > most {
			best, most = nil, bits
		}
		if bits == most && bits >= 0 {
			best = append(best, l)
		}
	}
	return best
}
