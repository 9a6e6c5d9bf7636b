package jitter_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/media"
	"parley/media/jitter"
)

// plain decodes each byte to a hundred times its signed value, so that a test can
// write a packet's number into its samples.
type plain struct{}

func (plain) Decode(dst []int16, _ uint8, payload []byte) {
	for i, b := range payload {
		dst[i] = 100 * int16(int8(b))
	}
}

// rig is a buffer, a clock that only the test moves, and everything heard so far.
type rig struct {
	t     rapid.TB
	b     *jitter.Buffer
	start time.Time
	now   time.Time
	heard []int16
}

func newRig(t rapid.TB) *rig {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &rig{t: t, b: jitter.New(plain{}, jitter.Rate, start), start: start, now: start}
}

// packet is the i-th of a stream of 20 ms packets that begins at sequence number
// 1000 and timestamp 0. All its samples are 100*i, small enough for one byte.
func packet(i int) jitter.Packet {
	return jitter.Packet{
		Kind: jitter.Audio, SSRC: 7, Seq: uint16(1000 + i), Timestamp: uint32(i * 160),
		Payload: slices.Repeat([]byte{byte(i)}, 160),
	}
}

func (r *rig) push(p jitter.Packet) {
	p.Arrived = r.now
	r.b.Push(p)
}

// read takes what is ready and checks what holds at all times: frames follow each
// other without gaps, and the stream is never far behind the clock.
func (r *rig) read() (frames int) {
	r.t.Helper()
	for {
		f, ok := r.b.Read(r.now)
		if !ok {
			break
		}
		if want := media.Rate8k.Duration(len(r.heard)); f.At != want || f.Rate != media.Rate8k || len(f.Samples) != 160 {
			r.t.Fatalf("frame at %v of %d samples, %v; want at %v", f.At.Duration(), len(f.Samples), f.Rate, want.Duration())
		}
		r.heard = append(r.heard, f.Samples...)
		frames++
	}
	if lag := r.lag(); lag >= 160*time.Millisecond {
		r.t.Fatalf("lags %v behind the clock", lag)
	}
	return frames
}

func (r *rig) lag() time.Duration {
	return r.now.Sub(r.start) - media.Rate8k.Duration(len(r.heard)).Duration()
}

// tick moves the clock by 20 ms and reads.
func (r *rig) tick() int {
	r.t.Helper()
	r.wait(20 * time.Millisecond)
	return r.read()
}

func (r *rig) wait(d time.Duration) { r.now = r.now.Add(d) }

// play sends packets from..to, one each 20 ms, and reads after each.
func (r *rig) play(from, to int) {
	r.t.Helper()
	for i := from; i <= to; i++ {
		r.wait(20 * time.Millisecond)
		r.push(packet(i))
		r.read()
	}
}

// numbers is the middle sample of each frame heard, which concealment's overlaps
// do not touch, divided back to the packet's number.
func (r *rig) numbers() (n []int) {
	for i := 80; i < len(r.heard); i += 160 {
		n = append(n, int(r.heard[i])/100)
	}
	return n
}

func (r *rig) wantNumbers(want ...int) {
	r.t.Helper()
	if got := r.numbers(); !slices.Equal(got, want) {
		r.t.Fatalf("heard packets %v, want %v", got, want)
	}
}

func TestInOrderIsHeardAtOnce(t *testing.T) {
	r := newRig(t)
	for i := 1; i <= 100; i++ {
		r.wait(20 * time.Millisecond)
		r.push(packet(i))
		if n := r.read(); n != 1 {
			t.Fatalf("packet %d: %d frames ready on arrival, want 1", i, n)
		}
	}
	s := r.b.Stats()
	if s.Received != 100 || s.Expected != 100 || s.Lost != 0 || s.Concealed != 0 || s.Underrun != 0 || s.Jitter != 0 {
		t.Errorf("stats of a perfect stream: %+v", s)
	}
}

