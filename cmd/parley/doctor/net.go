package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"parley/cmd/parley/config"
	"parley/sip/sdp"
	"parley/sip/trunk"
)

// probePatience is how long a server may take to say that it is Parley.
const probePatience = 2 * time.Second

// checkHTTP also says whether a Parley is running at the public address.
func checkHTTP(ctx context.Context, cfg *config.Config) (f Finding, running bool) {
	isParley := func() bool {
		var state struct {
			Status   string    `json:"status"`
			NotReady *[]string `json:"not_ready"`
		}
		running = json.Unmarshal(fetch(ctx, cfg.HTTPS(), cfg.HTTPAddr, "/readyz"), &state) == nil && state.NotReady != nil
		return running
	}
	f = checkPort("HTTP_ADDR", cfg.HTTPAddr, tcpPort, isParley)
	return f, running
}

func checkMetrics(ctx context.Context, cfg *config.Config) Finding {
	return checkPort("METRICS_ADDR", cfg.MetricsAddr, tcpPort, func() bool {
		return strings.Contains(string(fetch(ctx, false, cfg.MetricsAddr, "/metrics")), "parley_build_info")
	})
}

// checkTelephone looks at everything that SIP and RTP need.
func checkTelephone(ctx context.Context, cfg *config.Config, running bool) []Finding {
	if !cfg.Telephony() {
		return []Finding{good("off").of("telephone")}
	}
	// A server whose listeners do not say who they are: the public one did.
	isParley := func() bool { return running }
	return []Finding{
		checkPort("SIP_ADDR", cfg.SIPAddr, udpPort, isParley).of("sip udp port"),
		checkPort("SIP_ADDR", cfg.SIPAddr, tcpPort, isParley).of("sip tcp port"),
		checkRTP(cfg, running).of("rtp ports"),
		checkPublic(ctx, cfg).of("public address"),
		checkSources(cfg).of("telephone sources"),
		checkKeys(cfg).of("telephone encryption"),
	}
}

// checkKeys looks for trunks whose audio is encrypted with keys that anybody on the way can
// read: they are in the signalling (RFC 4568 section 7).
func checkKeys(cfg *config.Config) Finding {
	var open, weak []string
	for _, t := range cfg.Trunks {
		switch {
		case t.SRTP == sdp.SRTPOff, t.SRTP == sdp.SRTPHandshake:
		case slices.ContainsFunc(t.Hops(), func(to trunk.Target) bool { return !strings.EqualFold(to.Transport, "tls") }):
			open = append(open, "trunk "+t.Name)
		case t.SRTP == sdp.SRTPOffered:
			weak = append(weak, "trunk "+t.Name)
		}
	}
	switch {
	case len(open) > 0:
		return warn("set the transport of the trunk's targets to tls", "%s: the audio is encrypted, and the keys are sent over a signalling that is not", strings.Join(open, ", "))
	case len(weak) > 0:
		return good("%s: calls are encrypted only where the far end does it; srtp: required refuses the others", strings.Join(weak, ", "))
	}
	return good("no keys are sent in the clear")
}

// checkSources looks for trunks whose calls anybody can forge.
func checkSources(cfg *config.Config) Finding {
	var open []string
	for _, t := range cfg.Trunks {
		if len(t.Allow) > 0 && t.Inbound.Username == "" {
			open = append(open, "trunk "+t.Name)
		}
	}
	if len(cfg.SIPAllow) > 0 {
		open = append(open, "PARLEY_SIP_ALLOW")
	}
	if len(open) == 0 {
		return good("no call is taken for the address of its source alone")
	}
	return warn("set inbound_username and inbound_password of the trunk where the far end can send them, or keep forged addresses out by a firewall",
		"%s: calls are taken for the address of their source alone, which anybody can forge over UDP; a forged call costs nothing, but takes a line for 32 s", strings.Join(open, ", "))
}

// tcpPort and udpPort take a port for a moment.
func tcpPort(addr string) error { return released(net.Listen("tcp", addr)) }
func udpPort(addr string) error { return released(net.ListenPacket("udp", addr)) }

func released(port io.Closer, err error) error {
	if err == nil {
		port.Close()
	}
	return err
}

