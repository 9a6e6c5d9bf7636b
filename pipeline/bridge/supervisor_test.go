package bridge_test

import (
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/pipeline/bridge"
)

// TestSupervisor: a voice is heard at the far end's rate, whole; what comes while nobody takes it is bounded, and what was said before
// the supervisor began is not heard.
func TestSupervisor(t *testing.T) {
	from, to := media.Rate16k, media.Rate8k
	n := from.FrameSamples()
	s, now := bridge.NewSupervisor("usr_1", from, t.Context(), nil), time.Unix(0, 0)
	loud := make([]int16, n)
	for i := range loud {
		loud[i] = 20000
	}
	for range 1000 {
		s.Say(loud)
	}
	s.Begin(to)
	if s.Ready(now) {
		t.Error("what was said before is heard")
	}
	tone := mediatest.Tone(700, from, int(from), 0.3)
	var heard []int16
	for i := 0; i+n <= len(tone); i += n {
		s.Say(tone[i : i+n])
		if s.Ready(now) {
			heard = append(heard, s.Next().Samples...)
		}
		now = now.Add(media.FrameDuration)
	}
	if len(heard) < 45*to.FrameSamples() {
		t.Errorf("%d samples of 8000 are heard", len(heard))
	}
	if snr := mediatest.SNR(heard[len(heard)/5:], to, 700); snr < 60 {
		t.Errorf("heard at %.1f dB", snr)
	}
	if n := testing.AllocsPerRun(1000, func() {
		s.Say(loud)
		s.Ready(now)
		s.Next()
	}); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
