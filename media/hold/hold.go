// Package hold plays what callers hear while somebody is called for them: our own music, or a recording, which begin again at their end.
//
// Music is made in code when it is first asked for. A recording stays as it is stored, in G.722, and is decoded while it plays, so that
// a call holds no more of it than its players share.
package hold

import (
	"parley/media"
	"parley/media/g722"
	"parley/media/resample"
)

// codesPerFrame is how many bytes of G.722 are 20 ms.
const codesPerFrame = 160

// Player plays a sound from its beginning, again and again. It belongs to one goroutine.
type Player struct {
	samples []int16 // 16 kHz; nil: the sound is coded
	codes   []byte
	at      int // the next frame
	decoder g722.Decoder
	decoded []int16
	to      *resample.Resampler
}

// Music returns a player of our music for a leg that takes frames of a rate. The first call computes it, for a tenth of a second or so.
func Music(rate media.Rate) *Player {
	return &Player{samples: music(), to: resample.New(g722.Rate, rate)}
}

// Recording returns a player of what Encode has made, which it does not change and many may share, for a leg that takes frames of a
// rate. Of codes of less than 20 ms it plays silence.
func Recording(codes []byte, rate media.Rate) *Player {
	return &Player{codes: codes, decoded: make([]int16, g722.Rate.FrameSamples()), to: resample.New(g722.Rate, rate)}
}

// Next is the next frame. It is valid until the next call of Next, which does not allocate.
func (p *Player) Next() media.Frame {
	f := media.Frame{Samples: p.decoded, Rate: g722.Rate}
	if p.samples != nil {
		n := g722.Rate.FrameSamples()
		if p.at+n > len(p.samples) {
			p.at = 0
		}
		f.Samples = p.samples[p.at : p.at+n]
		p.at += n
	} else {
		p.decode()
	}
	return p.to.Process(f)
}

// decode decodes the next frame of a recording. Each time that it begins, the decoder is as the encoder was there.
func (p *Player) decode() {
	if p.at+codesPerFrame > len(p.codes) {
		p.at, p.decoder = 0, g722.Decoder{}
	}
	p.at += p.decoder.Decode(p.decoded, p.codes[p.at:min(p.at+codesPerFrame, len(p.codes))]) / 2
}

// fade is how long a recording swells at its beginning and dies away at its end, in samples: 10 ms. Else it would click where it begins again.
const fade = 160

// Encode returns samples at 16 kHz, which it changes, as Recording takes them: whole frames, which fade at both ends. What is not a whole
// frame at the end is filled up with silence.
func Encode(samples []int16) []byte {
	n := g722.Rate.FrameSamples()
	for i := range min(fade, len(samples)/2) {
		last := len(samples) - 1 - i
		samples[i] = int16(int(samples[i]) * i / fade)
		samples[last] = int16(int(samples[last]) * i / fade)
	}
	if over := len(samples) % n; over > 0 {
		samples = append(samples, make([]int16, n-over)...)
	}
	codes := make([]byte, len(samples)/2)
	new(g722.Encoder).Encode(codes, samples)
	return codes
}

// Decode returns what Encode has encoded, at 16 kHz.
func Decode(codes []byte) []int16 {
	samples := make([]int16, 2*len(codes))
	new(g722.Decoder).Decode(samples, codes)
	return samples
}
