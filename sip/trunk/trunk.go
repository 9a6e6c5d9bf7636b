package trunk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/sdp"
	"parley/sip/transport"
)

// Options are what all trunks of a user agent share.
type Options struct {
	Probe time.Duration    // how often a target is asked whether it lives; 0: 30 s
	T1    time.Duration    // round trip estimate of RFC 3261 section 17.1.1.1
	Now   func() time.Time // of what targets ask to be left alone
	// Shared says that other user agents have the same trunks: one registers where Set.Registers says that it is its turn.
	Shared bool
	Log    *slog.Logger
}

// Trunk is a trunk at work: where its targets are, how they do, what is on it.
// Its methods may be called from several goroutines.
type Trunk struct {
	Config
	Options
	Identity *transport.Identity // of its TLS connections
	Mask     *regexp.Regexp      // its own headers, which traces leave out; nil: none

	set   *Set
	layer *transport.Layer // set by Set.Attach

	stop    context.CancelFunc // of run; nil before it begins
	stopped chan struct{}      // closed when it has ended

	Calls    atomic.Int64  // answered or not, both directions
	channels atomic.Int64  // how many of them there may be; 0: no limit
	pace     *rate.Limiter // of calls that begin; nil: no limit

	located chan struct{} // closed by looked when the targets were looked up once
	looked  func()
	wake    chan struct{} // a target went down: it is to be probed soon
	turned  chan struct{} // whose registration it is has changed

	mu       sync.Mutex
	grant    *transport.Grant // of the servers
	servers  []*Server        // in the order in which they are tried
	lookup   error            // of the last look-up, nil when all went well
	register Registration
	tenure   *tenure // nil: the registration is not ours
}

const (
	// relocateAfter is how long a look-up counts: what most carriers give their
	// records. Resolvers cache, so it costs little; old answers are kept while no
	// new one comes.
	relocateAfter  = time.Minute
	relocateRetry  = 5 * time.Second
	lookupPatience = 5 * time.Second
)

func newTrunk(cfg Config, set *Set) *Trunk {
	if cfg.Has(WebSocket) {
		cfg.SRTP = max(cfg.SRTP, sdp.SRTPOffered)
	}
	t := &Trunk{Config: cfg, Options: set.options, Identity: &transport.Identity{TLS: cfg.TLS}, set: set, located: make(chan struct{}), wake: make(chan struct{}, 1), turned: make(chan struct{}, 1), stopped: make(chan struct{}),
		Mask: transport.HeadersNamed(slices.Collect(maps.Keys(cfg.Headers))...)}
	t.looked = sync.OnceFunc(func() { close(t.located) })
	if cfg.CPS > 0 {
		// One at a time: in no second may there be more.
		t.pace = rate.NewLimiter(rate.Limit(cfg.CPS), 1)
	}
	t.share(1)
	turn := Turn{Ours: true}
	if set.options.Shared {
		turn = set.turns[t.Name]
	}
	t.take(turn)
	return t
}

// attach says over what the trunk is reached; nil: that is not known yet.
func (t *Trunk) attach(layer *transport.Layer) {
	if t.layer = layer; layer != nil {
		t.grant = layer.Grant()
	}
}

// Far is what a dialog with the trunk needs.
func (t *Trunk) Far(auth *dialog.Authorizer) dialog.Far {
	return dialog.Far{Layer: t.layer, Auth: auth, T1: t.T1, By: t.Identity, Owns: t.Owns, ContactHost: Bracketed(t.ContactHost)}
}

// Facing is the address under which a peer reaches us on the trunk.
func (t *Trunk) Facing(peer netip.Addr) netip.Addr {
	if t.PublicIP.IsValid() && t.PublicIP.Is4() == peer.Unmap().Is4() {
		return t.PublicIP
	}
	return t.layer.Facing(peer)
}

