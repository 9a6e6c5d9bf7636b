package rtp_test

import (
	"net"
	"testing"
	"time"
	"fmt"

	"parley/media"
	"parley/media/rtp"
)

func BenchmarkMany(b *testing.B) {
	for _, n := range []int{1, 50, 300, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			far, farAddr := loopback(b)
			now := time.Now()
			var ss []*rtp.Session
			ps := make([]*phoneOn, n)
			for i := range n {
				ours, ourAddr := loopback(b)
				s, _ := rtp.New(rtp.Config{RTP: ours, Remote: farAddr, Start: now})
				ss = append(ss, s)
				ps[i] = &phoneOn{conn: far, to: ourAddr}
			}
			f := media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k}
			var spent, rd, due, wr time.Duration
			k := 0
			for b.Loop() {
				i := k % n
				if i == 0 {
					now = now.Add(20 * time.Millisecond)
				}
				k++
				ps[i].say()
				begin := time.Now()
				s := ss[i]
				for _, ok := s.Read(now); ok; _, ok = s.Read(now) {
				}
				t1 := time.Now()
				d := s.Due(now)
				t2 := time.Now()
				for range d {
					s.Write(f)
				}
				t3 := time.Now()
				rd += t1.Sub(begin)
				due += t2.Sub(t1)
				wr += t3.Sub(t2)
				spent += t3.Sub(begin)
				far.Recv(ps[i].answer[:])
				far.Recv(ps[i].answer[:])
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/pair")
			b.ReportMetric(float64(rd.Nanoseconds())/float64(b.N), "read")
			b.ReportMetric(float64(due.Nanoseconds())/float64(b.N), "due")
			b.ReportMetric(float64(wr.Nanoseconds())/float64(b.N), "write")
		})
		b.Run(fmt.Sprint("floor", n), func(b *testing.B) {
			far, farAddr := loopback(b)
			var cs []*net.UDPConn
			ps := make([]*phoneOn, n)
			for i := range n {
				c := listen(b)
				cs = append(cs, c)
				ps[i] = &phoneOn{conn: far, to: c.LocalAddr().(*net.UDPAddr).AddrPort()}
			}
			var spent time.Duration
			k := 0
			buf := make([]byte, 1500)
			for b.Loop() {
				i := k % n
				k++
				ps[i].say()
				begin := time.Now()
				m, _, _ := cs[i].ReadFromUDPAddrPort(buf)
				cs[i].WriteToUDPAddrPort(buf[:m], farAddr)
				spent += time.Since(begin)
				far.Recv(ps[i].answer[:])
				far.Recv(ps[i].answer[:])
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/pair")
		})
	}
}
