package trunk

import (
	"net/netip"

	"parley/sip/transport"
)

// Identify implements transport.Directory.
func (set *Set) Identify(by *transport.Identity, at netip.AddrPort, host string) (*transport.Identity, string) {
	for _, t := range set.all() {
		if by == nil || t.Identity != by {
			continue
		}
		if name, _ := t.names(at); name != "" {
			return by, name
		}
		if name := t.secure(); name != "" && t.Owns(at.Addr()) {
			return by, name
		}
		break
	}
	if t, name := set.at(at); t != nil {
		return t.Identity, name
	}
	return nil, host
}

// at is the trunk that an address belongs to, and the name of the target
// there: an in-dialog request may go to a server that is no target itself.
func (set *Set) at(at netip.AddrPort) (*Trunk, string) {
	var near *Trunk
	host := ""
	for _, t := range set.all() {
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
			return s.Hop, true
		}
		if host == "" && s.Addr.Addr() == at.Addr() {
			host = s.Hop
		}
	}
	return host, false
}

// secure is the first target, or the proxy, that is reached over TLS; empty when there is none.
func (t *Trunk) secure() string {
	for _, target := range t.Hops() {
		if target.Over() == "TLS" {
			return target.Host
		}
	}
	return ""
}
