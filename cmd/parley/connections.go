package main

import (
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of open connections to the public address. Calls need descriptors, too, so all
// connections together take half of those that the process may have.
const (
	maxFromOne     = 256 // of one address; of IPv6 of one /64
	maxConnections = 20_000
	tellEvery      = time.Minute // how often a refusal is logged
)

// crowd is a listener that closes connections beyond its bounds as soon as it has
// accepted them. Proxies, and programs on this machine, which may be proxies, are bounded
// only with all others together.
type crowd struct {
	net.Listener
	log     *slog.Logger
	most    int
	proxies []netip.Prefix

	mu   sync.Mutex
	all  int
	from map[netip.Prefix]int
	told time.Time // when a refusal was logged
}

func newCrowd(ln net.Listener, proxies []netip.Prefix, log *slog.Logger) *crowd {
	most := maxConnections
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil && files.Cur/2 < uint64(most) {
		most = int(files.Cur / 2)
	}
	return &crowd{Listener: ln, log: log, most: most, proxies: proxies, from: map[netip.Prefix]int{}}
}

// Accept implements net.Listener.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			return conn, nil
		}
		from := c.who(tcp.RemoteAddr())
		if c.enter(from) {
			return &guest{TCPConn: tcp, leave: sync.OnceFunc(func() { c.leave(from) })}, nil
		}
		tcp.Close()
	}
}

// who is what counts as one address; the zero Prefix is bounded by nothing of its own.
func (c *crowd) who(a net.Addr) netip.Prefix {
	peer := a.(*net.TCPAddr).AddrPort().Addr().Unmap().WithZone("")
	if peer.IsLoopback() || slices.ContainsFunc(c.proxies, func(p netip.Prefix) bool { return p.Contains(peer) }) {
		return netip.Prefix{}
	}
	bits := peer.BitLen()
	if peer.Is6() {
		bits = 64
	}
	p, _ := peer.Prefix(bits) // the bits fit
	return p
}

func (c *crowd) enter(from netip.Prefix) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if full := c.all >= c.most; full || from.IsValid() && c.from[from] >= maxFromOne {
		if time.Since(c.told) >= tellEvery {
			c.told = time.Now()
			c.log.Warn("connections are refused: too many are open", "from", from.String(), "open_from_there", c.from[from], "open", c.all, "most", c.most)
		}
		return false
	}
	c.all++
	if from.IsValid() {
		c.from[from]++
	}
	return true
}

func (c *crowd) leave(from netip.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.from[from]--; c.from[from] <= 0 {
		delete(c.from, from)
	}
}

// guest is a connection that counts until it is closed. It is all that a TCP connection
// is: net/http closes its sending side alone, and sends files by the kernel.
type guest struct {
	*net.TCPConn
	leave func()
}

func (g *guest) Close() error {
	defer g.leave()
	return g.TCPConn.Close()
}
