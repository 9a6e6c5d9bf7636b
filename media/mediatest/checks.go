package mediatest

import (
	"math"
	"testing"
	"time"

	"parley/media"
)

// legChecks are the suite. Each begins with a fresh leg that runs.
var legChecks = []struct {
	name  string
	check func(t testing.TB, c *conductor)
}{
	{"audio both ways", checkAudio},
	{"silence is filled", checkSilence},
	{"pacing", checkPacing},
	{"a stall", checkStall},
	{"flush", checkFlush},
	{"digits", checkDigits},
	{"end of context", checkContext},
	{"far end hangs up", checkHangup},
}

// The tones of the two parties. Neither has a whole number of periods in 20 ms:
// a frame that is lost, repeated or out of order shows in the SNR.
const (
	farTone  = 430
	ourTone  = 1030
	minSNR   = 20 // dB, far below what companding costs and far above a lost frame
	settling = 300 * time.Millisecond
)

// tail is the last d of samples.
func tail(samples []int16, rate media.Rate, d time.Duration) []int16 {
	return samples[max(0, len(samples)-media.FromDuration(d).Samples(rate)):]
}

// wantTone checks that samples are one unbroken tone.
func wantTone(t testing.TB, who string, samples []int16, rate media.Rate, freq float64) {
	t.Helper()
	peak, level := Peak(samples, rate)
	if math.Abs(peak-freq) > 10 {
		t.Errorf("%s: strongest at %.0f Hz with %.0f dBFS, want %.0f Hz", who, peak, level, freq)
		return
	}
	if want := 20*math.Log10(voiceAmplitude) - 3; math.Abs(level-want) > 2 {
		t.Errorf("%s: level %.1f dBFS, want %.1f", who, level, want)
	}
	if snr := SNR(samples, rate, freq); snr < minSNR {
		t.Errorf("%s: SNR %.1f dB, want %d: the tone is broken", who, snr, minSNR)
	}
}

// wantTotal compares lengths of audio.
func wantTotal(t testing.TB, what string, got, low, high media.Time) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %v, want %v to %v", what, got.Duration(), low.Duration(), high.Duration())
	}
}

// checkAudio: both parties talk at once and each hears the other.
func checkAudio(t testing.TB, c *conductor) {
	c.say = &voice{freq: farTone, rate: c.format.In}
	c.speak = &voice{freq: ourTone, rate: c.format.Out}
	c.run(1200 * time.Millisecond)
	wantTone(t, "heard", tail(c.heard, c.format.In, 800*time.Millisecond), c.format.In, farTone)
	wantTone(t, "far end heard", tail(c.received, c.format.Out, 800*time.Millisecond), c.format.Out, ourTone)
}

// checkSilence: the far end is silent from the start, talks, pauses and talks
// again, and all the while the leg keeps up with the clock.
func checkSilence(t testing.TB, c *conductor) {
	for range 2 {
		c.run(800 * time.Millisecond)
		quiet := tail(c.heard, c.format.In, 400*time.Millisecond)
		if level := Level(quiet); len(quiet) == 0 || level > -55 {
			t.Errorf("nothing arrived, and %d samples of %.0f dBFS were heard", len(quiet), level)
		}
		c.say = &voice{freq: farTone, rate: c.format.In}
		c.run(700 * time.Millisecond)
		wantTone(t, "heard after silence", tail(c.heard, c.format.In, 300*time.Millisecond), c.format.In, farTone)
		c.say = nil
	}
}

// checkPacing: a leg asks for no more and no less than it can play.
func checkPacing(t testing.TB, c *conductor) {
	c.speak = &voice{freq: ourTone, rate: c.format.Out}
	lead := media.FromDuration(c.format.Lead)
	c.wantWritten("written in a second", time.Second, lead)
	if c.format.Continuous {
		return
	}
	// Nothing to say for a while must not add up to a debt.
	c.speak, c.stretch = nil, 0
	c.run(c.format.Lead + time.Second)
	c.speak = &voice{freq: ourTone, rate: c.format.Out}
	before := c.spoken
	c.write(time.Now())
	wantTotal(t, "written at once after a pause", c.spoken-before, lead-media.FrameTime, lead+media.FrameTime)
}

