package mediatest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
)

// Bounds of the suite. A frame is 20 ms of audio, so a leg without any lag is up
// to a frame behind the clock when it is asked.
const (
	maxLag = 200*media.Millisecond + media.FrameTime
	// wakeUpSlack is how late this test's own wake-ups may be in real time.
	wakeUpSlack = 60 * media.Millisecond
	maxAhead    = 5 * media.FrameTime // more than that was not said yet
	maxDue      = 2                   // of a continuous leg, after a stall
	maxSpins    = 50                  // wake-ups in a row that change nothing
	runPatience = 10 * time.Second    // for Run to return
)

// conductor plays the part of a call with a leg: it sleeps until Next, reads and
// writes, as the goroutine of a call does, and checks at every step what holds at
// every step. The far end talks meanwhile.
type conductor struct {
	t      testing.TB
	leg    media.Leg
	far    FarEnd
	format media.Format
	start  time.Time
	// simulated: the time is that of a synctest bubble.
	simulated bool

	stopRun context.CancelCauseFunc
	result  chan error
	label   string

	say   *voice // the far end's, nil when it is silent
	speak *voice // ours, nil when there is nothing to say

	heard     []int16
	heardTime media.Time // At of the next frame
	firstAt   media.Time
	received  []int16
	spoken    media.Time // written in all
	flushed   media.Time
	played    media.Time // what Played said last
	spoke     time.Time  // when the current stretch of speech began
	stretch   media.Time // written in it
	late      media.Time // by which we missed Next, where it was over a frame
	spins     int
}

// labels gives each run of a leg its own profiler label.
var labels atomic.Uint64

const labelKey = "mediatest.leg"

// conduct runs a leg for the length of one check, then ends it and looks for what
// it has left behind.
func conduct(t testing.TB, pair LegPair, simulated bool, check func(t testing.TB, c *conductor)) {
	c := &conductor{
		t: t, leg: pair.Leg, far: pair.Far, format: pair.Leg.Format(), simulated: simulated,
		result: make(chan error, 1),
		label:  fmt.Sprint(labels.Add(1)),
	}
	if !c.format.In.Valid() || !c.format.Out.Valid() || c.format.Continuous == (c.format.Lead > 0) {
		t.Fatalf("Format %+v: want rates of a call, and either Continuous or a Lead", c.format)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	c.stopRun = stop
	c.start = time.Now()
	go func() {
		// Goroutines inherit the label: that is how stopped tells the leg's own
		// from the test's.
		ctx := pprof.WithLabels(ctx, pprof.Labels(labelKey, c.label))
		pprof.SetGoroutineLabels(ctx)
		c.result <- c.leg.Run(ctx)
	}()
	c.settle()
	defer c.stopped()
	check(t, c)
}

// stopped ends the leg, unless the check has, and checks that no goroutine of it
// is left.
func (c *conductor) stopped() {
	c.stopRun(&media.Ended{Reason: media.APIHangup})
	select {
	case <-c.result:
	case <-time.After(runPatience):
		c.t.Errorf("Run has not returned %v after the end of its context", runPatience)
		return
	}
	left := ""
	for range 100 { // a goroutine that was waited for may still be at its last instructions
		if left = c.goroutines(); left == "" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Errorf("Run has returned and left goroutines:\n%s", left)
}

// goroutines are the stacks of those that Run has started.
func (c *conductor) goroutines() string {
	var all bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&all, 1)
	var ours []string
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, fmt.Sprintf("%q:%q", labelKey, c.label)) {
			ours = append(ours, stack)
		}
	}
	return strings.Join(ours, "\n\n")
}

// ended waits for Run and gives what it returned back to stopped.
func (c *conductor) ended() error {
	c.t.Helper()
	select {
	case err := <-c.result:
		c.result <- err
		return err
	case <-time.After(runPatience):
		c.t.Fatalf("Run has not returned after %v", runPatience)
		return nil
	}
}

// run conducts for d. The far end says a frame each 20 ms if it has a voice.
func (c *conductor) run(d time.Duration) {
	c.t.Helper()
	now := time.Now()
	end, turn := now.Add(d), now
	for ; now.Before(end); now = time.Now() {
		if !now.Before(turn) {
			if c.say != nil {
				c.far.Send(c.say.next())
				c.settle()
			}
			turn = turn.Add(media.FrameDuration)
		}
		wake := c.leg.Next()
		if !now.Before(wake) {
			if late := now.Sub(wake); late > media.FrameDuration {
				c.late += media.FromDuration(late)
			}
			c.serve(now)
			wake = c.leg.Next()
			c.notSpinning(now, wake)
		}
		if turn.Before(wake) {
			wake = turn
		}
		if end.Before(wake) {
			wake = end
		}
		time.Sleep(time.Until(wake))
	}
	c.onTime(now, media.FromDuration(now.Sub(end))) // unless Next came too late
	c.serve(now)
}

