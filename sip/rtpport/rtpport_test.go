package rtpport_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"parley/sip/rtpport"
)

var loopback = netip.MustParseAddr("127.0.0.1")

func pool(t *testing.T, first, last uint16) *rtpport.Pool {
	t.Helper()
	p, err := rtpport.New(rtpport.Config{Addr: loopback, First: first, Last: last})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func open(t *testing.T, p *rtpport.Pool) *rtpport.Pair {
	t.Helper()
	pair, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestPairsAreEvenAdjacentAndInRange(t *testing.T) {
	p := pool(t, 33001, 33041)
	order := []uint16{}
	for range 20 {
		pair := open(t, p)
		defer pair.Release()
		rtp := pair.RTP.LocalAddr().(*net.UDPAddr).Port
		rtcp := pair.RTCP.LocalAddr().(*net.UDPAddr).Port
		if rtp%2 != 0 || rtcp != rtp+1 || rtp < 33002 || rtcp > 33041 || int(pair.Port) != rtp {
			t.Errorf("pair %d, %d", rtp, rtcp)
		}
		order = append(order, pair.Port)
	}
	if _, err := p.Open(); !errors.Is(err, rtpport.ErrExhausted) {
		t.Errorf("got %v", err)
	}
	sequential := 0
	for i := 1; i < len(order); i++ {
		if order[i] == order[i-1]+2 {
			sequential++
		}
	}
	if sequential > 10 {
		t.Errorf("ports can be guessed: %v", order)
	}
}

func TestReleasedPairStaysBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := rtpport.New(rtpport.Config{Addr: loopback, First: 33100, Last: 33111}) // six pairs, one may drain
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		pair := open(t, p)
		pair.Release()
		pair.Release()
		at := netip.AddrPortFrom(loopback, pair.Port)
		if c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at)); err == nil {
			c.Close()
			t.Fatal("the port of the ended call was free at once")
		}
		if s := p.Stats(); s != (rtpport.Stats{Draining: 1, Free: 5}) {
			t.Errorf("%+v", s)
		}
		time.Sleep(rtpport.DefaultDrain - time.Millisecond)
		for range 5 {
			defer open(t, p).Release()
		}
		if _, err := p.Open(); !errors.Is(err, rtpport.ErrExhausted) {
			t.Errorf("a draining port was handed out: %v", err)
		}
		time.Sleep(time.Millisecond)
		last := open(t, p)
		defer last.Release()
		if last.Port != pair.Port {
			t.Errorf("got port %d, want %d", last.Port, pair.Port)
		}
	})
}

func TestDrainingIsBounded(t *testing.T) {
	p := pool(t, 33200, 33223) // twelve pairs, two may drain
	var pairs []*rtpport.Pair
	for range 12 {
		pairs = append(pairs, open(t, p))
	}
	for _, pair := range pairs {
		pair.Release()
	}
	if s := p.Stats(); s != (rtpport.Stats{Draining: 2, Free: 10}) {
		t.Errorf("%+v", s)
	}
}

func TestPortsOfOthersArePassedOver(t *testing.T) {
	p := pool(t, 33300, 33303) // two pairs
	other, err := net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice(), Port: 33301})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	pair := open(t, p)
	defer pair.Release()
	if pair.Port != 33302 {
		t.Errorf("got port %d", pair.Port)
	}
	if _, err := p.Open(); !errors.Is(err, rtpport.ErrExhausted) {
		t.Errorf("got %v", err)
	}
	other.Close()
	open(t, p).Release()
}

func TestRangeIsChecked(t *testing.T) {
	for _, r := range [][2]uint16{{0, 10}, {1000, 2000}, {20001, 20002}, {30000, 20000}} {
		if _, err := rtpport.New(rtpport.Config{First: r[0], Last: r[1]}); err == nil {
			t.Errorf("range %v was taken", r)
		}
	}
}

func TestCloseClosesWhatIsReleasedLater(t *testing.T) {
	p := pool(t, 33400, 33401)
	pair := open(t, p)
	p.Close()
	if _, err := p.Open(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	pair.Release()
	if _, err := pair.RTP.Write(nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("still open: %v", err)
	}
}