// wantWritten conducts for d and checks that as much was written, and lead more.
// Where the test itself was late, less will do.
func (c *conductor) wantWritten(what string, d time.Duration, lead media.Time) {
	c.t.Helper()
	const slack = 2 * media.FrameTime
	begin, before, late := time.Now(), c.spoken, c.late
	c.run(d)
	want := media.FromDuration(time.Since(begin)) + lead
	wantTotal(c.t, what, c.spoken-before, want-slack-(c.late-late), want+slack)
}

// checkStall: the conductor sleeps too long and the leg does not make it write
// what is no use any more.
func checkStall(t testing.TB, c *conductor) {
	if !c.format.Continuous {
		t.Skip("a leg with a lead has no slots to miss")
	}
	c.run(settling)
	time.Sleep(500 * time.Millisecond)
	before := c.spoken
	c.serve(time.Now()) // not more than maxDue frames: write sees to that
	wantTotal(t, "written at once after a stall", c.spoken-before, media.FrameTime, maxDue*media.FrameTime)
	c.wantWritten("written in the half second after", 500*time.Millisecond, 0)
}

// checkFlush: what is flushed is not played, and the books balance.
func checkFlush(t testing.TB, c *conductor) {
	for range 2 {
		c.speak = &voice{freq: ourTone, rate: c.format.Out}
		c.run(500 * time.Millisecond)
		now := time.Now()
		c.listen()
		c.write(now)
		dropped := c.leg.Flush(now)
		if dropped < 0 || dropped > c.spoken-c.flushed-c.played {
			t.Fatalf("Flush dropped %v of %v that were not played", dropped.Duration(), (c.spoken - c.flushed - c.played).Duration())
		}
		c.flushed += dropped
		c.progress(now)
		if again := c.leg.Flush(now); again != 0 {
			t.Errorf("a second Flush dropped %v more", again.Duration())
		}
		c.speak, c.stretch = nil, 0
		c.run(c.format.Lead + settling)
	}
	left := c.spoken - c.flushed
	behind := 3 * media.FrameTime
	if c.format.Continuous {
		behind = media.FromDuration(settling) // frames on their way, by an estimate
	}
	wantTotal(t, "Played in the end", c.played, left-behind, left)
	got := c.format.Out.Duration(len(c.received))
	wantTotal(t, "played by the far end", got, left-behind, left+2*media.FrameTime)
}

// checkDigits: each key press is one event.
func checkDigits(t testing.TB, c *conductor) {
	const keys = "5#55*"
	c.run(settling)
	got := ""
	for _, key := range []byte(keys) {
		if !c.far.Digit(key) {
			t.Skip("this far end has no keys")
		}
		c.run(260 * time.Millisecond)
		for len(c.leg.Events()) > 0 {
			e := <-c.leg.Events()
			if e.Kind != media.LegDigit {
				t.Errorf("event %+v, want a digit", e)
			}
			got += string(rune(e.Digit))
		}
	}
	if got != keys {
		t.Errorf("digits %q, want %q", got, keys)
	}
}

// checkContext: the end of the context ends Run without a fault.
func checkContext(t testing.TB, c *conductor) {
	c.say = &voice{freq: farTone, rate: c.format.In}
	c.run(settling)
	c.stopRun(&media.Ended{Reason: media.AgentHangup})
	if err := c.ended(); err != nil {
		t.Errorf("Run: %v, want nil", err)
	}
	c.afterwards(t)
}

// checkHangup: an ordinary goodbye of the far end ends Run without a fault.
func checkHangup(t testing.TB, c *conductor) {
	c.say = &voice{freq: farTone, rate: c.format.In}
	c.speak = &voice{freq: ourTone, rate: c.format.Out}
	c.run(settling)
	if !c.far.Hangup() {
		t.Skip("this far end has no word for goodbye")
	}
	if err := c.ended(); err != nil {
		t.Errorf("Run: %v, want nil", err)
	}
	c.afterwards(t)
}

// afterwards: a conductor that has not noticed the end yet comes to no harm, and
// the channel of events is not closed.
func (c *conductor) afterwards(t testing.TB) {
	now := time.Now()
	c.leg.Next()
	for range 50 {
		if _, ok := c.leg.Read(now); !ok {
			break
		}
	}
	if c.leg.Due(now) > 0 {
		c.writeFrame(nil)
	}
	c.leg.Flush(now)
	c.leg.Played(now)
	select {
	case _, ok := <-c.leg.Events():
		if !ok {
			t.Error("Events was closed")
		}
	default:
	}
}
