package config

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"parley/media/ice"
)

// setAdvertise wants an address that somebody else can dial.
func setAdvertise(to *string, s string) bool {
	host, port, err := net.SplitHostPort(s)
	ip, _ := netip.ParseAddr(host) // a name is none
	return err == nil && host != "" && port != "0" && !(ip.IsValid() && ip.IsUnspecified()) && setAddr(to, s)
}

// Advertised is where others reach the public HTTP side that listens on an address, HOST:PORT: as ADVERTISE says, else its port at
// its own host, else at PUBLIC_IP, else at the first of the machine's addresses that leads to it from elsewhere, IPv4 before IPv6. Where there
// is none others cannot reach it, and it is a loopback address.
func (c *Config) Advertised(listening string, machine []netip.Addr) string {
	if c.Advertise != "" {
		return c.Advertise
	}
	host, port, err := net.SplitHostPort(listening)
	if err != nil {
		return listening
	}
	ip, wrong := netip.ParseAddr(host)
	if host != "" && (wrong != nil || !ip.IsUnspecified()) {
		return listening
	}
	at := c.PublicIP
	for _, a := range machine {
		if a = a.Unmap(); a.IsGlobalUnicast() && !c.PublicIP.IsValid() && (!at.IsValid() || at.Is6() && a.Is4()) {
			at = a
		}
	}
	if !at.IsValid() {
		at = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return net.JoinHostPort(at.String(), port)
}

// stunPatience is how long a STUN server is asked.
const stunPatience = 10 * time.Second

// Discover sets PublicIP as the STUN server says, where there is one and nothing else has set it; else it asks nobody.
func (c *Config) Discover(ctx context.Context) (asked bool, err error) {
	if c.STUNAddr == "" || c.PublicIP.IsValid() {
		return false, nil
	}
	c.PublicIP, err = c.Seen(ctx)
	return true, err
}

// Seen is the address that the STUN server sees now.
func (c *Config) Seen(ctx context.Context) (netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, stunPatience)
	defer cancel()
	at, err := ice.Discover(ctx, c.STUNAddr)
	if err != nil {
		return at, fmt.Errorf("PARLEY_STUN_ADDR: %s: %w", c.STUNAddr, err)
	}
	return at, nil
}

// Addresses are those of this machine, as far as it says them, and the one that others learn.
func (c *Config) Addresses() []netip.Addr {
	own := []netip.Addr{c.PublicIP}
	found, _ := net.InterfaceAddrs() // a system that does not say them has none
	for _, a := range found {
		if network, ok := a.(*net.IPNet); ok {
			ip, _ := netip.AddrFromSlice(network.IP)
			own = append(own, ip)
		}
	}
	return own
}

// Listening is an address of the settings on which this machine listens; without a host on all of its own.
func Listening(addr string) (netip.AddrPort, error) {
	if strings.HasPrefix(addr, ":") {
		addr = "0.0.0.0" + addr
	}
	return netip.ParseAddrPort(addr)
}

// TakesCallsFrom says whether a source may call without a trunk: with the simulated carrier this machine, and what the operator lists.
func (c *Config) TakesCallsFrom(source netip.Addr) bool {
	source = source.Unmap()
	if source.IsLoopback() && c.Carrier == "simulated" {
		return true
	}
	return slices.ContainsFunc(c.SIPAllow, func(p netip.Prefix) bool { return p.Contains(source) })
}
