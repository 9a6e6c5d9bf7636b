// Package rtpport hands out pairs of UDP sockets for RTP and RTCP: an even port
// and the odd one above it (RFC 3550 section 11), at random inside a range.
//
// Random, because someone who can guess the next port can listen to it or speak
// into it. And a pair that a call gives back stays bound for a while, unread:
// the far end of an ended call may go on sending for seconds, and the next
// caller must not hear that.
package rtpport

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

// DefaultDrain is how long a returned pair stays bound: longer than the 15 s
// after which a far end that still hears nothing gives up, and about as long as
// a lost BYE is repeated (RFC 3261 timer F, 32 s).
const DefaultDrain = 30 * time.Second

// drainShare is the part of the range that may drain at one time. Beyond it the
// oldest is closed early: a busy server rather loses this guard than a call.
const drainShare = 6

// ErrExhausted says that every port of the range is in use or draining.
var ErrExhausted = errors.New("rtpport: no free port in the range")

// Config says where the ports are.
type Config struct {
	Addr  netip.Addr    // to bind; the zero Addr binds every interface
	First uint16        // of the range, raised to an even number; at least 1024
	Last  uint16        // of the range, included
	Drain time.Duration // 0: DefaultDrain
}

// Pool is a range of ports. It may be used from several goroutines and has none
// of its own: pairs whose drain is over are closed by the next call of Open or
// Release.
type Pool struct {
	addr  netip.Addr
	drain time.Duration
	limit int // of draining pairs

	mu       sync.Mutex
	free     []uint16
	draining []*Pair // oldest first
	inUse    int
	closed   bool
}

// New returns a pool over cfg's range. It binds nothing yet.
func New(cfg Config) (*Pool, error) {
	first, last := int(cfg.First)+int(cfg.First)%2, int(cfg.Last)
	if first < 1024 || first+1 > last {
		return nil, fmt.Errorf("rtpport: range %d to %d holds no pair of unprivileged ports", cfg.First, cfg.Last)
	}
	p := &Pool{addr: cfg.Addr, drain: cmp.Or(cfg.Drain, DefaultDrain)}
	for port := first; port+1 <= last; port += 2 {
		p.free = append(p.free, uint16(port))
	}
	p.limit = len(p.free) / drainShare
	return p, nil
}

// Pair is two bound sockets. Its opener reads and writes them and gives both back with
// Release; nothing else closes them.
type Pair struct {
	RTP, RTCP *net.UDPConn
	Port      uint16 // of RTP

	pool  *Pool
	once  sync.Once
	until time.Time // it drains
}

// Open binds a random free pair. Ports that another program holds are passed
// over.
func (p *Pool) Open() (*Pair, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, net.ErrClosed
	}
	p.reapLocked(time.Now())
	// Ports taken by others go to the end of the list, out of the draw.
	for n := len(p.free); n > 0; n-- {
		i := rand.IntN(n)
		port := p.free[i]
		p.free[i] = p.free[n-1]
		pair, err := p.bind(port)
		if err != nil {
			p.free[n-1] = port
			continue
		}
		p.free[n-1] = p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		p.inUse++
		return pair, nil
	}
	return nil, ErrExhausted
}

func (p *Pool) bind(port uint16) (*Pair, error) {
	at := func(port uint16) *net.UDPAddr {
		a := &net.UDPAddr{Port: int(port)}
		if p.addr.IsValid() {
			a.IP = p.addr.AsSlice()
		}
		return a
	}
	rtp, err := net.ListenUDP("udp", at(port))
	if err != nil {
		return nil, err
	}
	rtcp, err := net.ListenUDP("udp", at(port+1))
	if err != nil {
		_ = rtp.Close()
		return nil, err
	}
	return &Pair{RTP: rtp, RTCP: rtcp, Port: port, pool: p}, nil
}

// Release gives the pair back: its ports stay bound while they drain. It may be
// called more than once.
func (pair *Pair) Release() {
	pair.once.Do(func() {
		p := pair.pool
		p.mu.Lock()
		defer p.mu.Unlock()
		p.inUse--
		if p.closed {
			pair.close()
			return
		}
		now := time.Now()
		// Late packets wait in the kernel until they are thrown away with the
		// socket: keep little of them.
		_ = pair.RTP.SetReadBuffer(0)
		_ = pair.RTCP.SetReadBuffer(0)
		pair.until = now.Add(p.drain)
		p.draining = append(p.draining, pair)
		p.reapLocked(now)
	})
}

// reapLocked closes the pairs whose drain is over, and the oldest beyond the limit.
func (p *Pool) reapLocked(now time.Time) {
	for len(p.draining) > 0 && (len(p.draining) > p.limit || !p.draining[0].until.After(now)) {
		pair := p.draining[0]
		p.draining = p.draining[1:]
		pair.close()
		p.free = append(p.free, pair.Port)
	}
}

func (pair *Pair) close() {
	_ = pair.RTP.Close()
	_ = pair.RTCP.Close()
}

// Stats counts pairs of ports.
type Stats struct {
	InUse, Draining, Free int
}

// Stats reads the counts now.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reapLocked(time.Now())
	return Stats{InUse: p.inUse, Draining: len(p.draining), Free: len(p.free)}
}

// Close closes what drains and refuses further calls of Open. Pairs still in
// use close when they are released.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, pair := range p.draining {
		pair.close()
	}
	p.draining = nil
}
