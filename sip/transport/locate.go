package transport

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	gosip "github.com/emiago/sipgo/sip"
)

// Resolver answers the questions of RFC 3263. A *net.Resolver is one. Its
// methods are called from several goroutines.
type Resolver interface {
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, records []*net.SRV, err error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Locate is where a host leads over a transport ("UDP", "TCP" or "TLS"), by RFC 3263 section
// 4.2, for a transport that is configured, or that a dialog's URI has. Port 0 says that there
// is none. An address stands for itself, a port leads to the name's addresses,
// and a name alone to its SRV records, if it has any. NAPTR records, by which a name
// chooses the transport (section 4.1), are not looked up.
func (l *Layer) Locate(ctx context.Context, host string, port uint16, transport string) ([]netip.AddrPort, error) {
	host = strings.Trim(host, "[]")
	search := port == 0
	if search {
		port = uint16(gosip.DefaultPort(transport))
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(a.Unmap(), port)}, nil
	}
	if search {
		service, proto := "sip", "udp"
		switch transport {
		case "TCP":
			proto = "tcp"
		case "TLS":
			service, proto = "sips", "tcp"
		}
		_, records, err := l.cfg.Resolver.LookupSRV(ctx, service, proto, host)
		if err == nil && len(records) == 1 && records[0].Target == "." {
			return nil, errors.New("the name offers no such service") // RFC 2782
		}
		if err == nil && len(records) > 0 {
			return l.addressesOf(ctx, rankSRV(records, rand.IntN))
		}
		if e, ok := errors.AsType[*net.DNSError](err); err != nil && (!ok || !e.IsNotFound) {
			return nil, err // not knowing is not the same as there being none
		}
	}
	return l.addresses(ctx, host, port)
}

// LocateHop is Locate for a destination as a request has it, and its name: connections are
// known by their addresses.
func (l *Layer) LocateHop(ctx context.Context, to, transport string) (found []netip.AddrPort, name string, err error) {
	name, port, err := net.SplitHostPort(to)
	if err != nil {
		return nil, "", err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, "", err
	}
	found, err = l.Locate(ctx, name, uint16(n), strings.ToUpper(transport))
	return found, name, err
}

// addressesOf resolves the servers of SRV records, in order.
func (l *Layer) addressesOf(ctx context.Context, records []*net.SRV) (all []netip.AddrPort, err error) {
	for _, r := range records {
		found, e := l.addresses(ctx, strings.TrimSuffix(r.Target, "."), r.Port)
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
func (l *Layer) addresses(ctx context.Context, host string, port uint16) ([]netip.AddrPort, error) {
	network := "ip"
	if l.at.Addr().Is4() {
		network = "ip4"
	}
	found, err := l.cfg.Resolver.LookupNetIP(ctx, network, host)
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