// checkPort says whether the server could listen at addr, or does.
func checkPort(setting, addr string, take func(string) error, isParley func() bool) Finding {
	err := take(addr)
	switch {
	case err == nil:
		return good("%s is free", addr)
	case errors.Is(err, syscall.EADDRINUSE) && isParley():
		return good("%s is in use by a running Parley", addr)
	case errors.Is(err, syscall.EADDRINUSE):
		return fail("stop that program (ss -lptun shows it), or set PARLEY_"+setting, "%s is in use by another program", addr)
	case errors.Is(err, syscall.EACCES):
		return fail("give the program CAP_NET_BIND_SERVICE, or set PARLEY_"+setting+" to a port above 1023", "%s is not allowed to this user", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fail("set PARLEY_"+setting+" to an address of this machine, or to :PORT for all", "%s is no address of this machine", addr)
	}
	return fail("set PARLEY_"+setting, "%s cannot be used: %v", addr, err)
}

// rtpSample is how many pairs of ports are tried: taking all would take a moment in
// which a server might want them.
const rtpSample = 16

func checkRTP(cfg *config.Config, running bool) Finding {
	r := cfg.RTPPorts
	span := fmt.Sprintf("%d-%d", r.First, r.Last)
	if running {
		return good("%s, not tried beside a running Parley", span)
	}
	host, _, _ := net.SplitHostPort(cfg.SIPAddr)
	first := (r.First + 1) / 2 * 2
	tried, taken := 0, 0
	for i := range min(rtpSample, r.Pairs()) {
		port := first + i*r.Pairs()/min(rtpSample, r.Pairs())*2
		for _, p := range []int{port, port + 1} {
			tried++
			if udpPort(net.JoinHostPort(host, fmt.Sprint(p))) != nil {
				taken++
			}
		}
	}
	fix := "set PARLEY_RTP_PORTS to a range that nothing else uses; keep it out of net.ipv4.ip_local_port_range"
	switch {
	case tried == taken:
		return fail(fix, "none of %d ports tried in %s is free", tried, span)
	case taken > 0:
		return warn(fix, "%d of %d ports tried in %s are in use", taken, tried, span)
	}
	return good("%s, %d tried", span, tried)
}

// checkPublic asks the STUN server first, where the settings have one.
func checkPublic(ctx context.Context, cfg *config.Config) Finding {
	told := *cfg
	if _, err := told.Discover(ctx); err != nil {
		return fail("set PARLEY_PUBLIC_IP, or a server that answers", "%v", err)
	}
	return checkAddress(&told, localAddresses())
}

// checkAddress says whether callers elsewhere could send us their voice: they send
// it to the address that we tell them.
func checkAddress(cfg *config.Config, local []netip.Addr) Finding {
	host, _, _ := net.SplitHostPort(cfg.SIPAddr)
	listen, _ := netip.ParseAddr(host) // the zero Addr: all
	if listen.IsLoopback() {
		return good("the telephone is for this machine only (%s)", cfg.SIPAddr)
	}
	told := []netip.Addr{cfg.PublicIP}
	switch {
	case cfg.PublicIP.IsValid():
	case listen.IsValid() && !listen.IsUnspecified():
		told = []netip.Addr{listen}
	default:
		told = local
	}
	const fix = "set PARLEY_PUBLIC_IP to the address that callers see"
	for _, a := range told {
		switch {
		case isPrivate(a):
		case slices.Contains(local, a):
			return good("%s", a)
		default:
			return good("%s, translated: UDP and TCP of %s and UDP %d-%d must be forwarded here", a, cfg.SIPAddr, cfg.RTPPorts.First, cfg.RTPPorts.Last)
		}
	}
	if len(told) == 0 {
		return warn("connect it, or ignore this", "this machine has no network")
	}
	return warn(fix, "%s is private: callers from other networks will not be heard", told[0])
}

// carrierGrade is shared address space (RFC 6598), which is private too.
var carrierGrade = netip.MustParsePrefix("100.64.0.0/10")

func isPrivate(a netip.Addr) bool {
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || carrierGrade.Contains(a)
}

// localAddresses are this machine's, without loopback and link-local ones.
func localAddresses() []netip.Addr {
	addrs, _ := net.InterfaceAddrs() // none is an answer too
	var list []netip.Addr
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if ip := p.Addr().Unmap(); err == nil && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
			list = append(list, ip)
		}
	}
	return list
}

// fetch reads a page of a server of ours at a listening address; nil when there is
// none.
func fetch(ctx context.Context, secure bool, addr, path string) []byte {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	_, page, _ := Ask(ctx, secure, addr, path) // a server that does not answer has no page
	return page
}

// maxPage bounds what Ask reads of a page, in bytes.
const maxPage = 1 << 20

// Ask reads a page of a server of this machine at a listening address, over HTTPS where
// it is secure, and returns the status of the answer. Only the first MiB is read.
func Ask(ctx context.Context, secure bool, addr, path string) (status int, page []byte, err error) {
	base, err := config.OwnURL(addr, secure)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return 0, nil, err
	}
	// No proxy, and no names or authorities: it is this machine, and learns nothing.
	direct := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	resp, err := direct.RoundTrip(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	page, err = io.ReadAll(io.LimitReader(resp.Body, maxPage))
	return resp.StatusCode, page, err
}
