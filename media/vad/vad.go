// Package vad decides, frame by frame, whether the caller speaks.
//
// Detector "spectral" needs no trained model. A frame is speech when its spectrum
// is unlikely to be the background's (Sohn 1999) and its level stands out: above
// what the last seconds sounded like, and not far below the caller's own voice.
// Other people talking in the background, 10 dB below the caller or louder, defeat
// it.
//
// Detector "silero" asks a neural network besides. In the talk of eight people 15 dB below the
// caller it starts once for somebody else, and spectral eleven times, beside 33 utterances; at 10 dB it
// does 13 times on the telephone and 5 at 16 kHz, for 27 and 24. It is 20 to 60 ms later at the
// start of speech, and mostly 20 to 70 ms at its end.
//
// Decisions are made per frame and are not smoothed twice: the detector bridges gaps of 60 ms
// and opens on two frames, and package turn counts 60 ms of speech before a caller has the
// floor. In noise 10 dB below, every voice is found within 150 ms of where 60 ms of it can be
// heard; an f that lies 30 dB under the noise comes before that.
package vad

import (
	"fmt"

	"parley/media"
	"parley/media/denoise"
)

// Names of detectors.
const (
	Spectral = "spectral" // the default
	Silero   = "silero"   // Silero VAD, version 5, behind the gate of spectral; see package silero
)

// Detector looks at a caller's audio, one 20 ms frame after another. It neither
// blocks nor allocates, keeps nothing of a frame, and belongs to one goroutine.
//
// Its user counts durations: a caller starts to speak after three frames of
// speech in a row and pauses after some frames without. A detector bridges what is
// too short to be a pause (at most 60 ms) but does not add a wait of its own.
type Detector interface {
	// Detect takes the next frame, as the suppressor got it and after that did: a suppressor turns
	// the talk of others into what sounds more like a voice, and comes late.
	Detect(media.Frame) Decision
	// Reset forgets everything heard.
	Reset()
}

// Decision is what a detector thinks of one frame.
type Decision struct {
	Speech bool    // someone speaks
	Level  float32 // of the voice in the frame, the background taken off, in dBFS (a full-scale sine is -3), -100 at least
}

// New makes the detector of that name for audio of that rate which goes into s. When s
// knows the spectrum (see denoise.Suppressor) the detector uses it, so that spectral
// costs next to nothing. Otherwise, and with a nil s, it makes an analysis of its own.
// Its decision concerns the frame that went into s: it is ahead of the audio that came
// out by the delay of s.
func New(name string, rate media.Rate, s denoise.Suppressor) (Detector, error) {
	if name != Spectral && name != Silero || !rate.Valid() {
		return nil, &Error{Name: name, Rate: rate}
	}
	d := spectral{}
	if s != nil {
		d.analysis = s.Analysis()
	}
	if d.analysis == nil {
		d.own = denoise.NewAnalyser(rate)
	}
	d.Reset()
	if name == Silero {
		return newNeural(rate, d)
	}
	return &d, nil
}

// Error says that there is no such detector, or not for that rate.
type Error struct {
	Name string
	Rate media.Rate
}

func (e *Error) Error() string {
	return fmt.Sprintf("vad: no detector %q for %v", e.Name, e.Rate)
}
