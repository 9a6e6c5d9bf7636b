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
	"net"
	"net/netip"
	"strings"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/codec"
	"parley/sip"
	"parley/sip/rtpport"
	"parley/sip/trunk"
)

// The default range of a phone's RTP ports: outside the server's own.
const (
	firstPort = 40000
	lastPort  = 49999
)

// narrow are the codecs of a telephone whose clips are at 8 kHz.
var narrow = []codec.Codec{codec.PCMU, codec.PCMA}

// Phone is a softphone. It calls and is not called. Its methods may be used
// from several goroutines while Run runs.
type Phone struct {
	ua    *sip.UserAgent
	ports *rtpport.Pool
}

// NewPhone binds a phone's sockets at an address of this machine, on free ports; one that is
// not valid binds every interface. Run serves and closes them. The phone speaks the codecs, the best first; without any it speaks G.711.
func NewPhone(at netip.Addr, codecs ...codec.Codec) (*Phone, error) {
	return NewPhoneOn(at, nil, codecs...)
}

// NewPhoneOn is NewPhone with trunks, on which it may call. Such a call may go on at any address of its trunk.
func NewPhoneOn(at netip.Addr, trunks []trunk.Config, codecs ...codec.Codec) (*Phone, error) {
	if len(codecs) == 0 {
		codecs = narrow
	}
	ports, err := rtpport.New(rtpport.Config{Addr: at, First: firstPort, Last: lastPort})
	if err != nil {
		return nil, err
	}
	if !at.IsValid() {
		at = netip.IPv6Unspecified()
	}
	ua, err := sip.New(sip.Config{
		Listen: netip.AddrPortFrom(at, 0), Ports: ports,
		Codecs: codecs, Trunks: trunks,
		// Callees may answer; all other sources are dropped.
		Allow: func(netip.Addr) bool { return false },
	})
	if err != nil {
		return nil, err
	}
	return &Phone{ua: ua, ports: ports}, nil
}

// Run serves the phone until ctx ends; then it hangs up.
func (p *Phone) Run(ctx context.Context) error {
	defer p.ports.Close()
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
