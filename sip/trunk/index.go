package trunk

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
)

// index finds trunks by what a message shows, without a look at each: accounts have trunks too, and
// every datagram from a stranger asks. It does not change.
type index struct {
	trunks   []*Trunk       // in the order of their settings
	place    map[*Trunk]int // in trunks
	byName   map[string]*Trunk
	byNumber map[string][]*Trunk // the operator's, with targets
	open     []*Trunk            // likewise, that list no number
	browsers map[string][]*Trunk // those that take calls over WebSockets, by the user that these show
	leaving  []*Trunk            // no longer in force; they have calls

	operators, accounts networks
}

func newIndex(trunks, left []*Trunk) *index {
	in := &index{trunks: trunks, place: map[*Trunk]int{}, byName: map[string]*Trunk{}, byNumber: map[string][]*Trunk{}, browsers: map[string][]*Trunk{}}
	for i, t := range trunks {
		in.place[t], in.byName[t.Name] = i, t
		if t.Has(WebSocket) {
			in.browsers[t.Inbound.Username] = append(in.browsers[t.Inbound.Username], t)
		}
		if t.Account != "" {
			in.accounts.add(t)
			continue
		}
		in.operators.add(t)
		if len(t.Targets) == 0 {
			continue
		}
		for _, n := range t.Numbers {
			in.byNumber[n] = append(in.byNumber[n], t)
		}
		if len(t.Numbers) == 0 {
			in.open = append(in.open, t)
		}
	}
	for _, t := range left {
		if t.Calls.Load() > 0 {
			in.leaving = append(in.leaving, t)
		}
	}
	return in
}

// networks finds trunks by where their calls may come from.
type networks struct {
	trunks  map[netip.Prefix][]*Trunk
	lengths []int // of the prefixes, longest first
}

func (n *networks) add(t *Trunk) {
	if n.trunks == nil {
		n.trunks = map[netip.Prefix][]*Trunk{}
	}
	for _, p := range t.Allow {
		if p = p.Masked(); !slices.Contains(n.trunks[p], t) {
			n.trunks[p] = append(n.trunks[p], t)
		}
		if !slices.Contains(n.lengths, p.Bits()) {
			n.lengths = append(n.lengths, p.Bits())
			slices.SortFunc(n.lengths, func(a, b int) int { return cmp.Compare(b, a) })
		}
	}
}

// of are the trunks with the narrowest network around an address, in order; servers are those that
// have a server there.
func (n *networks) of(a netip.Addr, servers []*Trunk, in *index) []*Trunk {
	best, bits := n.narrowest(a)
	switch {
	case len(servers) == 0:
		return best
	case bits < a.BitLen():
		return servers
	}
	return in.ordered(slices.Concat(best, servers))
}

// narrowest are the trunks with the narrowest network around an address, in order, and its
// length; -1: there are none.
func (n *networks) narrowest(a netip.Addr) ([]*Trunk, int) {
	for _, bits := range n.lengths {
		if p, err := a.Prefix(bits); err == nil && len(n.trunks[p]) > 0 { // an error: longer than the address
			return n.trunks[p], bits
		}
	}
	return nil, -1
}

// inForce are those of some trunks that are in force, in order.
func (in *index) inForce(some []*Trunk) []*Trunk {
	return in.ordered(slices.DeleteFunc(some, func(t *Trunk) bool { _, ok := in.place[t]; return !ok }))
}

// ordered puts trunks in order, each once.
func (in *index) ordered(some []*Trunk) []*Trunk {
	slices.SortFunc(some, func(a, b *Trunk) int { return cmp.Compare(in.place[a], in.place[b]) })
	return slices.Compact(some)
}

// left is a trunk that is no longer in force and owns an address; nil: none does.
func (in *index) left(a netip.Addr) *Trunk {
	for _, t := range in.leaving {
		if t.Owns(a) {
			return t
		}
	}
	return nil
}

// reached is where the servers of the trunks are that register: these call from there.
type reached struct {
	mu     sync.Mutex
	trunks map[netip.Addr][]*Trunk
	hosts  map[*Trunk][]netip.Addr
}

// set says where the servers of a trunk are now; nowhere: it has none any more.
func (r *reached) set(t *Trunk, hosts []netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trunks == nil {
		r.trunks, r.hosts = map[netip.Addr][]*Trunk{}, map[*Trunk][]netip.Addr{}
	}
	for _, a := range r.hosts[t] {
		rest := slices.DeleteFunc(r.trunks[a], func(o *Trunk) bool { return o == t })
		if r.trunks[a] = rest; len(rest) == 0 {
			delete(r.trunks, a)
		}
	}
	delete(r.hosts, t)
	for _, a := range hosts {
		if !slices.Contains(r.trunks[a], t) {
			r.trunks[a] = append(r.trunks[a], t)
			r.hosts[t] = append(r.hosts[t], a)
		}
	}
}

// by are the trunks with a server at an address. The slice is the caller's.
func (r *reached) by(a netip.Addr) []*Trunk {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.trunks[a])
}
