package listen_test

import (
	"slices"
	"testing"

	"parley/media"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
	"parley/media/vad"
	"parley/pipeline/listen"
)

// TestDetectorsHearTheLine: whatever cleans the caller's audio, a detector hears them in the same frames. What a
// suppressor leaves of the talk of others would start the neural one.
func TestDetectorsHearTheLine(t *testing.T) {
	const rate = media.Rate8k
	u := noisetest.Utterances(t)
	half := noisetest.Lay(u[:3], 1).Halve().Samples
	line := noisetest.PCM(noisetest.Mix(half, noisetest.HalveNoise(noisetest.Babble(u)(2*len(half), 1)), 10))
	for _, detector := range []string{vad.Spectral, vad.Silero} {
		var want []bool
		for _, denoiser := range []string{denoise.Off, denoise.Spectral, denoise.GTCRN} {
			front, err := listen.NewFrontEnd(denoiser, detector, rate)
			if err != nil {
				t.Fatal(err)
			}
			var got []bool
			for rest, n := line, rate.FrameSamples(); len(rest) >= n; rest = rest[n:] {
				_, a := front.Hear(media.Frame{Samples: rest[:n], Rate: rate})
				got = append(got, a.Speech)
			}
			if denoiser == denoise.Off {
				want = got
			}
			if !slices.Contains(got, true) || !slices.Equal(got, want) {
				t.Errorf("%s behind %s hears something else", detector, denoiser)
			}
		}
	}
}