// notSpinning fails when the leg keeps its conductor awake for nothing.
func (c *conductor) notSpinning(now, wake time.Time) {
	if now.Before(wake) {
		c.spins = 0
		return
	}
	if c.spins++; c.spins == maxSpins {
		c.t.Errorf("Next is %v, not after %v, when all is read and written", wake, now)
	}
	if c.spins >= maxSpins {
		time.Sleep(time.Millisecond)
	}
}

// serve is one wake-up: read what is ready, write what is due.
func (c *conductor) serve(now time.Time) {
	c.t.Helper()
	for {
		f, ok := c.leg.Read(now)
		if !ok {
			break
		}
		c.hear(f)
	}
	c.onTime(now, 0)
	c.write(now)
	c.listen()
	c.progress(now)
	// In simulated time the clock stands still unless somebody waits.
	if took := time.Since(now); took > 0 && c.simulated {
		c.t.Errorf("Read, Due, Write or Played waited for %v", took)
	}
}

// listen collects what the far end has played.
func (c *conductor) listen() {
	c.settle()
	c.received = append(c.received, c.far.Receive()...)
}

// settle lets the other goroutines do what they can do now, in simulated time.
func (c *conductor) settle() {
	if c.simulated {
		synctest.Wait()
	}
}

// hear takes a frame that Read returned.
func (c *conductor) hear(f media.Frame) {
	c.t.Helper()
	if len(f.Samples) != c.format.In.FrameSamples() || f.Rate != c.format.In {
		c.t.Fatalf("Read: %d samples at %v, want 20 ms at %v", len(f.Samples), f.Rate, c.format.In)
	}
	if len(c.heard) == 0 {
		c.firstAt, c.heardTime = f.At, f.At
	}
	if f.At != c.heardTime {
		c.t.Fatalf("Read: frame at %v, want %v after the last one", f.At.Duration(), c.heardTime.Duration())
	}
	c.heardTime += media.FrameTime
	c.heard = append(c.heard, f.Samples...)
}

// onTime compares what was heard with the clock. Late is the test's own part in
// the lag.
func (c *conductor) onTime(now time.Time, late media.Time) {
	c.t.Helper()
	lag := media.FromDuration(now.Sub(c.start)) - (c.heardTime - c.firstAt) - late
	if !c.simulated {
		lag -= wakeUpSlack
	}
	if lag > maxLag || lag < -maxAhead {
		c.t.Fatalf("what was Read lags the clock by %v, want %v to %v",
			lag.Duration(), -maxAhead.Duration(), maxLag.Duration())
	}
}

// write gives the leg the frames it asks for.
func (c *conductor) write(now time.Time) {
	c.t.Helper()
	n := c.leg.Due(now)
	if c.format.Continuous {
		c.writeContinuous(now, n)
		return
	}
	if c.speak == nil || n == 0 {
		return
	}
	if c.stretch == 0 {
		c.spoke = now
	}
	for range n {
		c.writeFrame(c.speak)
	}
	ahead := c.stretch - media.FromDuration(now.Sub(c.spoke))
	if limit := media.FromDuration(c.format.Lead) + media.FrameTime; ahead > limit {
		c.t.Fatalf("Due lets the audio run %v ahead, want %v at most", ahead.Duration(), c.format.Lead)
	}
	if again := c.leg.Due(now); again != 0 {
		c.t.Fatalf("Due is %d again after it was given what it asked for", again)
	}
}

func (c *conductor) writeContinuous(now time.Time, n int) {
	c.t.Helper()
	if n > maxDue {
		c.t.Fatalf("Due is %d, want %d at most", n, maxDue)
	}
	for range n {
		c.writeFrame(c.speak)
	}
	if again := c.leg.Due(now); again != 0 {
		c.t.Fatalf("Due is %d again at the same time", again)
	}
}

// writeFrame writes 20 ms of v, or of silence, from memory that it then spoils.
func (c *conductor) writeFrame(v *voice) {
	f := media.Frame{Samples: make([]int16, c.format.Out.FrameSamples()), Rate: c.format.Out, At: c.spoken}
	if v != nil {
		copy(f.Samples, v.next())
	}
	c.leg.Write(f)
	for i := range f.Samples {
		f.Samples[i] = int16(i%2*40000 - 20000)
	}
	c.spoken += media.FrameTime
	c.stretch += media.FrameTime
}

// progress checks that Played only grows and stays below what could be played.
func (c *conductor) progress(now time.Time) {
	c.t.Helper()
	played := c.leg.Played(now)
	if played < c.played {
		c.t.Fatalf("Played fell from %v to %v", c.played.Duration(), played.Duration())
	}
	if played > c.spoken-c.flushed {
		c.t.Fatalf("Played %v of %v written and %v flushed",
			played.Duration(), c.spoken.Duration(), c.flushed.Duration())
	}
	c.played = played
}

// voice is an endless tone in frames.
type voice struct {
	freq float64
	rate media.Rate
	said int // samples so far
}

const voiceAmplitude = 0.4

func (v *voice) next() []int16 {
	frame := make([]int16, v.rate.FrameSamples())
	fillTone(frame, v.freq, v.rate, v.said, voiceAmplitude)
	v.said += len(frame)
	return frame
}
