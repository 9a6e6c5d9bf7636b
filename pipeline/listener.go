package pipeline

import (
	"fmt"

	"parley/media"
	"parley/media/denoise"
	"parley/media/vad"
)

// listener is a denoiser and the detector that reads its spectrum.
type listener struct {
	clean  denoise.Suppressor
	detect vad.Detector
}

// NewListener returns the named denoiser and voice activity detector for a leg
// that hears at rate.
func NewListener(denoiser, detector string, rate media.Rate) (Listener, error) {
	clean, err := denoise.New(denoiser, rate)
	if err != nil {
		return nil, fmt.Errorf("denoiser: %w", err)
	}
	detect, err := vad.New(detector, rate, clean)
	if err != nil {
		return nil, fmt.Errorf("detector: %w", err)
	}
	return &listener{clean, detect}, nil
}

// Hear implements Listener.
func (l *listener) Hear(f media.Frame) (media.Frame, Activity) {
	f = l.clean.Process(f)
	d := l.detect.Detect(f)
	return f, Activity{Speech: d.Speech, Level: d.Level}
}
