package bridge

import (
	"math/rand"
	"slices"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
)

// carried has frames of a level come through a pipe, each late by what late says, and
// somebody take one every 20 ms. It returns how many of those taken were missing, not
// counting the first two seconds, and how long the last one had waited.
func carried(p *pipe, from, frames int, level int16, late func(i int) time.Duration) (missing int, delay time.Duration) {
	const size = 160
	start := time.Unix(0, 0)
	samples := make([]int16, size)
	came, at := from, time.Time{}
	for tick := from; tick < from+frames; tick++ {
		now := start.Add(time.Duration(tick) * media.FrameDuration).Add(time.Millisecond)
		for came < from+frames {
			// None overtakes another.
			if due := start.Add(time.Duration(came)*media.FrameDuration + late(came)); due.After(at) {
				at = due
			}
			if at.After(now) {
				break
			}
			for i := range samples {
				samples[i] = level
			}
			p.push(media.Frame{Samples: samples, Rate: media.Rate8k}, at)
			came++
		}
		p.next()
		if !p.flows && tick-from > pipeWindow {
			missing++
		}
	}
	return missing, time.Duration(p.n) * media.FrameDuration
}

func punctual(int) time.Duration { return 0 }

// TestPipe: what is saved up between two people follows how late their frames come.
func TestPipe(t *testing.T) {
	const seconds = 50
	p := newPipe(media.Rate8k, media.Rate8k)
	if missing, delay := carried(p, 0, 10*seconds, 5000, punctual); missing > 0 || delay > 2*media.FrameDuration {
		t.Errorf("of frames in time %d were missing, delay %v", missing, delay)
	}
	// Up to 120 ms late, as over a mobile network.
	random := rand.New(rand.NewSource(1))
	jitter := make([]time.Duration, 100*seconds)
	for i := range len(jitter) - 10 {
		jitter[i] = time.Duration(random.Intn(120)) * time.Millisecond
	}
	missing, delay := carried(p, 10*seconds, 40*seconds, 5000, func(i int) time.Duration { return jitter[i+len(jitter)-50*seconds] })
	if missing > 40*seconds/20 {
		t.Errorf("of 40 s of frames %d were missing", missing)
	}
	if p.ahead < 4 || delay > 200*time.Millisecond {
		t.Errorf("%d frames are saved up, delay %v", p.ahead, delay)
	}
	// The network is good again: nothing is cut from speech, and in silence a frame a second.
	carried(p, 50*seconds, 3*seconds, 5000, punctual)
	before := p.ahead
	if carried(p, 53*seconds, 7*seconds, 5000, punctual); p.ahead != before {
		t.Errorf("in speech it went from %d frames to %d", before, p.ahead)
	}
	if carried(p, 60*seconds, 2*seconds, 0, punctual); p.ahead < before-2 || p.ahead >= before {
		t.Errorf("after two seconds of silence it went from %d frames to %d", before, p.ahead)
	}
	if missing, delay = carried(p, 62*seconds, 10*seconds, 0, punctual); missing > 0 || p.ahead != pipeLeast || delay > 3*media.FrameDuration {
		t.Errorf("at the end %d frames, delay %v, %d were missing", p.ahead, delay, missing)
	}
}

// TestPipeIsBounded: however much comes at once, and after a pause of any length.
func TestPipeIsBounded(t *testing.T) {
	p := newPipe(media.Rate8k, media.Rate8k)
	carried(p, 0, 100, 5000, punctual)
	for i := range 50 {
		p.push(media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k}, time.Unix(3, int64(i)))
	}
	if p.n != pipeFrames {
		t.Errorf("%d frames wait", p.n)
	}
	p = newPipe(media.Rate8k, media.Rate8k)
	carried(p, 0, 200, 5000, punctual)
	if carried(p, 1000, 200, 5000, punctual); p.ahead != pipeLeast {
		t.Errorf("after a hold %d frames are saved up", p.ahead)
	}
}

// TestPipeBetweenRates: two people whose legs differ hear each other as they speak.
func TestPipeBetweenRates(t *testing.T) {
	for _, c := range [][2]media.Rate{{media.Rate8k, media.Rate16k}, {media.Rate16k, media.Rate8k}, {media.Rate48k, media.Rate16k}} {
		from, to := c[0], c[1]
		p, tone, now := newPipe(from, to), mediatest.Tone(700, from, int(from), 0.3), time.Unix(0, 0)
		var heard []int16
		for frame := range slices.Chunk(tone, from.FrameSamples()) {
			p.push(media.Frame{Samples: frame, Rate: from}, now)
			f := p.next()
			if f.Rate != to || len(f.Samples) != to.FrameSamples() {
				t.Fatalf("%v to %v: a frame of %d samples at %v", from, to, len(f.Samples), f.Rate)
			}
			heard = append(heard, f.Samples...)
			now = now.Add(media.FrameDuration)
		}
		if snr := mediatest.SNR(heard[to/5:], to, 700); snr < 60 {
			t.Errorf("%v to %v: heard at %.1f dB", from, to, snr)
		}
	}
}

func TestPipeDoesNotAllocate(t *testing.T) {
	p, f := newPipe(media.Rate8k, media.Rate16k), media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k}
	now := time.Unix(0, 0)
	if n := testing.AllocsPerRun(1000, func() {
		now = now.Add(media.FrameDuration)
		p.push(f, now)
		p.next()
	}); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
