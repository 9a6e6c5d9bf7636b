package main

import (
	"log/slog"
	"net"
	"net/netip"
	"testing"
)

// TestConnectionsAreBounded by address, of IPv6 by network, and in all; those of proxies
// and of this machine only in all.
func TestConnectionsAreBounded(t *testing.T) {
	c := newCrowd(nil, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, slog.New(slog.DiscardHandler))
	c.most = 2000
	open := func(addr string) (from netip.Prefix, n int) {
		from = c.who(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr)))
		for n < 600 && c.enter(from) {
			n++
		}
		return from, n
	}
	first, n := open("192.0.2.1:1")
	if n != maxFromOne {
		t.Errorf("%d of one address", n)
	}
	if _, n := open("[::ffff:192.0.2.1]:2"); n != 0 {
		t.Errorf("%d more of the same", n)
	}
	if _, n := open("[2001:db8::1]:1"); n != maxFromOne {
		t.Errorf("%d of one network", n)
	}
	if _, n := open("[2001:db8::2]:1"); n != 0 {
		t.Errorf("%d more of the same network", n)
	}
	for _, addr := range []string{"10.0.0.1:1", "127.0.0.1:1"} {
		if _, n := open(addr); n != 600 {
			t.Errorf("%d of %s", n, addr)
		}
	}
	if _, n := open("[::1]:1"); n != 2000-2*maxFromOne-1200 {
		t.Errorf("%d more in all", n)
	}
	c.leave(first)
	if _, n := open("192.0.2.1:1"); n != 1 {
		t.Errorf("%d after one has gone", n)
	}
}

// TestClosedConnectionsDoNotCount: once, however often they are closed.
func TestClosedConnectionsDoNotCount(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := newCrowd(ln, nil, slog.New(slog.DiscardHandler))
	defer c.Close()
	c.most = 1
	for range 3 {
		client, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := c.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := conn.(interface{ CloseWrite() error }); !ok {
			t.Error("its sending side cannot be closed alone")
		}
		if c.all != 1 {
			t.Errorf("%d are counted", c.all)
		}
		conn.Close()
		conn.Close()
		client.Close()
	}
	if c.all != 0 {
		t.Errorf("%d are counted at the end", c.all)
	}
}
