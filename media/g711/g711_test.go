package g711

import (
	"math"
	"testing"
)

var codecs = []Codec{PCMU, PCMA}

// expand is the decoder as the standard's tables define it, written as arithmetic.
func expand(c Codec, b byte) int {
	if c == PCMA {
		b ^= 0x55
		seg, low := int(b>>4&7), int(b&15)
		v := low<<4 + 8
		if seg > 0 {
			v = (v + 0x100) << (seg - 1)
		}
		if b&0x80 == 0 {
			return -v
		}
		return v
	}
	b = ^b
	v := (int(b&15)<<3+0x84)<<(b>>4&7) - 0x84
	if b&0x80 != 0 {
		return -v
	}
	return v
}

func TestDecodeIsTheStandardsTable(t *testing.T) {
	for _, c := range codecs {
		var out [1]int16
		for b := range 256 {
			c.Decode(out[:], []byte{byte(b)})
			if got, want := int(out[0]), expand(c, byte(b)); got != want {
				t.Errorf("%v code %#02x = %d, want %d", c, b, got, want)
			}
		}
	}
}

// Every sample must get a code in whose interval it lies: half a step from the
// level at most, and a step is twice as wide in each further segment.
func TestEncodeStaysWithinHalfAStep(t *testing.T) {
	for _, c := range codecs {
		var code [1]byte
		for s := math.MinInt16; s <= math.MaxInt16; s++ {
			c.Encode(code[:], []int16{int16(s)})
			half := 4 << (^code[0] >> 4 & 7)
			if c == PCMA {
				half = 8 << max(0, int((code[0]^0x55)>>4&7)-1)
			}
			level := expand(c, code[0])
			clipped := abs(s) > abs(level) && abs(level) > 32000
			// The standard drops the sample's low bits first: 4 units at most.
			if e := abs(level - s); e > half+4 && !clipped {
				t.Fatalf("%v sample %d became %d, half a step is %d", c, s, level, half)
			}
		}
	}
}

func TestCodesSurviveARoundTrip(t *testing.T) {
	for _, c := range codecs {
		for b := range 256 {
			if c == PCMU && b == 0x7F { // negative zero comes back as positive zero
				continue
			}
			var pcm [1]int16
			var code [1]byte
			c.Decode(pcm[:], []byte{byte(b)})
			c.Encode(code[:], pcm[:])
			if code[0] != byte(b) {
				t.Errorf("%v code %#02x became %#02x", c, b, code[0])
			}
		}
	}
}

func TestShortSlices(t *testing.T) {
	pcm, code := make([]int16, 5), make([]byte, 3)
	for _, c := range codecs {
		if n := c.Encode(code, pcm); n != 3 {
			t.Errorf("%v: encoded %d into 3 bytes", c, n)
		}
		if n := c.Decode(pcm[:2], code); n != 2 {
			t.Errorf("%v: decoded %d into 2 samples", c, n)
		}
		if n := c.Decode(nil, nil); n != 0 {
			t.Errorf("%v: decoded %d from nothing", c, n)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	pcm, code := make([]int16, 160), make([]byte, 160)
	for _, c := range codecs {
		if n := testing.AllocsPerRun(100, func() { c.Encode(code, pcm); c.Decode(pcm, code) }); n != 0 {
			t.Errorf("%v: %v allocations a frame", c, n)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	pcm, code := make([]int16, 160), make([]byte, 160)
	for i := range pcm {
		pcm[i] = int16(20000 * math.Sin(float64(i)/7))
	}
	for _, c := range codecs {
		b.Run(c.String(), func(b *testing.B) {
			for b.Loop() {
				c.Encode(code, pcm)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	pcm, code := make([]int16, 160), make([]byte, 160)
	for i := range code {
		code[i] = byte(i * 7)
	}
	for _, c := range codecs {
		b.Run(c.String(), func(b *testing.B) {
			for b.Loop() {
				c.Decode(pcm, code)
			}
		})
	}
}

func abs(v int) int { return max(v, -v) }
