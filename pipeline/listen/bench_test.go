package listen_test

import (
	"testing"

	"parley/media"
	"parley/media/codec"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
	"parley/media/vad"
	"parley/pipeline/listen"
)

// BenchmarkBands is 20 ms of a caller's audio in half the band and in all of it, through the denoiser and the detector of
// most calls, from the packet and from its samples on.
func BenchmarkBands(b *testing.B) {
	u := noisetest.Utterances(b)
	whole := noisetest.Lay(u[:3], 1).Samples
	noisy := noisetest.Mix(whole, noisetest.Babble(u)(len(whole), 1), 10)
	for _, c := range []codec.Codec{codec.PCMU, codec.G722} {
		rate, audio := c.Rate(), noisetest.PCM(noisy)
		if rate == media.Rate8k {
			audio = noisetest.PCM(noisetest.Halve(noisy))
		}
		n := rate.FrameSamples()
		frames := len(audio) / n
		payloads, encoder := make([]byte, 160*frames), codec.NewEncoder(rate)
		for i := range frames {
			encoder.Encode(c, payloads[160*i:][:160], audio[n*i:][:n])
		}
		for _, decoded := range []bool{false, true} {
			name := c.String() + "/packet"
			if decoded {
				name = c.String() + "/samples"
			}
			b.Run(name, func(b *testing.B) {
				front, err := listen.NewFrontEnd(denoise.Spectral, vad.Spectral, rate)
				if err != nil {
					b.Fatal(err)
				}
				decoder, frame := codec.NewDecoder(rate), make([]int16, n)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					at := i % frames
					if decoded {
						copy(frame, audio[n*at:])
					} else {
						decoder.Decode(frame, c.PayloadType(), payloads[160*at:][:160])
					}
					front.Hear(media.Frame{Samples: frame, Rate: rate})
				}
			})
		}
	}
}
