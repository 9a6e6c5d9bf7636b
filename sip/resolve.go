package sip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"

	gosip "github.com/emiago/sipgo/sip"
)

// Resolver answers the questions of RFC 3263. A *net.Resolver is one. Its
// methods are called from several goroutines.
type Resolver interface {
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, records []*net.SRV, err error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// maxEndpoints bounds how many addresses a trunk has: more would not be tried
// before a caller gives up.
const maxEndpoints = 16

// endpoint is a server that takes a trunk's calls: what a target becomes.
type endpoint struct {
	addr      netip.AddrPort
	transport string // "UDP", "TCP" or "TLS"
	target    TrunkTarget
}

func (e endpoint) String() string { return strings.ToLower(e.transport) + ":" + e.addr.String() }

// locate turns targets into endpoints, in the order in which they are tried. It
// fails only when there is none at all; a target that cannot be resolved is
// left out, with its error in the second result.
func (u *UserAgent) locate(ctx context.Context, targets []TrunkTarget) (found []endpoint, errs error) {
	for _, t := range targets {
		addrs, err := u.locateTarget(ctx, t)
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("resolve %s: %w", t.Host, err))
		}
		for _, a := range addrs {
			e := endpoint{addr: a, transport: t.transport(), target: t}
			twin := slices.ContainsFunc(found, func(o endpoint) bool { return o.String() == e.String() })
			if !twin && len(found) < maxEndpoints {
				found = append(found, e)
			}
		}
	}
	return found, errs
}

// locateTarget is RFC 3263 section 4.2 for a transport that is configured, or that a
// dialog's URI has: an address stands for itself, a port leads to the name's addresses,
// and a name alone to its SRV records, if it has any. NAPTR records, by which a name
// chooses the transport (section 4.1), are left out: nobody is asked for them.
func (u *UserAgent) locateTarget(ctx context.Context, t TrunkTarget) ([]netip.AddrPort, error) {
	host := strings.Trim(t.Host, "[]")
	port := t.Port
	if port == 0 {
		port = uint16(gosip.DefaultPort(t.transport()))
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(a.Unmap(), port)}, nil
	}
	if t.Port == 0 {
		service, proto := "sip", "udp"
		switch t.transport() {
		case "TCP":
			proto = "tcp"
		case "TLS":
			service, proto = "sips", "tcp"
		}
		_, records, err := u.resolver.LookupSRV(ctx, service, proto, host)
		if err == nil && len(records) == 1 && records[0].Target == "." {
			return nil, errors.New("the name offers no such service") // RFC 2782
		}
		if err == nil && len(records) > 0 {
			return u.addressesOf(ctx, rankSRV(records, rand.IntN))
		}
		if e, ok := errors.AsType[*net.DNSError](err); err != nil && (!ok || !e.IsNotFound) {
			return nil, err // not knowing is not the same as there being none
		}
	}
	return u.addresses(ctx, host, port)
}

// addressesOf resolves the servers of SRV records, in order.
func (u *UserAgent) addressesOf(ctx context.Context, records []*net.SRV) (all []netip.AddrPort, err error) {
	for _, r := range records {
		found, e := u.addresses(ctx, strings.TrimSuffix(r.Target, "."), r.Port)
		if e != nil {
			err = e
		}
		all = append(all, found...)
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, err
}

// addresses resolves a name to what our socket can reach, IPv4 first.
func (u *UserAgent) addresses(ctx context.Context, host string, port uint16) ([]netip.AddrPort, error) {
	network := "ip"
	if u.at.Addr().Is4() {
		network = "ip4"
	}
	found, err := u.resolver.LookupNetIP(ctx, network, host)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("no address")
	}
	var all []netip.AddrPort
	for _, a := range found {
		all = append(all, netip.AddrPortFrom(a.Unmap(), port))
	}
	slices.SortStableFunc(all, func(a, b netip.AddrPort) int { return a.Addr().BitLen() - b.Addr().BitLen() })
	return all, nil
}

// rankSRV orders records as RFC 2782 has it: by priority, and within one by a
// draw in which each counts as much as its weight. draw(n) is below n.
func rankSRV(records []*net.SRV, draw func(n int) int) []*net.SRV {
	rest := slices.Clone(records)
	// Those of weight 0 come first within their priority, so that they have a
	// small chance beside others.
	slices.SortStableFunc(rest, func(a, b *net.SRV) int {
		if a.Priority != b.Priority {
			return int(a.Priority) - int(b.Priority)
		}
		return min(int(a.Weight), 1) - min(int(b.Weight), 1)
	})
	var ranked []*net.SRV
	for len(rest) > 0 {
		n, sum := 0, 0
		for ; n < len(rest) && rest[n].Priority == rest[0].Priority; n++ {
			sum += int(rest[n].Weight)
		}
		pick, at := draw(sum+1), 0
		for running := int(rest[0].Weight); running < pick; running += int(rest[at].Weight) {
			at++
		}
		ranked = append(ranked, rest[at])
		rest = slices.Delete(rest, at, at+1)
	}
	return ranked
}
