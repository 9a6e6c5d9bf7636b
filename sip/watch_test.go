package sip_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/sip"
)

// logged keeps what a user agent logs.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) lines(word string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return found
}

var rtpPort = regexp.MustCompile(`m=audio (\d+)`)

// watched answers a peer whose description names the port described.
func watched(t *testing.T, log *logged, silence time.Duration, described int, attributes ...string) (*sip.UserAgent, *called, *lasting, netip.AddrPort) {
	t.Helper()
	legs := make(chan *sip.Leg, 1)
	cfg := sip.Watched(sip.Config{OnCall: taking(t, legs), Logger: slog.New(slog.NewTextHandler(log, nil))}, 5*time.Millisecond, silence)
	ua := serve(t, cfg)
	p := newPeer(t, ua, "udp")
	if described == 0 {
		described = p.rtp.LocalAddr().(*net.UDPAddr).Port
	}
	p.write(p.request("INVITE", p.offerAt(described, attributes...)))
	res := p.response(200, "INVITE")
	p.toTag = res.To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	var port uint16
	if m := rtpPort.FindStringSubmatch(string(res.Body())); m != nil {
		_, _ = fmt.Sscan(m[1], &port)
	}
	return ua, &called{peer: p, seen: map[string]bool{}}, last(wait(t, legs, "leg")), addrPort(port)
}

// TestNoRTPIsLogged: with both addresses, once, and not while the call is on hold.
func TestNoRTPIsLogged(t *testing.T) {
	var log logged
	ua, c, l, ours := watched(t, &log, 40*time.Millisecond, 0)
	eventually(t, "it is logged", func() bool { return len(log.lines("no_rtp_5s")) > 0 })
	line := log.lines("no_rtp_5s")[0]
	for _, want := range []string{"level=WARN", "remote=" + c.rtp.LocalAddr().String(), "local=" + ours.String(), "call_id="} {
		if !strings.Contains(line, want) {
			t.Errorf("%s lacks %s", line, want)
		}
	}
	far := &farEnd{peer: c.peer, to: ours}
	eventually(t, "media comes after all", func() bool { far.Send(make([]int16, 160)); return l.leg.Stats().Received > 0 })
	l.finish(c)
	if s := ua.Stats(); s.NoRTP != 1 || s.Latched != 0 || len(log.lines("no_rtp_5s")) != 1 || len(log.lines("rtp_latched")) != 0 {
		t.Errorf("%+v, and the log says %q", s, log.lines("rtp"))
	}
}

// TestHeldCallIsNotSaidToBeSilent until it is resumed.
func TestHeldCallIsNotSaidToBeSilent(t *testing.T) {
	var log logged
	ua, c, l, _ := watched(t, &log, 20*time.Millisecond, 0, "a=sendonly")
	eventually(t, "the leg knows that it is held", func() bool { s := l.leg.Stats(); return s.Remote.IsValid() && !s.Listening })
	for range 10 { // time passes, in which it looks
		c.next(200, "OPTIONS", "")
	}
	if s := ua.Stats(); s.NoRTP != 0 {
		t.Errorf("on hold: %q", log.lines("no_rtp_5s"))
	}
	c.next(200, "INVITE", c.offer())
	c.write(c.request("ACK", ""))
	eventually(t, "it is logged", func() bool { return len(log.lines("no_rtp_5s")) == 1 })
	l.finish(c)
}

// TestLatchIsLogged: media from another port than was described, as behind a NAT.
func TestLatchIsLogged(t *testing.T) {
	var log logged
	ua, c, l, ours := watched(t, &log, time.Hour, 9)
	far := &farEnd{peer: c.peer, to: ours}
	eventually(t, "it is logged", func() bool { far.Send(make([]int16, 160)); return len(log.lines("rtp_latched")) > 0 })
	line := log.lines("rtp_latched")[0]
	for _, want := range []string{"level=INFO", "described=127.0.0.1:9", "from=" + c.rtp.LocalAddr().String(), "local=" + ours.String()} {
		if !strings.Contains(line, want) {
			t.Errorf("%s lacks %s", line, want)
		}
	}
	l.finish(c)
	if s := ua.Stats(); s.Latched != 1 || s.NoRTP != 0 || len(log.lines("rtp_latched")) != 1 {
		t.Errorf("%+v, and the log says %q", s, log.lines("rtp"))
	}
}
