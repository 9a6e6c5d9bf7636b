package jitter_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/media"
	"parley/media/jitter"
	"parley/media/mediatest"
)

// Whatever a network does to a stream: what is heard is in order, is what was sent,
// keeps up with the clock, and every packet is accounted for once.
func TestAnyNetwork(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type arrival struct {
			at time.Duration
			jitter.Packet
		}
		loss := rapid.IntRange(0, 30).Draw(rt, "loss percent")
		swing := rapid.IntRange(0, 120).Draw(rt, "jitter ms")
		first := uint16(rapid.IntRange(0, 65535).Draw(rt, "first sequence number"))
		var sent []arrival
		for i := range 250 {
			p := packet(0)
			p.Seq, p.Timestamp = first+uint16(i), uint32(i*160)
			for j := range p.Payload {
				p.Payload[j] = byte(1 + i%100)
			}
			n := 1
			if i > 0 {
				switch d := rapid.IntRange(0, 99).Draw(rt, "fate"); {
				case d < loss:
					n = 0
				case d > 97:
					n = 2
				}
			}
			for range n {
				late := time.Duration(rapid.IntRange(0, swing).Draw(rt, "delay")) * time.Millisecond
				if i == 0 {
					late = 0
				}
				sent = append(sent, arrival{time.Duration(i)*20*time.Millisecond + late, p})
			}
		}
		slices.SortStableFunc(sent, func(a, b arrival) int { return int(a.at - b.at) })

		r := newRig(rt)
		pushed := 0
		distinct := map[uint16]bool{}
		for tick := range 280 {
			r.now = r.start.Add(time.Duration(tick) * 20 * time.Millisecond)
			for ; pushed < len(sent) && r.start.Add(sent[pushed].at).Before(r.now); pushed++ {
				p := sent[pushed].Packet
				p.Arrived = r.start.Add(sent[pushed].at)
				distinct[p.Seq] = true
				r.b.Push(p)
			}
			r.read()
		}
		s := r.b.Stats()
		if s.Received != uint64(len(distinct)) || s.Received+s.Duplicates != uint64(len(sent)) {
			rt.Fatalf("%d packets, %d distinct, were counted as %+v", len(sent), len(distinct), s)
		}
		if missing := s.Expected - s.Received; s.Lost != missing+s.Late || s.Overruns != 0 || s.Resyncs != 0 {
			rt.Fatalf("lost %d, missing %d, late %d: %+v", s.Lost, missing, s.Late, s)
		}
		// Silence and concealment aside, the numbers heard only grow, one by one.
		if err := inOrder(r.heard); err != nil {
			rt.Fatal(err)
		}
		if swing <= 20 && s.Late > 0 {
			rt.Fatalf("%d late with a jitter of %d ms", s.Late, swing)
		}
	})
}

// inOrder checks that the packets' own values (100 to 10,000, each 160 samples,
// less where concealment overlaps) appear in the order sent.
func inOrder(heard []int16) error {
	last, run := 0, 0
	for i := 1; i < len(heard); i++ {
		if heard[i] != heard[i-1] || heard[i]%100 != 0 || heard[i] == 0 {
			run = 0
			continue
		}
		run++
		if n := int(heard[i] / 100); run == 79 { // half a packet of one value
			if step := (n - last + 100) % 100; last != 0 && step > 50 {
				return fmt.Errorf("packet %d is heard after %d", n, last)
			}
			last = n
		}
	}
	return nil
}

func TestNoAllocations(t *testing.T) {
	b := jitter.New(plain{}, jitter.Rate, time.Now())
	now, i := time.Now(), 0
	mediatest.NoAllocs(t, func() {
		now = now.Add(20 * time.Millisecond)
		if i%10 != 7 { // with losses
			p := jitter.Packet{Kind: jitter.Audio, Seq: uint16(i), Timestamp: uint32(i * 160), Payload: voice[:], Arrived: now}
			b.Push(p)
		}
		i++
		for _, ok := b.Read(now); ok; _, ok = b.Read(now) {
		}
	})
}

var voice [160]byte

func init() {
	for i, s := range mediatest.Tone(190, jitter.Rate, len(voice), 0.01) {
		voice[i] = byte(s / 4)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, lossEvery := range []int{0, 20} {
		b.Run(fmt.Sprintf("loss=%d", lossEvery), func(b *testing.B) {
			now := time.Now()
			buf := jitter.New(plain{}, jitter.Rate, now)
			var heard media.Time
			for i := 0; b.Loop(); i++ {
				now = now.Add(20 * time.Millisecond)
				if lossEvery == 0 || i%lossEvery != 0 {
					buf.Push(jitter.Packet{Kind: jitter.Audio, Seq: uint16(i), Timestamp: uint32(i * 160), Payload: voice[:], Arrived: now})
				}
				for f, ok := buf.Read(now); ok; f, ok = buf.Read(now) {
					heard = f.At
				}
			}
			_ = heard
		})
	}
}

// A far end that sends nonsense: any kinds, numbers and times. The stream keeps to
// the clock, and its reader comes to an end.
func TestAnyNonsense(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(rt)
		seq := uint16(rapid.IntRange(0, 65535).Draw(rt, "seq"))
		ts := uint32(rapid.Uint32().Draw(rt, "timestamp"))
		for range rapid.IntRange(1, 300).Draw(rt, "packets") {
			seq += rapid.SampledFrom([]uint16{0, 1, 1, 1, 1, 1, 2, 3, 30, 63, 64, 65, 99, 100, 101, 32768, 65535, 65500}).Draw(rt, "seq step")
			ts += rapid.SampledFrom([]uint32{0, 1, 80, 160, 160, 160, 480, 8000, 15999, 17000, 1 << 31, 1<<32 - 160, 1<<32 - 9000}).Draw(rt, "ts step")
			p := jitter.Packet{
				Kind: jitter.Kind(rapid.IntRange(1, 3).Draw(rt, "kind")), Seq: seq, Timestamp: ts,
				SSRC:     uint32(rapid.IntRange(0, 9).Draw(rt, "ssrc") / 9),
				Payload:  make([]byte, rapid.SampledFrom([]int{1, 80, 160, 160, 160, 480}).Draw(rt, "length")),
				Duration: rapid.SampledFrom([]int{0, 160, 800, 65535}).Draw(rt, "duration"), Open: rapid.Bool().Draw(rt, "open"),
			}
			r.push(p)
			r.wait(time.Duration(rapid.SampledFrom([]int{0, 0, 10, 20, 20, 20, 90, 250, 3000}).Draw(rt, "wait")) * time.Millisecond)
			r.read()
			if ahead := -r.lag(); ahead > 5*time.Second {
				rt.Fatalf("%v ahead of the clock", ahead)
			}
		}
		if s := r.b.Stats(); s.Received > 300 || s.Expected > 1<<32 || s.Concealed < 0 || s.Underrun < 0 {
			rt.Fatalf("stats %+v", s)
		}
	})
}
