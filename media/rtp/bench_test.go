package rtp_test

import (
	"net"
	"testing"
	"time"

	"parley/media"
	"parley/media/rtp"
)

// BenchmarkWakeUp is one packet received and one sent over loopback, wake-up not
// included: the work of a session itself. floor does the same with one socket's
// plain receive and send.
func BenchmarkWakeUp(b *testing.B) {
	b.Run("session", func(b *testing.B) {
		ours, ourAddr := loopback(b)
		far, farAddr := loopback(b)
		now := time.Now()
		s, err := rtp.New(rtp.Config{RTP: ours, Remote: farAddr, Start: now})
		if err != nil {
			b.Fatal(err)
		}
		p := &phoneOn{conn: far, to: ourAddr}
		f := media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k}
		var spent time.Duration
		b.ReportAllocs()
		for b.Loop() {
			p.say()
			now = now.Add(20 * time.Millisecond)
			begin := time.Now()
			wakeUp(s, now, f)
			spent += time.Since(begin)
			p.hear()
		}
		b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/pair")
	})
	b.Run("floor", func(b *testing.B) {
		c := listen(b)
		far, farAddr := loopback(b)
		p := &phoneOn{conn: far, to: c.LocalAddr().(*net.UDPAddr).AddrPort()}
		buf := make([]byte, 1500)
		var spent time.Duration
		for b.Loop() {
			p.say()
			begin := time.Now()
			n, _, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = c.WriteToUDPAddrPort(buf[:n], farAddr)
			spent += time.Since(begin)
			p.hear()
		}
		b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/pair")
	})
}
