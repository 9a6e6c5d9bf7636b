package tts

import (
	"parley/media"
	"parley/media/resample"
)

// joined makes one 44.1 kHz stream of what the engine gives piece by piece: the
// resampler's history joins pieces without a seam, and its delay is taken out, so
// that marks stay where they are. When the engine's rate changes, which happens
// when another one takes over, a new resampler follows.
type joined struct {
	rate  media.Rate
	conv  *resample.Resampler
	in    []int16    // less than a frame, not yet converted
	skip  int        // samples of the filter's delay to drop
	taken media.Time // audio that came in
	made  int        // samples that came out, the waiting ones included
	out   []int16    // samples that wait
}

// write takes samples of the engine in; they are not kept.
func (j *joined) write(samples []int16, rate media.Rate) {
	if rate != j.rate {
		j.end()
		j.rate, j.conv = rate, resample.New(rate, Rate)
		j.skip = int((j.conv.Delay() + Rate.Tick()/2) / Rate.Tick())
	}
	j.taken += rate.Duration(len(samples))
	frame := rate.FrameSamples()
	if len(j.in) > 0 {
		n := min(len(samples), frame-len(j.in))
		j.in = append(j.in, samples[:n]...)
		samples = samples[n:]
		if len(j.in) < frame {
			return
		}
		j.convert(j.in)
		j.in = j.in[:0]
	}
	for ; len(samples) >= frame; samples = samples[frame:] {
		j.convert(samples[:frame])
	}
	j.in = append(j.in, samples...)
}

func (j *joined) convert(frame []int16) {
	out := j.conv.Process(media.Frame{Samples: frame, Rate: j.rate}).Samples
	n := min(j.skip, len(out))
	j.skip -= n
	j.made += len(out) - n
	j.out = append(j.out, out[n:]...)
}

// end brings out what the resampler holds: as much audio has come out then as went
// in.
func (j *joined) end() {
	if j.conv == nil {
		return
	}
	all := j.taken.Samples(Rate)
	for j.made < all || len(j.in) > 0 {
		j.convert(j.in) // the resampler takes what is missing for silence
		j.in = j.in[:0]
	}
	j.out = j.out[:len(j.out)-(j.made-all)]
	j.made, j.conv, j.rate = all, nil, 0
}

// take gives the first n samples that wait away.
func (j *joined) take(n int) []int16 {
	samples := append(make([]int16, 0, n), j.out[:n]...)
	j.out = j.out[:copy(j.out, j.out[n:])]
	return samples
}

// given is the time up to which samples were taken away.
func (j *joined) given() media.Time { return Rate.Duration(j.made - len(j.out)) }
