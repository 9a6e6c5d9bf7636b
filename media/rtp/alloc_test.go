package rtp_test

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/media/opus"
	"parley/media/rtp"
	"parley/media/srtp"
)

// phoneOn sends packets over a real socket, without allocating.
type phoneOn struct {
	conn   *rtp.Socket
	to     netip.AddrPort
	codec  codec.Codec
	packet [172]byte
	coded  int // bytes of Opus in packet; 0: another codec
	answer [1500]byte
	seq    uint16
	ts     uint32
}

func (p *phoneOn) say() {
	b, step := p.packet[:], uint32(160)
	b[0], b[1] = 0x80, p.codec.PayloadType()
	if p.coded > 0 {
		b, step = b[:12+p.coded], 960
		b[1] = withOpus.Opus.Type
	}
	b[2], b[3] = byte(p.seq>>8), byte(p.seq)
	b[4], b[5], b[6], b[7] = byte(p.ts>>24), byte(p.ts>>16), byte(p.ts>>8), byte(p.ts)
	p.seq++
	p.ts += step
	_ = p.conn.Send(b, p.to)
}

// code makes what it says 20 ms of Opus.
func (p *phoneOn) code(t *testing.T) {
	t.Helper()
	enc, err := opus.NewEncoder(opus.EncoderConfig{Rate: media.Rate16k, Bitrate: 24000, Loss: 10})
	if err != nil {
		t.Fatal(err)
	}
	var coded [opus.MaxPacket]byte
	for i := range 20 { // until there are copies
		if p.coded, err = enc.Encode(coded[:], wideTone(i)); err != nil {
			t.Fatal(err)
		}
	}
	if copy(p.packet[12:], coded[:p.coded]) < p.coded {
		t.Fatalf("%d bytes of Opus", p.coded)
	}
}

// hear takes what has arrived.
func (p *phoneOn) hear() (packets int) {
	for {
		if _, _, _, ok := p.conn.Recv(p.answer[:]); !ok {
			return packets
		}
		packets++
	}
}

// wakeUp is what a conductor does each 20 ms.
func wakeUp(s *rtp.Session, now time.Time, f media.Frame) (heard int) {
	for _, ok := s.Read(now); ok; _, ok = s.Read(now) {
		heard++
	}
	for n := s.Due(now); n > 0; n-- {
		s.Write(f)
	}
	s.Played(now)
	return heard
}

// frugal skips a test where the Socket is the portable one, which allocates.
func frugal(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("sockets allocate on " + runtime.GOOS)
	}
}

// The 20 ms path over real sockets, with losses, digits both ways and reports.
func TestNoAllocations(t *testing.T) {
	for _, c := range codec.Default() {
		for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
			for _, events := range []uint8{101, 0} {
				t.Run(fmt.Sprintf("%v/%d/%d", c, rate, events), func(t *testing.T) { testNoAllocations(t, rtp.Format{Codec: c, Events: events}, rate) })
			}
		}
	}
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		t.Run(fmt.Sprintf("Opus/%d", rate), func(t *testing.T) {
			if !opus.Encodes {
				t.Skip("no libopus")
			}
			testNoAllocations(t, withOpus, rate)
		})
	}
}

func testNoAllocations(t *testing.T, format rtp.Format, rate media.Rate) {
	frugal(t)
	ours, ourAddr := loopback(t)
	control, _ := loopback(t)
	far, farAddr := loopback(t)
	now := time.Now()
	s, err := rtp.New(rtp.Config{RTP: ours, RTCP: control, Remote: farAddr, Format: format, Rate: rate, CNAME: "x@y", Start: now})
	if err != nil {
		t.Fatal(err)
	}
	p := &phoneOn{conn: far, to: ourAddr, codec: format.Codec}
	if format.Codec == codec.Opus {
		p.code(t)
	}
	f := media.Frame{Samples: make([]int16, rate.FrameSamples()), Rate: rate}
	i, heard := 0, 0
	mediatest.NoAllocs(t, func() {
		for range 20 {
			if i++; i%7 == 0 {
				p.seq++
				p.ts += uint32(format.Codec.Clock() / 50)
			} else {
				p.say()
			}
			now = now.Add(20 * time.Millisecond)
			heard += wakeUp(s, now, f)
			p.hear()
			if i%100 == 0 {
				if err := s.SendDigits("5"); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	if st := s.Stats(); st.Received < 1500 || st.Sent < 1800 || heard < 1900 {
		t.Errorf("heard %d frames; %+v", heard, st)
	}
}

// The same with SRTP, at both ends of a call, which report to each other.
func TestNoAllocationsEncrypted(t *testing.T) {
	frugal(t)
	for _, suite := range []srtp.Suite{srtp.AESHMAC80, srtp.AESHMAC32} {
		now, keys := time.Now(), newKeys(suite)
		var socks, controls [2]*rtp.Socket
		var addrs, rtcps [2]netip.AddrPort
		for i := range 2 {
			socks[i], addrs[i] = loopback(t)
			controls[i], rtcps[i] = loopback(t)
		}
		var sides [2]*rtp.Session
		for i := range 2 {
			var err error
			sides[i], err = rtp.New(rtp.Config{RTP: socks[i], RTCP: controls[i], Remote: addrs[1-i], RemoteRTCP: rtcps[1-i],
				Format: rtp.Format{Events: 101}, CNAME: "x@y", Start: now, Keys: keys})
			if err != nil {
				t.Fatal(err)
			}
			keys = reversed(keys)
		}
		f := media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k}
		heard := 0
		mediatest.NoAllocs(t, func() {
			for range 20 {
				now = now.Add(20 * time.Millisecond)
				for _, s := range sides {
					heard += wakeUp(s, now, f)
				}
			}
		})
		if st := sides[0].Stats(); st.Received < 1500 || st.Sent < 1800 || heard < 3500 || st.Refused != 0 || st.RTT == 0 && st.RemoteJitter == 0 {
			t.Errorf("%v: heard %d frames; %+v", suite, heard, st)
		}
	}
}

// Stats, SetDirection, SetRemote and SendDigits belong to any goroutine.
func TestAnyGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		far := n.phone(phoneAddr.String(), 1)
		c := newCall(t, n)
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for i := range 4 {
			wg.Go(func() {
				for k := 0; ; k++ {
					select {
					case <-stop:
						return
					case <-time.After(3 * time.Millisecond):
					}
					switch i {
					case 0:
						c.s.SetDirection(k%50 != 0, true)
					case 1:
						c.s.SetRemote(phoneAddr, netip.AddrPort{})
					case 2:
						_ = c.s.SendDigits("1")
					case 3:
						if st := c.s.Stats(); st.Lost > 0 {
							t.Errorf("stats %+v", st)
						}
					}
				}
			})
		}
		c.conduct(5*time.Second, func() { far.say(ourAddr, silent[:]); c.digits() })
		close(stop)
		wg.Wait()
		c.hangUp()
		if st := c.s.Stats(); st.Received < 240 || st.Sent < 200 {
			t.Errorf("stats %+v", st)
		}
	})
}
