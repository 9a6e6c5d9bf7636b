package resample

import (
	"slices"
	"testing"

	"parley/media"
	"parley/media/mediatest"
)

// Pieces of any length make what frames make.
func TestPieces(t *testing.T) {
	for _, c := range [][2]media.Rate{{media.Rate8k, media.Rate16k}, {media.Rate16k, media.Rate8k}} {
		from, to := c[0], c[1]
		in := mediatest.Tone(700, from, 20*from.FrameSamples(), 0.5)
		want := stream(t, New(from, to), in, from, to)
		p, got := NewPieces(from, to), make([]int16, len(want))
		for done, n := 0, 0; done < len(in); done += n {
			n = min(2*(1+done%151), len(in)-done)
			at := done * int(to) / int(from)
			p.Convert(got[at:at+n*int(to)/int(from)], in[done:done+n])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v to %v differs from what frames make", from, to)
		}
		dst, frame := make([]int16, to.FrameSamples()), in[:from.FrameSamples()]
		mediatest.NoAllocs(t, func() { p.Convert(dst, frame) })
	}
}

func BenchmarkPieces(b *testing.B) {
	for name, c := range map[string][2]media.Rate{"8000-16000": {media.Rate8k, media.Rate16k}, "16000-8000": {media.Rate16k, media.Rate8k}} {
		b.Run(name, func(b *testing.B) {
			p, dst, src := NewPieces(c[0], c[1]), make([]int16, c[1].FrameSamples()), make([]int16, c[0].FrameSamples())
			for b.Loop() {
				p.Convert(dst, src)
			}
		})
	}
}
