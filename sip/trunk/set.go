package trunk

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"parley/media/isolate"
	"parley/sip/transport"
)

// Set is the trunks of a user agent, in the order of their settings. It is a
// transport.Directory. Its methods may be called from several goroutines.
type Set struct {
	options Options
	index   atomic.Pointer[index] // of the trunks in force; replaced as a whole
	reached reached

	mu      sync.Mutex // of what changes the trunks: Attach, Start, Replace, Share, Registers
	layer   *transport.Layer
	ctx     context.Context // of Start; nil before
	running sync.WaitGroup
	agents  int // that share the trunks
	turns   map[string]Turn
}

// NewSet makes the trunks. Attach comes next, then Start.
func NewSet(cfgs []Config, o Options) *Set {
	o.Probe = cmp.Or(o.Probe, defaultProbe)
	set := &Set{options: o, agents: 1}
	set.index.Store(newIndex(nil, nil))
	set.Replace(cfgs)
	return set
}

// Attach says over what the trunks are reached, before Start.
func (set *Set) Attach(layer *transport.Layer) {
	set.mu.Lock()
	defer set.mu.Unlock()
	set.layer = layer
	for _, t := range set.all() {
		t.attach(layer)
	}
}

// Start keeps the addresses of the trunks, their health and registrations, until ctx ends.
// The function it returns waits for the end of that.
func (set *Set) Start(ctx context.Context) (wait func()) {
	set.mu.Lock()
	defer set.mu.Unlock()
	set.ctx = ctx
	for _, t := range set.all() {
		set.beginLocked(t, nil)
	}
	return func() {
		<-ctx.Done()
		set.mu.Lock() // no trunk begins later
		defer set.mu.Unlock()
		set.running.Wait()
	}
}

// beginLocked keeps a trunk until it is replaced or Start's context ends. It registers when the
// trunk that it replaces has taken its own registration back: both may have the same Contact.
func (set *Set) beginLocked(t, before *Trunk) {
	ctx, stop := context.WithCancel(set.ctx)
	t.stop = stop
	set.running.Add(1)
	isolate.Keep(ctx, "sip/trunk/run", func() {
		if before != nil {
			<-before.stopped
		}
		select {
		case <-t.layer.Ready():
			t.run(ctx)
		case <-ctx.Done():
		}
	}, stop, func() { close(t.stopped) }, set.running.Done)
}

// Replace puts other trunks in the place of those in force. One that was there with the same name
// and revision goes on as it is. What is no longer there takes no new calls; calls that are up
// go on, and their far ends stay allowed. A trunk with another revision begins anew: its
// targets count as up, and the calls of the old one are not counted on it.
func (set *Set) Replace(cfgs []Config) {
	set.mu.Lock()
	defer set.mu.Unlock()
	old := set.index.Load()
	var trunks, begun []*Trunk
	for _, cfg := range cfgs {
		t := old.byName[cfg.Name]
		if t == nil || t.Revision != cfg.Revision {
			t = newTrunk(cfg, set)
			t.share(set.agents)
			t.attach(set.layer)
			begun = append(begun, t)
		}
		trunks = append(trunks, t)
	}
	left := slices.DeleteFunc(slices.Concat(old.leaving, old.trunks), func(t *Trunk) bool { return slices.Contains(trunks, t) })
	set.index.Store(newIndex(trunks, left))
	for _, t := range old.trunks {
		if slices.Contains(left, t) && t.stop != nil {
			t.stop()
		}
	}
	if set.ctx == nil || set.ctx.Err() != nil {
		return
	}
	for _, t := range begun {
		set.beginLocked(t, old.byName[t.Name])
	}
}

// all are the trunks in force. The slice is for reading.
func (set *Set) all() []*Trunk { return set.index.Load().trunks }

// Named finds a trunk; nil: there is none.
func (set *Set) Named(name string) *Trunk { return set.index.Load().byName[name] }

// To is the trunk of an account that has a server as its target (Config.Leads), the first of several; nil: none has.
func (set *Set) To(account string, to Target) *Trunk {
	all := set.all()
	i := slices.IndexFunc(all, func(t *Trunk) bool { return account != "" && t.Account == account && t.Leads(to) })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Caller is who a call goes out from.
type Caller struct {
	// Trunk is the name of the one to take. Empty: those of the operator's that list Number, then
	// those that list no numbers.
	Trunk  string
	Number string // E.164
}

// For are the trunks that may carry a call, in order. Where no target answers, a trunk comes after
// all that have one: a call would first wait for nothing.
func (set *Set) For(from Caller) []*Trunk {
	in := set.index.Load()
	if from.Trunk != "" {
		if t := in.byName[from.Trunk]; t != nil && len(t.Targets) > 0 {
			return []*Trunk{t}
		}
		return nil
	}
	all := slices.Concat(in.byNumber[from.Number], in.open)
	down := map[*Trunk]int{}
	for _, t := range all {
		if t.allTargetsDown() {
			down[t] = 1
		}
	}
	slices.SortStableFunc(all, func(a, b *Trunk) int { return down[a] - down[b] })
	return all
}

// allTargetsDown says whether all targets of the trunk are known to be down.
func (t *Trunk) allTargetsDown() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.servers) > 0 && !slices.ContainsFunc(t.servers, func(s *Server) bool { return s.up && !t.restsLocked(s) })
}

// Of is the trunk that a source belongs to: the one with the narrowest
// network around it, the first of several; nil: none.
func (set *Set) Of(source netip.Addr) *Trunk {
	if best := set.AllOf(source); len(best) > 0 {
		return best[0]
	}
	return nil
}

// AllOf are all with that network, in order: accounts at one carrier share its addresses. The servers of a
// trunk that registers are networks of one address. Where the operator has a trunk, those of accounts do not count,
// however narrow: nobody takes the operator's calls by naming the source of them.
func (set *Set) AllOf(source netip.Addr) []*Trunk {
	in := set.index.Load()
	servers := in.inForce(set.reached.by(source))
	own := func(t *Trunk) bool { return t.Account != "" }
	if operators := in.operators.of(source, slices.DeleteFunc(slices.Clone(servers), own), in); len(operators) > 0 {
		return operators
	}
	return in.accounts.of(source, servers, in)
}

// Browsers are the trunks that take calls over WebSockets from a user, in order. The slice is for reading.
func (set *Set) Browsers(user string) []*Trunk { return set.index.Load().browsers[user] }

// HasBrowsers says whether any trunk takes calls over WebSockets.
func (set *Set) HasBrowsers() bool { return len(set.index.Load().browsers) > 0 }

// Source implements transport.Directory. A trunk that was replaced is still the one of its calls.
func (set *Set) Source(a netip.Addr) (name string, ok bool) {
	t := set.Of(a)
	if t == nil {
		t = set.index.Load().left(a)
	}
	if t == nil {
		return "", false
	}
	return t.Name, true
}
