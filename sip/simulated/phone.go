// Package simulated holds real telephone peers for trying and testing a server:
// they speak SIP and RTP over the network like anyone else, and nothing in the
// server knows them.
//
// Phone is a softphone. Call makes one call with it from end to end; load
// generators use Dial and conduct the legs themselves.
package simulated

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip"
	"parley/sip/rtpport"
)

// The default range of a phone's RTP ports: outside the server's own.
const (
	firstPort = 40000
	lastPort  = 49999
)

// Config is where a phone sits.
type Config struct {
	// Listen is its SIP address. The zero value takes a free port: on loopback
	// for Loopback, else on every interface.
	Listen   netip.AddrPort
	Loopback bool
	// Ports of its RTP; nil: a range of its own from 40000 to 49999.
	Ports  *rtpport.Pool
	Logger *slog.Logger // nil: nothing is logged
}

// Phone is a softphone. It calls and is not called. Its methods may be used
// from several goroutines while Run runs.
type Phone struct {
	ua    *sip.UserAgent
	ports *rtpport.Pool // its own, or nil
}

// NewPhone binds a phone's sockets; Run serves and closes them.
func NewPhone(cfg Config) (*Phone, error) {
	if !cfg.Listen.IsValid() {
		addr := netip.IPv6Unspecified()
		if cfg.Loopback {
			addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		}
		cfg.Listen = netip.AddrPortFrom(addr, 0)
	}
	p := &Phone{}
	if cfg.Ports == nil {
		// RTP binds like SIP does, so that an address family fits the other.
		bind := cfg.Listen.Addr()
		if bind.IsUnspecified() {
			bind = netip.Addr{}
		}
		ports, err := rtpport.New(rtpport.Config{Addr: bind, First: firstPort, Last: lastPort})
		if err != nil {
			return nil, err
		}
		cfg.Ports, p.ports = ports, ports
	}
	ua, err := sip.New(sip.Config{
		Listen: cfg.Listen, Ports: cfg.Ports, Logger: cfg.Logger,
		// Callees may answer; all other sources are dropped.
		Allow: func(netip.Addr) bool { return false },
	})
	if err != nil {
		return nil, err
	}
	p.ua = ua
	return p, nil
}

// Run serves the phone until ctx ends; then it hangs up.
func (p *Phone) Run(ctx context.Context) error {
	defer func() {
		if p.ports != nil {
			p.ports.Close()
		}
	}()
	return p.ua.Run(ctx)
}

// Dial calls a URI such as sip:+15550100002@127.0.0.1:5060;transport=tcp and
// returns the leg when it is answered. See sip.UserAgent.Dial.
func (p *Phone) Dial(ctx context.Context, t sip.Target) (*sip.Leg, error) {
	return p.ua.Dial(ctx, t)
}

// home is the loopback address from which a SIP URI's host is called when it is this
// machine, so that nothing of the phone needs to be open to others; not valid for other
// hosts.
func home(uri string) (netip.Addr, error) {
	var u gosip.Uri
	if err := gosip.ParseUri(uri, &u); err != nil {
		return netip.Addr{}, fmt.Errorf("simulated: %q is no SIP URI", uri)
	}
	addrs := []string{strings.Trim(u.Host, "[]")}
	if _, err := netip.ParseAddr(addrs[0]); err != nil {
		if addrs, err = net.LookupHost(addrs[0]); err != nil {
			return netip.Addr{}, fmt.Errorf("simulated: %w", err)
		}
	}
	at := netip.IPv6Loopback()
	for _, s := range addrs {
		a, err := netip.ParseAddr(s)
		if err != nil || !a.IsLoopback() {
			return netip.Addr{}, nil
		}
		if a.Unmap().Is4() {
			at = netip.AddrFrom4([4]byte{127, 0, 0, 1}) // it is tried first
		}
	}
	return at, nil
}
