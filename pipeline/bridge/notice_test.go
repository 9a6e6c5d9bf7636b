package bridge

import (
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
)

// TestNotice: the tone is of 1.4 kHz, soft, and does not drown a voice nor wrap around over a loud one; it allocates nothing.
func TestNotice(t *testing.T) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k, media.Rate48k} {
		n, now := Notice{On: true}, time.Unix(0, 0)
		n.Listens(1)
		var heard []int16
		for n.Sounds(now) {
			heard = append(heard, n.Over(media.Silence(rate)).Samples...)
		}
		if len(heard) != 10*rate.FrameSamples() {
			t.Errorf("at %v it lasts %d samples", rate, len(heard))
		}
		if snr := mediatest.SNR(heard, rate, noticeHz); snr < 50 {
			t.Errorf("at %v it is no clean tone: %.0f dB", rate, snr)
		}
		if level := mediatest.ToneLevel(heard, rate, noticeHz); level > -20 || level < -30 {
			t.Errorf("at %v it has %.0f dBFS", rate, level)
		}
		if n.Sounds(now.Add(noticeEvery - time.Millisecond)) {
			t.Error("it sounds again too early")
		}
	}
	n, now := Notice{On: true}, time.Unix(0, 0)
	loud := media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k}
	for i := range loud.Samples {
		loud.Samples[i] = 32000
	}
	n.Listens(1)
	for n.Sounds(now) {
		for _, v := range n.Over(loud).Samples {
			if v < 29000 {
				t.Fatalf("a sample of 32,000 becomes %d", v)
			}
		}
	}
	if allocs := testing.AllocsPerRun(100, func() {
		if now = now.Add(media.FrameDuration); n.Sounds(now) {
			n.Over(loud)
		}
	}); allocs > 0 {
		t.Errorf("%v allocations a frame", allocs)
	}
}
