package opus_test

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"parley/media"
	"parley/media/jitter"
	"parley/media/mediatest"
	"parley/media/opus"
)

var _ jitter.Codec = (*opus.Decoder)(nil)

// tonePackets are 50 packets of a tone of 500 Hz at 0.3 of full scale, made by libopus:
// what either build has to decode.
func tonePackets(t testing.TB) (list [][]byte) {
	t.Helper()
	b, err := os.ReadFile("testdata/tone500.packets")
	if err != nil {
		t.Fatal(err)
	}
	for len(b) > 0 {
		n := int(binary.BigEndian.Uint16(b))
		list = append(list, b[2:2+n])
		b = b[2+n:]
	}
	return list
}

func decoder(t testing.TB, rate media.Rate) *opus.Decoder {
	t.Helper()
	d, err := opus.NewDecoder(rate)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecodes(t *testing.T) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k, media.Rate24k, media.Rate48k} {
		d := decoder(t, rate)
		var all []int16
		for _, p := range tonePackets(t) {
			frame := make([]int16, rate.FrameSamples())
			d.Decode(frame, p)
			all = append(all, frame...)
		}
		all = all[len(all)/5:]
		peak, level := mediatest.Peak(all, rate)
		if want := 20*math.Log10(0.3) - 3; math.Abs(peak-500) > 5 || math.Abs(level-want) > 1 {
			t.Errorf("%v: %.0f Hz at %.1f dBFS, want 500 Hz at %.1f", rate, peak, level, want)
		}
		if snr := mediatest.SNR(all, rate, 500); snr < 20 {
			t.Errorf("%v: %.1f dB above what is not the tone", rate, snr)
		}
	}
}

// TestConceals: a lost frame is not heard as a hole, and a long loss dies away.
func TestConceals(t *testing.T) {
	const rate = media.Rate16k
	d := decoder(t, rate)
	frame := make([]int16, rate.FrameSamples())
	for _, p := range tonePackets(t)[:25] {
		d.Decode(frame, p)
	}
	whole := mediatest.Level(frame)
	d.Conceal(frame)
	if level := mediatest.Level(frame); level < whole-8 || level > whole+1 {
		t.Errorf("the first lost frame has %.1f dBFS after %.1f", level, whole)
	}
	for range 25 {
		d.Conceal(frame)
	}
	if level := mediatest.Level(frame); level > whole-20 {
		t.Errorf("half a second after the last packet there are %.1f dBFS", level)
	}
	for _, p := range tonePackets(t)[25:] {
		d.Decode(frame, p)
	}
	if level := mediatest.Level(frame); math.Abs(level-whole) > 1 {
		t.Errorf("afterwards %.1f dBFS, want %.1f", level, whole)
	}
}

// TestBrokenPackets: whatever comes, all of dst is written and nothing breaks.
func TestBrokenPackets(t *testing.T) {
	d := decoder(t, media.Rate16k)
	good := tonePackets(t)
	for _, p := range [][]byte{{}, {0}, {3}, {0xFF}, {0xFF, 0x3F}, {0x78, 1, 2}, good[3][:5], good[4][:len(good[4])-1]} {
		for _, n := range []int{320, 7, 321, 1920} {
			const unwritten = 12345
			for what, f := range map[string]func(dst []int16){
				"Decode":  func(dst []int16) { d.Decode(dst, p) },
				"Recover": func(dst []int16) { d.Recover(dst, p) },
				"Conceal": d.Conceal,
			} {
				dst := slices.Repeat([]int16{unwritten}, n)
				if f(dst); slices.Contains(dst, unwritten) {
					t.Errorf("% x: %s does not write all of %d samples", p[:min(len(p), 8)], what, n)
				}
			}
		}
	}
	var all []int16
	for _, p := range good {
		frame := make([]int16, media.Rate16k.FrameSamples())
		d.Decode(frame, p)
		all = append(all, frame...)
	}
	if snr := mediatest.SNR(all[len(all)/5:], media.Rate16k, 500); snr < 20 {
		t.Errorf("after them the tone is %.1f dB above the rest", snr)
	}
}

func TestDuration(t *testing.T) {
	for _, tt := range []struct {
		packet []byte
		want   time.Duration
	}{
		{[]byte{0 << 3}, 10 * time.Millisecond},
		{[]byte{3 << 3}, 60 * time.Millisecond},
		{[]byte{13 << 3}, 20 * time.Millisecond},
		{[]byte{14<<3 | 1}, 20 * time.Millisecond},
		{[]byte{16 << 3}, 2500 * time.Microsecond},
		{[]byte{31<<3 | 2}, 40 * time.Millisecond},
		{[]byte{31<<3 | 3, 6}, 120 * time.Millisecond},
		{[]byte{31<<3 | 3, 7}, 0},
		{[]byte{31<<3 | 3, 0}, 0},
		{[]byte{31<<3 | 3}, 0},
		{nil, 0},
	} {
		d, ok := opus.Duration(tt.packet)
		if ok != (tt.want > 0) || ok && d != tt.want {
			t.Errorf("%x lasts %v, %v; want %v", tt.packet, d, ok, tt.want)
		}
	}
	for _, p := range tonePackets(t) {
		if d, ok := opus.Duration(p); !ok || d != media.FrameDuration {
			t.Errorf("a packet of libopus lasts %v, %v", d, ok)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	d, packets, n := decoder(b, media.Rate16k), tonePackets(b), 0
	frame := make([]int16, media.Rate16k.FrameSamples())
	b.ReportAllocs()
	for b.Loop() {
		n++
		d.Decode(frame, packets[n%len(packets)])
	}
}
