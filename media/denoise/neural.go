package denoise

import (
	"parley/media"
	"parley/media/denoise/gtcrn"
	"parley/media/resample"
)

// neural is GTCRN at any rate. The network works at 16 kHz, so other rates are converted to that and
// back, and what is above 8 kHz is lost. The analysis is that of spectral, of what comes in: a detector
// waits for neither the network nor the resamplers.
type neural struct {
	a        *Analyser
	net      *gtcrn.Stream
	up, down *resample.Resampler
	in       []float32 // what the network takes next
	ready    []float32 // what it gave and no frame has taken yet
	framing  int       // samples of silence that ready begins with
	out      []int16
}

// framing is how many samples of 16 kHz are in store at first, so that there is always a whole frame:
// of the 320 samples of one, up to 192 wait until the network has a hop of 256.
const framing = 192

func newNeural(rate media.Rate) (Suppressor, error) {
	net, err := gtcrn.New()
	if err != nil {
		return nil, err
	}
	n := &neural{
		a: NewAnalyser(rate), net: net, framing: framing,
		up: resample.New(rate, media.Rate16k), down: resample.New(media.Rate16k, rate),
		in:  make([]float32, 0, gtcrn.Hop),
		out: make([]int16, media.Rate16k.FrameSamples()),
	}
	if n.Delay()%rate.Tick() != 0 { // one makes it whole samples of 8 kHz
		n.framing++
	}
	n.ready = make([]float32, n.framing, n.framing+len(n.out))
	return n, nil
}

func (n *neural) Analysis() *Analysis { return &n.a.out }

// Delay is 28 ms, of which 16 are the network's, and that of the resamplers.
func (n *neural) Delay() media.Time {
	return n.up.Delay() + media.Rate16k.Duration(gtcrn.Delay+n.framing) + n.down.Delay()
}

func (n *neural) Reset() {
	n.a.Reset()
	n.net.Reset()
	n.up.Reset()
	n.down.Reset()
	n.in = n.in[:0]
	n.ready = n.ready[:n.framing]
	clear(n.ready)
}

// Process cleans one frame of 20 ms at the suppressor's rate; what is missing of it is silence. The
// samples of the argument stay as they are.
func (n *neural) Process(f media.Frame) media.Frame {
	n.a.Analyse(f)
	wide := n.up.Process(f).Samples
	for i := range n.out {
		v := float32(0)
		if i < len(wide) {
			v = float32(wide[i]) / 32768
		}
		if n.in = append(n.in, v); len(n.in) == gtcrn.Hop {
			at := len(n.ready)
			n.ready = n.ready[:at+gtcrn.Hop]
			n.net.Process(n.ready[at:], n.in)
			n.in = n.in[:0]
		}
	}
	for i, v := range n.ready[:len(n.out)] {
		n.out[i] = round(v * 32768)
	}
	n.ready = n.ready[:copy(n.ready, n.ready[len(n.out):])]
	return n.down.Process(media.Frame{Samples: n.out, Rate: media.Rate16k, At: f.At})
}
