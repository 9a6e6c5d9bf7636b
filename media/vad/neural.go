package vad

import (
	"parley/media"
	"parley/media/resample"
	"parley/media/vad/silero"
)

// Settings of the neural detector, in probabilities and frames of 20 ms.
const (
	speechFrom  = 0.5  // opens it
	speechUntil = 0.35 // keeps it open
	neuralHold  = 3    // how long it bridges, which is about a chunk and a half of the network's
	// awakeFrames is how long the network goes on after the last frame that stood out. Then it
	// rests, and begins anew with the next frame that stands out. It needs to know what the
	// background sounds like: with a rest after half a second, talk in the background starts it
	// six times as often.
	awakeFrames = gateFrames
)

// neural is the detector of Silero VAD behind the gate of the spectral one: the network
// knows voices from other sounds, and the gate those of the caller from others. The network
// is asked only while the gate is open, so silence costs nothing.
type neural struct {
	spectral
	net    *silero.Stream
	down   *resample.Resampler // to a rate of the network's
	chunk  []int16             // collects what the network takes next
	awake  int                 // frames until the network rests
	voiced bool                // as of the latest chunk
}

func newNeural(rate media.Rate, s spectral) (Detector, error) {
	at := media.Rate16k
	if rate == media.Rate8k {
		at = rate
	}
	net, err := silero.New(at)
	if err != nil {
		return nil, err
	}
	return &neural{spectral: s, net: net, down: resample.New(rate, at), chunk: make([]int16, 0, net.Chunk())}, nil
}

func (d *neural) Reset() {
	d.spectral.Reset()
	d.rest()
	d.chunk = d.chunk[:0]
	d.down.Reset()
}

func (d *neural) rest() {
	d.net.Reset()
	d.awake, d.voiced = 0, false
}

func (d *neural) Detect(f media.Frame) Decision {
	a := d.analyse(f)
	speaking := d.hold > 0
	out := d.gate.pass(a.Level, speaking && d.voiced)
	switch {
	case out:
		d.awake = awakeFrames
	case d.awake == 1:
		d.rest()
	case d.awake > 0:
		d.awake--
	}
	d.listen(d.down.Process(f).Samples)
	if out && d.voiced {
		d.hold = neuralHold
		return Decision{Speech: true, Level: a.Level}
	}
	d.hold = max(0, d.hold-1)
	return Decision{Speech: speaking, Level: a.Level}
}

// listen has the network hear the samples of a frame while it is awake; while it rests, the
// latest chunk is kept, with which it begins.
func (d *neural) listen(samples []int16) {
	for len(samples) > 0 {
		if len(d.chunk) == cap(d.chunk) {
			if d.awake > 0 {
				d.take()
			} else {
				keep := max(0, cap(d.chunk)-len(samples))
				d.chunk = d.chunk[:copy(d.chunk, d.chunk[len(d.chunk)-keep:])]
			}
		}
		n := min(len(samples), cap(d.chunk)-len(d.chunk))
		d.chunk, samples = append(d.chunk, samples[:n]...), samples[n:]
	}
	if len(d.chunk) == cap(d.chunk) && d.awake > 0 {
		d.take()
	}
}

func (d *neural) take() {
	least := float32(speechFrom)
	if d.voiced {
		least = speechUntil
	}
	d.voiced = d.net.Probability(d.chunk) >= least
	d.chunk = d.chunk[:0]
}
