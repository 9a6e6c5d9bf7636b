package trunk

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"parley/sip/transport"
)

// maxEndpoints bounds how many addresses a trunk has: more would not be tried
// before a caller gives up.
const maxEndpoints = 16

// Endpoint is an address that takes a trunk's calls: what a target becomes.
type Endpoint struct {
	Addr      netip.AddrPort
	Transport string // "UDP", "TCP" or "TLS"
	Target    Target
	Hop       string // the name that led to Addr: the target's, or the proxy's
}

func (e Endpoint) String() string { return strings.ToLower(e.Transport) + ":" + e.Addr.String() }

// Locate turns targets into endpoints, in the order in which they are tried. It
// fails only when there is none at all; a target that cannot be resolved is
// left out, with its error in the second result.
func Locate(ctx context.Context, layer *transport.Layer, targets []Target) (found []Endpoint, errs error) {
	for _, t := range targets {
		addrs, err := layer.Locate(ctx, t.Host, t.Port, t.Over())
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("resolve %s: %w", t.Host, err))
		}
		for _, a := range addrs {
			e := Endpoint{Addr: a, Transport: t.Over(), Target: t, Hop: t.Host}
			twin := slices.ContainsFunc(found, func(o Endpoint) bool { return o.String() == e.String() })
			if !twin && len(found) < maxEndpoints {
				found = append(found, e)
			}
		}
	}
	return found, errs
}

// locate turns the targets of a trunk into endpoints. Each is at the addresses of the proxy, where there is one.
func (c *Config) locate(ctx context.Context, layer *transport.Layer) ([]Endpoint, error) {
	found, err := Locate(ctx, layer, c.Hops())
	if c.Proxy.Host == "" {
		return found, err
	}
	var through []Endpoint
	for _, t := range c.Targets {
		for _, e := range found {
			if e.Target = t; len(through) < maxEndpoints {
				through = append(through, e)
			}
		}
	}
	return through, err
}