func TestReorderingWithinTheWaitIsRepaired(t *testing.T) {
	r := newRig(t)
	r.play(1, 3)
	r.wait(20 * time.Millisecond)
	r.push(packet(5))
	if n := r.read(); n != 0 {
		t.Fatalf("%d frames before the missing packet came", n)
	}
	r.wait(5 * time.Millisecond)
	r.push(packet(4))
	if n := r.read(); n != 2 {
		t.Fatalf("%d frames when it came, want 2", n)
	}
	r.wantNumbers(1, 2, 3, 4, 5)
	if s := r.b.Stats(); s.Lost+s.Late+s.Duplicates != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestGapWaitsThenIsConcealed(t *testing.T) {
	r := newRig(t)
	r.play(1, 3)
	r.wait(40 * time.Millisecond)
	r.push(packet(5))
	wait := r.b.Wait()
	if wait < 20*time.Millisecond || wait > 80*time.Millisecond {
		t.Fatalf("wait %v is out of its range", wait)
	}
	r.wait(wait - time.Millisecond)
	if n := r.read(); n != 0 {
		t.Fatalf("gave up the gap after %v of %v", wait-time.Millisecond, wait)
	}
	r.wait(time.Millisecond)
	if n := r.read(); n != 2 {
		t.Fatalf("%d frames after the wait, want the concealed one and the next", n)
	}
	r.push(packet(4)) // too late
	r.push(packet(5)) // once more
	s := r.b.Stats()
	if s.Lost != 1 || s.Bursts != 1 || s.Late != 1 || s.Duplicates != 1 || s.Received != 5 || s.Expected != 5 {
		t.Errorf("stats %+v", s)
	}
	if s.Concealed != 20*media.Millisecond {
		t.Errorf("concealed %v, want 20 ms", s.Concealed.Duration())
	}
	r.push(packet(6))
	r.read()
	if got := r.numbers(); got[4] != 5 || got[5] != 6 || len(got) != 6 {
		t.Errorf("heard %v", got)
	}
}

// The wait follows the jitter: three times as much, within its bounds.
func TestWaitFollowsJitter(t *testing.T) {
	for _, c := range []struct {
		swing    time.Duration
		min, max time.Duration
	}{
		{0, 20 * time.Millisecond, 20 * time.Millisecond},
		{15 * time.Millisecond, 40 * time.Millisecond, 50 * time.Millisecond},
		{60 * time.Millisecond, 80 * time.Millisecond, 80 * time.Millisecond},
	} {
		r := newRig(t)
		base := r.now
		for i := 1; i <= 100; i++ {
			r.now = base.Add(time.Duration(i) * 20 * time.Millisecond)
			if i%2 == 0 {
				r.wait(c.swing)
			}
			r.push(packet(i % 100))
		}
		if w := r.b.Wait(); w < c.min || w > c.max {
			t.Errorf("swing of %v: wait %v, want %v to %v (jitter %v)", c.swing, w, c.min, c.max, r.b.Stats().Jitter)
		}
	}
}

func TestNumbersWrap(t *testing.T) {
	r := newRig(t)
	for i := range 400 {
		p := packet(i % 100)
		p.Seq = uint16(65400 + i)
		p.Timestamp = 0xFFFF_FFFF - 200*160 + uint32(i*160)
		r.wait(20 * time.Millisecond)
		if i%50 == 25 { // swap two now and then
			q := packet((i + 1) % 100)
			q.Seq, q.Timestamp = p.Seq+1, p.Timestamp+160
			r.push(q)
		}
		r.push(p)
		r.read()
	}
	s := r.b.Stats()
	if s.Lost != 0 || s.Received != 400 || s.Expected != 400 || s.Resyncs != 0 || s.Concealed != 0 {
		t.Errorf("stats %+v", s)
	}
	if got, want := r.b.Stats().Highest, uint32(65400+399); got != want {
		t.Errorf("extended highest sequence number %d, want %d", got, want)
	}
	for i, n := range r.numbers() {
		if n != i%100 {
			t.Fatalf("frame %d is packet %d", i, n)
		}
	}
}

// A stream that breaks off and begins anew: two consecutive packets prove it, and
// both are heard. One stray packet changes nothing.
func TestRestartNeedsTwoConsecutivePackets(t *testing.T) {
	alter := map[string]func(*jitter.Packet){
		"new SSRC":       func(p *jitter.Packet) { p.SSRC = 99; p.Seq += 5000; p.Timestamp += 1 << 20 },
		"sequence jump":  func(p *jitter.Packet) { p.Seq += 101 },
		"sequence back":  func(p *jitter.Packet) { p.Seq -= 300 },
		"timestamp jump": func(p *jitter.Packet) { p.Timestamp += 3 * 8000 },
		"timestamp back": func(p *jitter.Packet) { p.Timestamp -= 3 * 8000 },
	}
	for name, f := range alter {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			other := func(i int) jitter.Packet { p := packet(i); f(&p); return p }
			r.play(1, 5)
			r.push(other(50)) // a stray
			r.play(6, 8)
			r.wantNumbers(1, 2, 3, 4, 5, 6, 7, 8)
			r.wait(20 * time.Millisecond)
			r.push(other(9))
			if n := r.read(); n != 0 {
				t.Fatal("one packet was enough to restart the stream")
			}
			r.wait(20 * time.Millisecond)
			r.push(other(10))
			r.read()
			for i := 11; i <= 13; i++ {
				r.wait(20 * time.Millisecond)
				r.push(other(i))
				r.read()
			}
			r.wantNumbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
			if s := r.b.Stats(); s.Resyncs != 1 || s.Lost != 0 || s.Concealed != 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestAnyPacketLengthGivesWholeFrames(t *testing.T) {
	for _, length := range []int{10, 20, 30, 40, 60} {
		r := newRig(t)
		n := length * 8
		var sent []int16
		for i := range 60 {
			p := packet(0)
			p.Seq, p.Timestamp = uint16(i), uint32(i*n)
			p.Payload = make([]byte, n)
			for j := range p.Payload {
				p.Payload[j] = byte((i*n + j) % 100)
				sent = append(sent, int16(100*((i*n+j)%100)))
			}
			r.wait(time.Duration(length) * time.Millisecond)
			r.push(p)
			r.read()
		}
		if whole := sent[:len(sent)/160*160]; !slices.Equal(r.heard, whole) {
			t.Errorf("%d ms: what was heard is not what was sent (%d and %d samples)", length, len(r.heard), len(whole))
		}
		if s := r.b.Stats(); s.Lost != 0 || s.Concealed != 0 || s.Underrun != 0 {
			t.Errorf("%d ms: stats %+v", length, s)
		}
	}
}

func TestLostPacketOfAnyLengthIsConcealedWhole(t *testing.T) {
	for _, length := range []int{10, 20, 30, 40, 60} {
		r := newRig(t)
		n := length * 8
		for i := range 30 {
			r.wait(time.Duration(length) * time.Millisecond)
			if i != 10 {
				p := packet(1)
				p.Seq, p.Timestamp, p.Payload = uint16(i), uint32(i*n), make([]byte, n)
				r.push(p)
			}
			r.read()
		}
		s := r.b.Stats()
		if want := media.Time(length) * media.Millisecond; s.Concealed != want || s.Underrun != 0 || s.Lost != 1 {
			t.Errorf("%d ms: concealed %v, want %v; %+v", length, s.Concealed.Duration(), want.Duration(), s)
		}
		if got, want := len(r.heard), 30*n/160*160; got != want {
			t.Errorf("%d ms: heard %d samples, want %d", length, got, want)
		}
	}
}

func TestOversizedAndEmptyPacketsAreIgnored(t *testing.T) {
	r := newRig(t)
	for _, n := range []int{0, jitter.MaxPayload + 1, 1 << 16} {
		p := packet(1)
		p.Payload = make([]byte, n)
		r.push(p)
	}
	if s := r.b.Stats(); s.Received != 0 || r.read() != 0 {
		t.Errorf("stats %+v", s)
	}
}
