package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Guard keeps requests that accounts wrote to the public Internet, so that nobody
// reaches the operator's own network through this server. Names are resolved first
// and the addresses judged, then one that passed is connected to, and judged once
// more on the socket: a name that resolves to something else a moment later gains
// nothing. It is safe for use from several goroutines.
type Guard struct {
	nets  []netip.Prefix
	hosts []string // in lower case
	own   []netip.Addr
	names Resolver
}

// Resolver looks up addresses, as net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// NewGuard returns a guard that allows the public Internet, and besides, as the
// operator's own wish, what allow lists: networks (10.1.0.0/16), addresses and host
// names. Only there plain HTTP and any port are allowed. names nil: the system's
// resolver.
func NewGuard(allow []string, names Resolver) (*Guard, error) {
	g := &Guard{names: names}
	if names == nil {
		g.names = net.DefaultResolver
	}
	for _, item := range allow {
		if ip, err := netip.ParseAddr(item); err == nil {
			g.nets = append(g.nets, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
		} else if n, err := netip.ParsePrefix(item); err == nil {
			g.nets = append(g.nets, n.Masked())
		} else if item == "" || strings.ContainsAny(item, "/:@ *") {
			return nil, fmt.Errorf("%q is no network, address or host name", item)
		} else {
			g.hosts = append(g.hosts, strings.ToLower(item))
		}
	}
	return g, nil
}

// Refuse keeps requests from addresses of this server, public ones too: it is reached through
// its own clients only. What the operator allows they still may be sent to. It must be called
// before the guard is used.
func (g *Guard) Refuse(own ...netip.Addr) {
	for _, ip := range own {
		g.own = append(g.own, ip.Unmap())
	}
}

// Refused is an address that the guard does not let requests go to. Its text may be
// shown to the author of the address.
type Refused struct{ Text string }

func (e *Refused) Error() string { return e.Text }

// Networks that are not the public Internet, besides those that package netip knows
// (IANA special-purpose address registries; RFC 6890, 6598, 5737, 2544).
var special = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20") // Teredo is in the first, 6to4 the third

var (
	global6 = netip.MustParsePrefix("2000::/3")     // all that is given out of IPv6 (RFC 4291, section 2.4)
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: the last four bytes are an IPv4 address
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// public says whether an address is one of the public Internet.
func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsValid() || ip.Zone() != "" {
		return false
	}
	if nat64.Contains(ip) {
		b := ip.As16()
		return public(netip.AddrFrom4([4]byte(b[12:])))
	}
	if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || ip.Is6() && !global6.Contains(ip) {
		return false
	}
	return !slices.ContainsFunc(special, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// listed says whether the operator allows a host or the address it stands for.
func (g *Guard) listed(host string, ip netip.Addr) bool {
	if slices.Contains(g.hosts, strings.ToLower(strings.TrimSuffix(host, "."))) {
		return true
	}
	ip = ip.Unmap()
	return slices.ContainsFunc(g.nets, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// plainKey marks the context of a request that is not encrypted.
type plainKey struct{}

// judge says why an address must not be connected to; nil: it may be.
func (g *Guard) judge(ctx context.Context, host string, ip netip.Addr, port string) error {
	if g.listed(host, ip) {
		return nil
	}
	if !public(ip) {
		return &Refused{fmt.Sprintf("%s is not on the public Internet", host)}
	}
	if slices.Contains(g.own, ip.Unmap()) {
		return &Refused{fmt.Sprintf("%s is this server", host)}
	}
	if plain, _ := ctx.Value(plainKey{}).(bool); plain {
		return &Refused{fmt.Sprintf("%s: plain http is not allowed, use https", host)}
	}
	// Below 1024 are services that are no web servers and could be confused by a request.
	if n, err := strconv.Atoi(port); err != nil || n < 1024 && n != 80 && n != 443 {
		return &Refused{fmt.Sprintf("%s: port %s is not allowed", host, port)}
	}
	return nil
}

// Address says why an address that an account named, by itself or by a host, must not be sent to otherwise than by
// HTTP; nil: it may be.
func (g *Guard) Address(host string, at netip.AddrPort) error {
	switch {
	case g.listed(host, at.Addr()):
		return nil
	case !public(at.Addr()):
		return &Refused{fmt.Sprintf("%s is not on the public Internet", host)}
	case slices.Contains(g.own, at.Addr().Unmap()):
		return &Refused{fmt.Sprintf("%s is this server", host)}
	case at.Port() < 1024 && at.Port() != 443: // as in judge
		return &Refused{fmt.Sprintf("%s: port %d is not allowed", host, at.Port())}
	}
	return nil
}

// literal refuses, at path, an address whose host is written as a number to which no
// request may go. Where a name leads only its connection says.
func (g *Guard) literal(path, address string) error {
	u, err := url.Parse(placeholder.ReplaceAllString(address, "x"))
	if err != nil || g == nil {
		return nil
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil
	}
	if err := g.judgeURL(u, u.Hostname(), ip); err != nil {
		return fault(path, "%v", err)
	}
	return nil
}

// judgeURL judges an address whose host is at ip.
func (g *Guard) judgeURL(u *url.URL, host string, ip netip.Addr) error {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return g.judge(context.WithValue(context.Background(), plainKey{}, u.Scheme == "http"), host, ip, port)
}

// errUnknownHost is said of a name that is not known, and of one that leads inside: who
// asks for names learns nothing of the operator's network.
var errUnknownHost = &Refused{"the host of the address is not known on the public Internet"}

// Times of a connection.
const (
	connectTime = 5 * time.Second
	idleTime    = 30 * time.Second
)

// dial connects to the first address of a host that may be connected to.
func (g *Guard) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	ips, err := g.addresses(ctx, host)
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound {
		return nil, errUnknownHost
	}
	if err != nil {
		return nil, err
	}
	d := net.Dialer{ControlContext: func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return g.judge(ctx, host, at.Addr(), port)
	}}
	failure := fmt.Errorf("%s has no address", host)
	for _, ip := range ips {
		if failure = g.judge(ctx, host, ip, port); failure != nil {
			if _, notLiteral := netip.ParseAddr(host); notLiteral != nil && !public(ip) {
				failure = errUnknownHost
			}
			continue
		}
		var conn net.Conn
		if conn, failure = d.DialContext(ctx, network, net.JoinHostPort(ip.Unmap().String(), port)); failure == nil {
			return conn, nil
		}
	}
	return nil, failure
}

// maxRedirects are followed, each judged like the first address.
const maxRedirects = 3

// Client returns a client whose every connection is judged. It uses no proxy, keeps
// no cookies, and follows three redirects at most; the headers of a request and its
// body do not go to another host than the first. Its timeouts are those of contexts.
func (g *Guard) Client() *http.Client {
	t := &http.Transport{DialContext: g.dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: connectTime, MaxIdleConns: 200,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: idleTime, MaxResponseHeaderBytes: 64 << 10}
	return &http.Client{Transport: traced{schemes{t}}, CheckRedirect: redirect}
}

// schemes says to the dialer whether a connection will be encrypted.
type schemes struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (s schemes) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.URL.Scheme {
	case "https":
	case "http":
		r = r.WithContext(context.WithValue(r.Context(), plainKey{}, true))
	default:
		return nil, &Refused{"only https addresses can be requested"}
	}
	return s.Transport.RoundTrip(r)
}

// redirect drops whatever may be a secret on the way to another host.
func redirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &Refused{"it redirects too often"}
	}
	next.Header.Del("Referer") // an address may hold a key
	elsewhere := func(r *http.Request) bool { return origin(r.URL) != origin(via[0].URL) }
	if !elsewhere(next) && !slices.ContainsFunc(via, elsewhere) {
		return nil
	}
	if next.Body != nil && next.Body != http.NoBody {
		return &Refused{"it redirects what was sent to another host"}
	}
	accept := next.Header.Get("Accept")
	next.Header = http.Header{"Accept": {accept}}
	return nil
}

func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// explain is the part of a request's failure that may be shown: no address, which may hold a
// key, and nothing of the operator's network.
func explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err() // and not its cause, which is nobody's business
	}
	if r, ok := errors.AsType[*Refused](err); ok {
		return r
	}
	if e, ok := errors.AsType[net.Error](err); errors.Is(err, context.DeadlineExceeded) || ok && e.Timeout() {
		return errors.New("the service did not answer in time")
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("the request was given up")
	}
	return errors.New("the service could not be reached")
}
