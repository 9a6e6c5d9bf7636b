package rtp_test

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"

	"parley/media/rtp"
)

var (
	ourRTCP   = netip.AddrPortFrom(ourAddr.Addr(), ourAddr.Port()+1)
	phoneRTCP = netip.AddrPortFrom(phoneAddr.Addr(), phoneAddr.Port()+1)
)

// reports takes what came to h and parses it as RTCP.
func reports(t *testing.T, h *host) (all [][]rtcp.Packet) {
	t.Helper()
	buf := make([]byte, 2000)
	for {
		n, _, _, ok := h.Recv(buf)
		if !ok {
			return all
		}
		packets, err := rtcp.Unmarshal(buf[:n])
		if err != nil {
			t.Fatalf("not RTCP: %v", err)
		}
		all = append(all, packets)
	}
}

func TestReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 77)
		farRTCP := n.host(phoneRTCP.String())
		c := newCall(t, n, func(cfg *rtp.Config) { cfg.RTCP = n.host(ourRTCP.String()) })
		i := 0
		c.conduct(21*time.Second, func() {
			if i++; i%4 == 0 && i > 500 { // a quarter lost in the second half
				far.SequenceNumber++
				far.Timestamp += 160
				return
			}
			far.say(ourAddr, silent[:])
		})
		sent := far.take(t)
		got := reports(t, farRTCP)
		if len(got) != 4 {
			t.Fatalf("%d reports in 21 s, want 4", len(got))
		}
		for k, packets := range got {
			sr, ok := packets[0].(*rtcp.SenderReport)
			if !ok || len(packets) != 2 || len(sr.Reports) != 1 {
				t.Fatalf("report %d: %v", k, packets)
			}
			seconds := time.Duration(k+1) * 5 * time.Second
			if want := sent[0].Timestamp + uint32(seconds/time.Millisecond)*8; diff(sr.RTPTime, want) > 400 {
				t.Errorf("report %d: RTP time %d, want about %d", k, sr.RTPTime, want)
			}
			if sr.SSRC != sent[0].SSRC || diff(sr.PacketCount, uint32(seconds/(20*time.Millisecond))) > 3 || sr.OctetCount != sr.PacketCount*160 {
				t.Errorf("report %d: %v", k, sr)
			}
			d := packets[1].(*rtcp.SourceDescription)
			if d.Chunks[0].Source != sr.SSRC || d.Chunks[0].Items[0].Text != "a@b" {
				t.Errorf("report %d: %v", k, d)
			}
			b := sr.Reports[0]
			if b.SSRC != 77 || (k < 2) != (b.FractionLost == 0) || (k < 2) != (b.TotalLost == 0) {
				t.Errorf("report %d: %+v", k, b)
			}
		}
		last := got[3][0].(*rtcp.SenderReport).Reports[0]
		if last.FractionLost < 58 || last.FractionLost > 70 || last.TotalLost < 115 || last.TotalLost > 130 {
			t.Errorf("a quarter is lost, reported as %+v", last)
		}
		if got, want := uint16(last.LastSequenceNumber), far.SequenceNumber-50; uint16(got-want+10) > 20 || last.LastSequenceNumber>>16 != 1 {
			t.Errorf("highest sequence number %#x, want about %#x in cycle 1", last.LastSequenceNumber, want)
		}
		c.hangUp()
	})
}

func diff(a, b uint32) uint32 {
	d := int32(a - b)
	return uint32(max(d, -d))
}

// Two sessions measure the way between them.
func TestRoundTrip(t *testing.T) {
	for _, mux := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			n.delay, n.loss = 150*time.Millisecond, 0.02
			a := newCall(t, n, func(cfg *rtp.Config) {
				if cfg.Mux = mux; !mux {
					cfg.RTCP = n.host(ourRTCP.String())
				}
			})
			b := newCall(t, n, func(cfg *rtp.Config) {
				cfg.RTP, cfg.Remote = n.host(phoneAddr.String()), ourAddr
				if cfg.Mux = mux; !mux {
					cfg.RTCP = n.host(phoneRTCP.String())
				}
			})
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
				for _, c := range []*call{a, b} {
					if !time.Now().Before(c.s.Next()) {
						c.wake()
					}
				}
			}
			for _, c := range []*call{a, b} {
				s := c.s.Stats()
				if d := s.RTT - 300*time.Millisecond; max(d, -d) > 2*time.Millisecond {
					t.Errorf("mux %v: round trip %v, want 300 ms", mux, s.RTT)
				}
				if s.RemoteLost > 0.05 {
					t.Errorf("mux %v: the far end lost %.3f", mux, s.RemoteLost)
				}
				if s.MOS < 3.5 || s.MOS > 4.35 {
					t.Errorf("mux %v: MOS %.2f", mux, s.MOS)
				}
				if s.Invalid != 0 || s.Foreign != 0 || s.SendErrors != 0 {
					t.Errorf("mux %v: stats %+v", mux, s)
				}
				c.hangUp()
			}
		})
	}
}

// Reports from elsewhere, and broken ones, change nothing.
func TestForeignAndBrokenReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 77)
		farRTCP, stranger := n.host(phoneRTCP.String()), n.host("203.0.113.66:1")
		c := newCall(t, n, func(cfg *rtp.Config) { cfg.RTCP = n.host(ourRTCP.String()) })
		c.conduct(time.Second, func() { far.say(ourAddr, silent[:]) })
		ssrc := far.take(t)[0].SSRC
		report := func(lost uint8) []byte {
			b, err := (&rtcp.ReceiverReport{SSRC: 77, Reports: []rtcp.ReceptionReport{{SSRC: ssrc, FractionLost: lost}}}).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		_ = stranger.Send(report(128), ourRTCP)
		_ = farRTCP.Send(report(128)[:20], ourRTCP)
		_ = farRTCP.Send(stunRequest, ourRTCP)
		c.conduct(time.Second, nil)
		if s := c.s.Stats(); s.RemoteLost != 0 || s.Foreign != 1 || s.Invalid != 2 {
			t.Errorf("stats %+v", s)
		}
		_ = farRTCP.Send(report(64), ourRTCP)
		c.conduct(time.Second, nil)
		if s := c.s.Stats(); s.RemoteLost != 0.25 {
			t.Errorf("the far end says it lost a quarter, we say %v", s.RemoteLost)
		}
		c.hangUp()
	})
}
