package denoise_test

import (
	"fmt"
	"testing"

	"parley/media"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
)

func BenchmarkSpectral(b *testing.B) { benchmark(b, denoise.Spectral) }

func BenchmarkGTCRN(b *testing.B) { benchmark(b, denoise.GTCRN) }

// benchmark reports ns for a 20 ms frame of speech in noise, and ms per second of audio.
func benchmark(b *testing.B, name string) {
	frames := func(rate media.Rate) []int16 {
		x := noisetest.Mix(noisetest.White(noisetest.Rate*2, 1), noisetest.Pink(noisetest.Rate*2, 1), 10)
		for i := range x {
			x[i] *= 2000 * float64(i/800%2)
		}
		return noisetest.PCM(x)
	}
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k, media.Rate48k} {
		b.Run(fmt.Sprint(int(rate)), func(b *testing.B) {
			s, _ := denoise.New(name, rate)
			x, n := frames(rate), rate.FrameSamples()
			i := 0
			for b.Loop() {
				s.Process(media.Frame{Samples: x[i : i+n], Rate: rate})
				if i += n; i+n > len(x) {
					i = 0
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*50/1e6, "ms/s")
		})
	}
}
