package rtp_test

import (
	"bytes"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"parley/media/rtp"
)

// recv waits for a datagram, since the kernel may need a moment.
func recv(t *testing.T, s *rtp.Socket) ([]byte, netip.AddrPort, time.Time) {
	t.Helper()
	buf := make([]byte, 2000)
	for range 1_000_000 {
		if n, from, at, ok := s.Recv(buf); ok {
			return buf[:n], from, at
		}
		runtime.Gosched()
	}
	t.Fatal("nothing arrives")
	return nil, netip.AddrPort{}, time.Time{}
}

// A Socket sends and receives like any other, for IPv4, IPv6 and a socket of both.
func TestSocket(t *testing.T) {
	for _, c := range []struct{ network, listen, dial string }{
		{"udp4", "127.0.0.1", "127.0.0.1"},
		{"udp6", "::1", "::1"},
		{"udp", "::", "127.0.0.1"},
		{"udp", "::", "::1"},
	} {
		l, err := net.ListenUDP(c.network, &net.UDPAddr{IP: net.ParseIP(c.listen)})
		if err != nil {
			t.Logf("%s %s: %v", c.network, c.listen, err)
			continue
		}
		port := l.LocalAddr().(*net.UDPAddr).AddrPort().Port()
		s, err := rtp.NewSocket(l)
		if err != nil {
			t.Fatal(err)
		}
		peer, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(c.dial), port)))
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		for i := range 10 {
			if _, err := peer.Write([]byte{byte(i), 1, 2}); err != nil {
				t.Fatal(err)
			}
		}
		after := time.Now()
		for i := range 10 {
			p, from, at := recv(t, s)
			if !bytes.Equal(p, []byte{byte(i), 1, 2}) || from != peer.LocalAddr().(*net.UDPAddr).AddrPort() {
				t.Errorf("%v: datagram %d: % x from %v, sent by %v", c, i, p, from, peer.LocalAddr())
			}
			if at.Before(before.Add(-5*time.Millisecond)) || at.After(after.Add(5*time.Millisecond)) {
				t.Errorf("%v: arrived at %v, sent between %v and %v", c, at, before, after)
			}
		}
		if _, _, _, ok := s.Recv(make([]byte, 10)); ok {
			t.Errorf("%v: a datagram too many", c)
		}
		to := peer.LocalAddr().(*net.UDPAddr).AddrPort()
		if err := s.Send([]byte("answer"), to); err != nil {
			t.Errorf("%v: Send: %v", c, err)
		}
		buf := make([]byte, 10)
		_ = peer.SetReadDeadline(time.Now().Add(5 * time.Second))
		if n, err := peer.Read(buf); err != nil || string(buf[:n]) != "answer" {
			t.Errorf("%v: the peer received %q, %v", c, buf[:n], err)
		}
		_ = peer.Close()
		_ = l.Close()
	}
}

func TestSocketCutsWhatDoesNotFit(t *testing.T) {
	s, addr := loopback(t)
	peer, _ := loopback(t)
	if err := peer.Send(make([]byte, 3000), addr); err != nil {
		t.Fatal(err)
	}
	if p, _, _ := recv(t, s); len(p) > 1500 {
		t.Errorf("%d bytes", len(p))
	}
}

func TestSocketRefuses(t *testing.T) {
	c := listen(t)
	s, err := rtp.NewSocket(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send([]byte{1}, netip.MustParseAddrPort("[::1]:9")); err == nil {
		t.Error("an IPv4 socket sent to IPv6")
	}
	if err := s.Send([]byte{1}, netip.AddrPort{}); err == nil {
		t.Error("sent to no address")
	}
	_ = c.Close()
	if err := s.Send([]byte{1}, phoneAddr); err == nil {
		t.Error("sent on a closed connection")
	}
	if _, _, _, ok := s.Recv(make([]byte, 10)); ok {
		t.Error("received from a closed connection")
	}
	if _, err := rtp.NewSocket(c); err == nil {
		t.Error("a socket of a closed connection")
	}
}

// The owner of the connection may close it under the conductor.
func TestCloseWhileInUse(t *testing.T) {
	c := listen(t)
	s, err := rtp.NewSocket(c)
	if err != nil {
		t.Fatal(err)
	}
	to := c.LocalAddr().(*net.UDPAddr).AddrPort()
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 100)
		for s.Send([]byte{1}, to) == nil {
			s.Recv(buf)
		}
	})
	for range 100 {
		runtime.Gosched()
	}
	_ = c.Close()
	wg.Wait()
}
