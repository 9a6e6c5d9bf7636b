package trunk

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"sync"

	"parley/media/isolate"
	"parley/sip/transport"
)

// Set is the trunks of a user agent, in the order of their settings. It is a
// transport.Directory.
type Set []*Trunk

// NewSet makes the trunks. Attach comes next, then Start.
func NewSet(cfgs []Config, o Options) Set {
	var set Set
	o.Probe = cmp.Or(o.Probe, defaultProbe)
	for _, cfg := range cfgs {
		set = append(set, newTrunk(cfg, o))
	}
	return set
}

// Attach says over what the trunks are reached, before anything else.
func (set Set) Attach(layer *transport.Layer) {
	for _, t := range set {
		t.layer, t.grant = layer, layer.Grant()
	}
}

// Start keeps the addresses of the trunks, their health and registrations, until ctx ends.
// The function it returns waits for the end of that.
func (set Set) Start(ctx context.Context) (wait func()) {
	var all sync.WaitGroup
	for _, t := range set {
		all.Add(1)
		isolate.Keep(ctx, "sip/trunk/run", func() {
			select {
			case <-t.layer.Ready():
				t.run(ctx)
			case <-ctx.Done():
			}
		}, all.Done)
	}
	return all.Wait
}

// Named finds a trunk; nil: there is none.
func (set Set) Named(name string) *Trunk {
	if i := slices.IndexFunc(set, func(t *Trunk) bool { return t.Name == name }); i >= 0 {
		return set[i]
	}
	return nil
}

// For are the trunks that may carry a call from a number, in order: those
// that list it, then those that list none. Where no target answers, a trunk comes after
// all that have one: a call would first wait for nothing.
func (set Set) For(number string) []*Trunk {
	var own, open []*Trunk
	for _, t := range set {
		switch {
		case len(t.Targets) == 0:
		case slices.Contains(t.Numbers, number):
			own = append(own, t)
		case len(t.Numbers) == 0:
			open = append(open, t)
		}
	}
	all := append(own, open...)
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
func (set Set) Of(source netip.Addr) *Trunk {
	if best := set.AllOf(source); len(best) > 0 {
		return best[0]
	}
	return nil
}

// AllOf are all with that network: accounts at one carrier share its addresses.
func (set Set) AllOf(source netip.Addr) (best []*Trunk) {
	most := -1
	for _, t := range set {
		bits := -1
		for _, p := range t.Allow {
			if p.Contains(source) {
				bits = max(bits, p.Bits())
			}
		}
		if t.Has(Register) && t.reaches(source) {
			bits = source.BitLen()
		}
		switch {
		case bits > most:
			best, most = []*Trunk{t}, bits
		case bits == most && bits >= 0:
			best = append(best, t)
		}
	}
	return best
}

// Source implements transport.Directory.
func (set Set) Source(a netip.Addr) (name string, ok bool) {
	if t := set.Of(a); t != nil {
		return t.Name, true
	}
	return "", false
}

// Identify implements transport.Directory.
func (set Set) Identify(by *transport.Identity, at netip.AddrPort, host string) (*transport.Identity, string) {
	if i := slices.IndexFunc(set, func(t *Trunk) bool { return by != nil && t.Identity == by }); i >= 0 {
		if name, _ := set[i].names(at); name != "" {
			return by, name
		}
		if name := set[i].secure(); name != "" && set[i].Owns(at.Addr()) {
			return by, name
		}
	}
	if t, name := set.at(at); t != nil {
		return t.Identity, name
	}
	return nil, host
}

// at is the trunk that an address belongs to, and the name of the target
// there: an in-dialog request may go to a server that is no target itself.
func (set Set) at(at netip.AddrPort) (*Trunk, string) {
	var near *Trunk
	host := ""
	for _, t := range set {
		name, exact := t.names(at)
		if exact {
			return t, name
		}
		if near == nil && name != "" {
			near, host = t, name
		}
	}
	if near == nil {
		if near = set.Of(at.Addr()); near != nil {
			host = near.secure()
		}
	}
	if host == "" {
		return nil, ""
	}
	return near, host
}

// names is the target that an address belongs to, or another port of it; empty when
// there is none that is reached over TLS.
func (t *Trunk) names(at netip.AddrPort) (host string, exact bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.servers {
		if s.Transport != "TLS" {
			continue
		}
		if s.Addr == at {
			return s.Target.Host, true
		}
		if host == "" && s.Addr.Addr() == at.Addr() {
			host = s.Target.Host
		}
	}
	return host, false
}

// secure is the first target that is reached over TLS; empty when there is none.
func (t *Trunk) secure() string {
	for _, target := range t.Targets {
		if target.Over() == "TLS" {
			return target.Host
		}
	}
	return ""
}
