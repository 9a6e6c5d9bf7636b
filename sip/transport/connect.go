package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"strings"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
)

// ConnectPatience is how long, in T1, the connection to a peer may take: 5 s.
const ConnectPatience = 10

// Identity is as whom we connect over TLS. Trunks do not share connections: each shows its
// own certificate, and trusts its own authorities. A nil Identity is no trunk's.
type Identity struct {
	TLS *tls.Config // nil: the system's
}

// route is what a connection of ours is for.
type route struct {
	network string
	by      *Identity // nil over TCP
	to      string
}

// dialing is one attempt to connect, for all who want it.
type dialing struct {
	done chan struct{}
	err  error
}

var errDial = errors.New("sip: the connection was not made")

// Connect looks up where req goes and makes the connection that it needs, if there is none.
func (l *Layer) Connect(ctx context.Context, by *Identity, req *gosip.Request) error {
	found, name, err := l.LocateHop(ctx, req.Destination(), req.Transport())
	if err != nil {
		return err
	}
	to := found[0].String()
	req.SetDestination(to)
	if strings.EqualFold(req.Transport(), "UDP") || l.Bind(by, req) {
		return nil
	}
	if req.Transport() == OverWebSocket {
		return ErrConnectionClosed
	}
	key := route{network: strings.ToUpper(req.Transport()), to: to}
	if key.network == "TLS" {
		key.by, name = l.cfg.Trunks.Identify(by, found[0], name)
	}
	l.mu.Lock()
	d, ok := l.dialing[key]
	if !ok && l.ctx.Err() == nil {
		d = &dialing{done: make(chan struct{}), err: errDial}
		l.dialing[key] = d
		// It goes on when this one loses patience: others may wait for it too.
		l.running.Add(1)
		isolate.Go("sip/transport/connect", nil, func() { d.err = l.dial(key, name) }, func() {
			l.mu.Lock()
			delete(l.dialing, key)
			l.mu.Unlock()
			close(d.done)
		}, l.running.Done)
	}
	l.mu.Unlock()
	if d == nil {
		return ErrClosed
	}
	select {
	case <-d.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if d.err == nil {
		l.Bind(by, req)
	}
	return d.err
}

// dial makes the connection of a route.
func (l *Layer) dial(key route, name string) error {
	ctx, cancel := context.WithTimeout(l.ctx, ConnectPatience*l.cfg.T1)
	defer cancel()
	dial := (&net.Dialer{}).DialContext
	if key.network == "TLS" {
		dial = (&tls.Dialer{Config: key.by.config(name)}).DialContext
	}
	conn, err := dial(ctx, "tcp", key.to)
	if err != nil {
		return fmt.Errorf("%s to %s: %w", key.network, key.to, err)
	}
	s := &stream{Conn: conn, layer: l, network: key.network, far: conn.RemoteAddr()}
	if ours := addrOf(s.LocalAddr()); key.network == "TLS" {
		if ours.Addr().Zone() == "" {
			s.far = &namedAddr{s.far.(*net.TCPAddr), ours.Port()}
		}
		l.mu.Lock()
		maps.DeleteFunc(l.dialed, func(_ route, old *stream) bool { return old.closed.Load() })
		l.dialed[key] = s
		l.mu.Unlock()
	}
	l.handOver(s)
	return nil
}

// config is how to connect to a host. The certificate must be
// for the target's name, whatever SRV records it led to (RFC 5922 section 7.3).
func (i *Identity) config(host string) *tls.Config {
	cfg := &tls.Config{}
	if i != nil && i.TLS != nil {
		cfg = i.TLS.Clone()
	}
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	if cfg.ServerName == "" {
		cfg.ServerName = strings.Trim(host, "[]")
	}
	return cfg
}

// Bind has req go over a connection to its destination that by may use: over TLS its own, or
// one that came from there. False says that there is none.
func (l *Layer) Bind(by *Identity, req *gosip.Request) bool {
	req.Laddr = gosip.Addr{}
	ours, ok := l.connection(by, req.Transport(), req.Destination())
	if ours.IsValid() {
		req.Laddr = gosip.Addr{IP: ours.Addr().AsSlice(), Port: int(ours.Port())}
	}
	return ok
}

// Connected says whether there is a connection to an address that by may use.
func (l *Layer) Connected(by *Identity, transport, to string) bool {
	_, ok := l.connection(by, transport, to)
	return ok
}

// connection is the local end of the connection to an address; not valid where the library
// finds it by the address.
func (l *Layer) connection(by *Identity, transport, to string) (ours netip.AddrPort, ok bool) {
	if at, err := netip.ParseAddrPort(to); err == nil && strings.EqualFold(transport, "TLS") {
		by, _ = l.cfg.Trunks.Identify(by, at, "")
		l.mu.Lock()
		s := l.dialed[route{"TLS", by, to}]
		l.mu.Unlock()
		if s != nil && !s.closed.Load() {
			// The library writes our end without a zone, and would not find that again.
			if ours = addrOf(s.LocalAddr()); ours.Addr().Zone() != "" {
				ours = netip.AddrPort{}
			}
			return ours, true
		}
	}
	conn, err := l.tp.GetConnection(transport, to)
	if err != nil {
		return ours, false
	}
	_, _ = conn.TryClose() // looking at it has counted as using it
	return ours, true
}

// Aim sends a request of by over a transport to an address.
func (l *Layer) Aim(by *Identity, req *gosip.Request, transport string, to string) {
	req.SetTransport(transport)
	if via := req.Via(); via != nil {
		via.Transport = transport
	}
	req.SetDestination(to)
	req.Laddr = gosip.Addr{}
	switch transport {
	case "UDP": // from the port that we listen on, so that answers and latches find us
		req.Laddr = gosip.Addr{IP: l.udp.LocalAddr().(*net.UDPAddr).IP, Port: int(l.at.Port())}
	case "TLS":
		l.Bind(by, req)
	case OverWebSocket:
		far, _ := netip.ParseAddrPort(to) // not valid with an error
		if w, via := l.browser(far), req.Via(); via != nil && w != nil && w.secure {
			via.Transport = "WSS"
		}
	}
}
