package loopbacktest

import (
	"encoding/binary"
	"iter"
	"math"
	"time"

	"parley/media/g711"
)

// Coding is how samples stand in bytes.
type Coding uint8

// The codings of the engines. Numbers have the lowest byte first.
const (
	S16 Coding = iota + 1
	S32
	F32
	Mulaw
	Alaw
)

// Width is the bytes of a sample.
func (c Coding) Width() int {
	switch c {
	case S16:
		return 2
	case S32, F32:
		return 4
	}
	return 1
}

// Encode makes the bytes of samples.
func (c Coding) Encode(samples []int16) []byte {
	b := make([]byte, len(samples)*c.Width())
	switch c {
	case Mulaw:
		g711.PCMU.Encode(b, samples)
	case Alaw:
		g711.PCMA.Encode(b, samples)
	default:
		for i, s := range samples {
			switch c {
			case S16:
				binary.LittleEndian.PutUint16(b[2*i:], uint16(s))
			case S32:
				binary.LittleEndian.PutUint32(b[4*i:], uint32(int32(s)<<16))
			case F32:
				binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(s)/(1<<15)))
			}
		}
	}
	return b
}

// Decode makes the samples of bytes. What is left after the last whole one does not count.
func (c Coding) Decode(b []byte) []int16 {
	samples := make([]int16, len(b)/c.Width())
	switch c {
	case Mulaw:
		g711.PCMU.Decode(samples, b)
	case Alaw:
		g711.PCMA.Decode(samples, b)
	default:
		for i := range samples {
			switch c {
			case S16:
				samples[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
			case S32:
				samples[i] = int16(binary.LittleEndian.Uint32(b[4*i:]) >> 16)
			case F32:
				f := math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
				samples[i] = int16(max(-1, min(1, f)) * math.MaxInt16)
			}
		}
	}
	return samples
}

// toneHz is the pitch of a tone: one that stands out in speech, and whose period is whole
// samples at most rates.
const toneHz = 400

// Tone is n samples of a tone, from the sample from on, at a level in dBFS of its peak.
// The same samples come out whatever pieces they are asked for in.
func Tone(n, from, rate int, level float64) []int16 {
	samples, peak := make([]int16, n), math.Pow(10, level/20)*math.MaxInt16
	for i := range samples {
		samples[i] = int16(math.Round(peak * math.Sin(2*math.Pi*toneHz*float64(from+i)/float64(rate))))
	}
	return samples
}

// Level is the root mean square of samples in dBFS; of none, and of zeros, -Inf.
func Level(samples []int16) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return 10 * math.Log10(sum/float64(max(1, len(samples)))/(1<<30))
}

// Quiet is the level in dBFS of audio that nobody speaks in, Loud of speech.
const (
	Quiet = -90
	Loud  = -20
)

// Sound is audio at 8 kHz of a length and a level, in messages of a length each.
func Sound(c Coding, length, each time.Duration, level float64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for ; length > 0; length -= each {
			if !yield(c.Encode(Tone(int(min(length, each).Milliseconds())*8, 0, 8000, level))) {
				return
			}
		}
	}
}

// Recorded makes the audio of a golden exchange at 8 kHz, for TestReplays.
func Recorded(c Coding) func(bytes, level int) []byte {
	return func(bytes, level int) []byte {
		if level == 0 {
			level = Quiet
		}
		return c.Encode(Tone(bytes/c.Width(), 0, 8000, float64(level)))
	}
}