// run keeps the addresses of the targets, their health and the registration,
// until ctx ends.
func (t *Trunk) run(ctx context.Context) {
	if len(t.Targets) == 0 {
		t.looked()
		return
	}
	var all sync.WaitGroup
	defer t.set.reached.set(t, nil)
	defer t.grant.Set() // not before the registration is taken back, which has an answer
	defer all.Wait()
	t.locate(ctx)
	t.looked()
	if t.Has(Register) {
		all.Add(1)
		isolate.Keep(ctx, "sip/trunk/registration", func() { t.keepRegistered(ctx) }, all.Done)
	}
	again := time.Now().Add(t.relocate())
	for {
		next := again
		for _, s := range t.due(time.Now(), &next) {
			all.Add(1)
			isolate.Go("sip/trunk/probe", nil, func() { t.probe(ctx, s) }, func() { t.probed(s) }, all.Done)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		case <-time.After(time.Until(next)):
		}
		if now := time.Now(); !now.Before(again) {
			t.locate(ctx)
			again = now.Add(t.relocate())
		}
	}
}

// relocate is when to look the targets up again.
func (t *Trunk) relocate() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lookup != nil {
		return relocateRetry
	}
	return relocateAfter
}

// locate looks the targets up. What answers already keeps its health, and old
// addresses stay in force when there are no new ones.
func (t *Trunk) locate(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	found, err := t.Config.locate(ctx, t.layer)
	if t.Guard != nil {
		found, err = t.guarded(found, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if first := t.lookup == nil; err != nil && first && ctx.Err() != context.Canceled {
		t.Log.Warn("sip: a trunk's target cannot be found", "trunk", t.Name, "err", err)
	}
	t.lookup = err
	if len(found) == 0 {
		return
	}
	var servers []*Server
	var hosts []netip.Addr
	for _, e := range found {
		hosts = append(hosts, e.Addr.Addr())
		i := slices.IndexFunc(t.servers, func(s *Server) bool { return s.Endpoint == e })
		if i >= 0 {
			servers = append(servers, t.servers[i])
		} else {
			servers = append(servers, &Server{Endpoint: e, up: true})
		}
	}
	t.grant.Set(hosts...)
	t.servers = servers
	if t.Has(Register) {
		t.set.reached.set(t, hosts)
	}
}

// guarded leaves out the endpoints that must not be called, and adds why to the errors.
func (t *Trunk) guarded(found []Endpoint, errs error) ([]Endpoint, error) {
	may := slices.DeleteFunc(found, func(e Endpoint) bool {
		err := t.Guard(e.Hop, e.Addr)
		errs = errors.Join(errs, err)
		return err != nil
	})
	return may, errs
}

// Owns says whether calls of the trunk may come from an address.
func (t *Trunk) Owns(from netip.Addr) bool { return t.Names(from) || t.reaches(from) }

// Names says whether the settings name an address as a source of calls.
func (t *Trunk) Names(from netip.Addr) bool {
	return slices.ContainsFunc(t.Allow, func(p netip.Prefix) bool { return p.Contains(from) })
}

// reaches says whether an address is one of the targets'.
func (t *Trunk) reaches(a netip.Addr) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.servers, func(s *Server) bool { return s.Addr.Addr() == a })
}

// Resting says that all servers of a trunk have asked to be left alone for a while.
type Resting struct{ Trunk string }

func (e *Resting) Error() string { return "trunk " + e.Trunk + " wants to be left alone" }

// Choices are the servers to try, in order, of those that a target names (the zero Target: all): those that are up; when none is, all
// that do not rest, because a call is a probe too. The error is a *Resting, the cause of ctx,
// or why no server is known.
func (t *Trunk) Choices(ctx context.Context, to Target) ([]*Server, error) {
	select {
	case <-t.located:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	named := slices.DeleteFunc(slices.Clone(t.servers), func(s *Server) bool { return !s.Target.is(to) })
	if len(named) == 0 {
		return nil, cmp.Or(t.lookup, fmt.Errorf("trunk %s has no target", t.Name))
	}
	var up, awake []*Server
	for _, s := range named {
		if t.restsLocked(s) {
			continue
		}
		awake = append(awake, s)
		if s.up {
			up = append(up, s)
		}
	}
	switch {
	case len(awake) == 0:
		return nil, &Resting{t.Name}
	case len(up) == 0:
		return awake, nil
	}
	return up, nil
}
