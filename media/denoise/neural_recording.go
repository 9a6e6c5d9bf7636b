package denoise

import (
	"parley/media"
	"parley/media/denoise/gtcrn"
	"parley/media/resample"
)

// neuralRecording is GTCRN over a recording. The network has learnt before, so it cleans in one pass.
type neuralRecording struct {
	up, down *resample.Stream
	net      *gtcrn.Stream
	in       []float32 // what the network takes next
	skip     int       // samples of its delay not yet dropped
	owed     int       // samples taken by Clean and not yet given back
	wide     []int16   // at 16 kHz, as they come
	clean    []int16   // and clean
	tail     int       // samples of silence that make up for what rounding takes off the end
}

func newNeuralRecording(rate media.Rate) (Recording, error) {
	if !resample.Supported(rate, media.Rate16k) || !resample.Supported(media.Rate16k, rate) {
		return nil, &Error{Name: GTCRN, Rate: rate}
	}
	net, err := gtcrn.New()
	if err != nil {
		return nil, err
	}
	return &neuralRecording{up: resample.NewStream(rate, media.Rate16k), down: resample.NewStream(media.Rate16k, rate), net: net,
		in: make([]float32, 0, gtcrn.Hop), skip: gtcrn.Delay, tail: 2 + 2*int(rate/media.Rate16k)}, nil
}

func (*neuralRecording) Learn([]int16) {}

func (r *neuralRecording) Clean(dst, samples []int16) []int16 {
	r.owed += len(samples)
	at := len(dst)
	r.wide = r.up.Convert(r.wide[:0], samples)
	dst = r.run(dst)
	r.owed -= len(dst) - at
	return dst
}

func (r *neuralRecording) Finish(dst []int16) []int16 {
	end := len(dst) + r.owed
	r.wide = r.up.Finish(r.up.Convert(r.wide[:0], make([]int16, r.tail)))
	r.wide = append(r.wide, make([]int16, gtcrn.Delay+gtcrn.Hop)...) // and the last hop is whole
	dst = r.down.Finish(r.run(dst))
	return dst[:end]
}

// run has the network clean what is wide, and appends to dst what is clean by it.
func (r *neuralRecording) run(dst []int16) []int16 {
	r.clean = r.clean[:0]
	for _, v := range r.wide {
		if r.in = append(r.in, float32(v)/32768); len(r.in) < gtcrn.Hop {
			continue
		}
		r.net.Process(r.in, r.in)
		drop := min(r.skip, gtcrn.Hop)
		r.skip -= drop
		for _, v := range r.in[drop:] {
			r.clean = append(r.clean, round(v*32768))
		}
		r.in = r.in[:0]
	}
	return r.down.Convert(dst, r.clean)
}
