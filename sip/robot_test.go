package sip_test

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/trunk"
)

// robot is a far end that we call, and a registrar, which behaves by itself as a telephone
// does. It rings when it is called, and answers when the test says so.
type robot struct {
	t       testing.TB
	network string
	at      netip.AddrPort
	contact string // host and port; empty: its own

	mu       sync.Mutex
	mute     bool             // it says nothing at all
	reliable bool             // its 183 wants a PRACK
	calls    map[string]*rung // by Call-ID, until it or we hang up
	seen     map[gosip.RequestMethod]int
	changed  chan struct{}
}

// rung is a call of a robot.
type rung struct {
	invite *gosip.Request
	reply  func(string)
	up     bool
}

// newRobot listens over "udp", "tcp" or "tls", with cfg.
func newRobot(t testing.TB, network string, cfg *tls.Config) *robot {
	t.Helper()
	r := &robot{t: t, network: network, calls: map[string]*rung{}, seen: map[gosip.RequestMethod]int{}, changed: make(chan struct{})}
	if network == "udp" {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		r.at = conn.LocalAddr().(*net.UDPAddr).AddrPort()
		go r.readUDP(conn)
		return r
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r.at = l.Addr().(*net.TCPAddr).AddrPort()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			if network == "tls" {
				conn = tls.Server(conn, cfg)
			}
			p := &peer{t: t, tcp: conn, msgs: make(chan gosip.Message)}
			gone := make(chan struct{})
			go func() { defer close(gone); p.readTCP() }()
			go func() {
				for {
					select {
					case m := <-p.msgs:
						r.take(m, func(text string) { _, _ = conn.Write([]byte(text)) })
					case <-gone:
						return
					}
				}
			}()
		}
	}()
	return r
}

func (r *robot) readUDP(conn *net.UDPConn) {
	b := make([]byte, 65536)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		if m, err := gosip.ParseMessage(bytes.Clone(b[:n])); err == nil {
			r.take(m, func(text string) { _, _ = conn.WriteToUDPAddrPort([]byte(text), from) })
		}
	}
}

// set changes how it behaves.
func (r *robot) set(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// target is the robot as a trunk's.
func (r *robot) target() trunk.Target {
	return trunk.Target{Host: r.at.Addr().String(), Port: r.at.Port(), Transport: r.network}
}

// take answers a request.
func (r *robot) take(m gosip.Message, reply func(string)) {
	req, ok := m.(*gosip.Request)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok || r.mute {
		return
	}
	r.seen[req.Method]++
	id := req.CallID().Value()
	c := r.calls[id]
	switch {
	case req.Method == gosip.ACK:
	case req.Method == gosip.INVITE && c == nil:
		c = &rung{invite: req, reply: reply}
		r.calls[id] = c
		if r.reliable {
			reply(r.response(req, 183, "", "Require: 100rel", "RSeq: 1"))
		} else {
			reply(r.response(req, 180, ""))
		}
	case req.Method == gosip.INVITE: // again
	case req.Method == gosip.CANCEL:
		reply(r.response(req, 200, ""))
		if c != nil && !c.up {
			delete(r.calls, id)
			c.reply(r.response(c.invite, 487, ""))
		}
	case req.Method == gosip.BYE:
		delete(r.calls, id)
		fallthrough
	default:
		reply(r.response(req, 200, ""))
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// answer takes the calls that ring, and says so again where it has before.
func (r *robot) answer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		c.up = true
		c.reply(r.response(c.invite, 200, calleeSDP, "Content-Type: application/sdp"))
	}
}

func (r *robot) response(req *gosip.Request, code int, body string, headers ...string) string {
	res := gosip.NewResponseFromRequest(req, code, "Whatever", []byte(body))
	res.To().Params.Remove("tag")
	res.To().Params.Add("tag", "robot")
	at := r.contact
	if at == "" {
		at = r.at.String()
	}
	for _, h := range append(headers, "Contact: <sip:robot@"+at+";transport="+r.network+">") {
		name, value, _ := strings.Cut(h, ": ")
		res.AppendHeader(gosip.NewHeader(name, value))
	}
	return res.String()
}

// got says how many requests of a method came, and when that changes.
func (r *robot) got(m gosip.RequestMethod) (n int, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[m], r.changed
}

// idle says whether no call rings there or is up.
func (r *robot) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.calls) == 0
}
