package vad_test

import (
	"fmt"
	"testing"

	"parley/media"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
	"parley/media/vad"
)

// BenchmarkDetect is a detector with its own analysis, in ms per second of somebody who speaks half of the
// time where others talk; behind the spectral suppressor it costs what "shared" says and the suppressor besides.
func BenchmarkDetect(b *testing.B) {
	u := noisetest.Utterances(b)
	tracks := mixed(noisetest.Lay(u, 2), noisetest.Babble(u), 15)
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		x, n := noisetest.PCM(tracks[rate].Samples), rate.FrameSamples()
		for _, c := range []struct{ name, detector string }{{"own", vad.Spectral}, {"shared", vad.Spectral}, {"silero", vad.Silero}} {
			b.Run(fmt.Sprintf("%d/%s", int(rate), c.name), func(b *testing.B) {
				var s denoise.Suppressor
				if c.name == "shared" {
					s, _ = denoise.New(denoise.Spectral, rate)
					s.Process(media.Frame{Samples: x[:n], Rate: rate})
				}
				d, err := vad.New(c.detector, rate, s)
				if err != nil {
					b.Fatal(err)
				}
				i := 0
				for b.Loop() {
					d.Detect(media.Frame{Samples: x[i : i+n], Rate: rate})
					if i += n; i+n > len(x) {
						i = 0
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*50/1e6, "ms/s")
			})
		}
	}
}

// BenchmarkFinds is what each detector, behind the usual suppressor, finds of the utterances of a track in noise, at 8 and at
// 16 kHz together: how often it starts where nobody speaks, how many it misses, and how late it is in the median.
func BenchmarkFinds(b *testing.B) {
	u := noisetest.Utterances(b)
	track := noisetest.Lay(u, 2)
	noises := noisetest.Noises(u)
	for _, c := range []struct {
		noise string
		snr   float64
	}{{"white", 10}, {"pink", 10}, {"car", 5}, {"babble", 15}, {"babble", 10}} {
		tracks := mixed(track, noises[c.noise], c.snr)
		for _, detector := range []string{vad.Spectral, vad.Silero} {
			b.Run(fmt.Sprintf("%s-%.0f-dB/%s", c.noise, c.snr, detector), func(b *testing.B) {
				var all found
				for b.Loop() {
					all = found{}
					for rate, m := range tracks {
						f := consume(detect(b, detector, denoise.Spectral, rate, noisetest.PCM(m.Samples)), m, rate, noisetest.SpeechLevel-c.snr, 0)
						all.falseStarts, all.missed, all.onset = all.falseStarts+f.falseStarts, all.missed+f.missed, append(all.onset, f.onset...)
					}
				}
				b.ReportMetric(float64(all.falseStarts), "false-starts")
				b.ReportMetric(float64(all.missed), "missed")
				b.ReportMetric(float64(quantile(all.onset, 50)), "onset-ms")
				b.ReportMetric(float64(len(tracks)*len(track.Spans)), "utterances")
			})
		}
	}
}
