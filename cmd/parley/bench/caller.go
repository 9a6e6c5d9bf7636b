package bench

import (
	"errors"
	"time"

	"parley/media"
)

// The script of a caller. A turn is over with the frame that completes
// endpointFrames of silence, the shortest wait of the conversation.
const (
	speechFrames   = 30
	endpointFrames = 10
	patience       = 5 * time.Second
	// gap is how long after the agent's last word the caller speaks again, so
	// that it does not interrupt.
	gap = 500 * time.Millisecond
	// overheard is how long the agent speaks before it is interrupted.
	overheard = time.Second
)

// caller sends a frame each 20 ms and hears in between.
type caller struct {
	line     line
	watching bool
	onHeard  func(heard)

	next            time.Time // deadline of the next frame
	speech, silence []int16
	said            int // frames of speech
}

func newCaller(l line, start time.Time) *caller {
	return &caller{line: l, next: start, onHeard: func(heard) {},
		speech:  tone(300, l.rate(), int(l.rate()), 0.2), // a second, in whole frames and periods
		silence: make([]int16, l.rate().FrameSamples())}
}

// frame hears until the next deadline, then sends 20 ms and says when.
func (c *caller) frame(speak bool) (sent time.Time, err error) {
	for {
		h, ok := c.line.hear(c.next, c.watching)
		if !ok {
			break
		}
		c.onHeard(h)
	}
	c.next = c.next.Add(media.FrameDuration)
	samples := c.silence
	if speak {
		n := len(c.silence)
		at := c.said * n % len(c.speech)
		samples = c.speech[at : at+n]
		c.said++
	}
	sent = time.Now()
	return sent, c.line.say(samples)
}

// frames sends n frames.
func (c *caller) frames(n int, speak bool) error {
	for range n {
		if _, err := c.frame(speak); err != nil {
			return err
		}
	}
	return nil
}

// pause is silent for d.
func (c *caller) pause(d time.Duration) error {
	return c.frames(int(d/media.FrameDuration), false)
}

var errNoAnswer = errors.New("the agent did not answer")

// turn says something and returns how long after the frame that ended the turn the
// answer began, and when.
func (c *caller) turn() (took time.Duration, first time.Time, err error) {
	if err := c.frames(speechFrames, true); err != nil {
		return 0, first, err
	}
	defer func() { c.watching, c.onHeard = false, func(heard) {} }()
	c.onHeard = func(h heard) {
		if first.IsZero() && h.level > audible {
			first = h.at
			c.watching = false
		}
	}
	if err := c.frames(endpointFrames-1, false); err != nil {
		return 0, first, err
	}
	c.watching = true
	over, err := c.frame(false)
	for first.IsZero() && err == nil {
		if time.Since(over) > patience {
			return 0, first, errNoAnswer
		}
		_, err = c.frame(false)
	}
	return first.Sub(over), first, err
}

// turns takes n turns after the greeting; each does what follows one.
func (c *caller) turns(n int, each func() error) (took []time.Duration, err error) {
	err = c.pause(greetingTime + 2*gap)
	for ; n > 0 && err == nil; n-- {
		var d time.Duration
		if d, _, err = c.turn(); err == nil {
			took, err = append(took, d), each()
		}
	}
	return took, err
}

// interruption is one time that the caller spoke over the agent.
type interruption struct {
	lowered time.Duration // from the first frame of speech to the first lowered audio
	silent  time.Duration // from the recogniser's "stop" to silence
}

// interrupt measures how fast an agent that speaks for long gives way.
func (c *caller) interrupt(asr *instantASR) (i interruption, err error) {
	usual := 0.0
	c.onHeard = func(h heard) { usual = h.level }
	if err := c.pause(overheard); err != nil {
		return i, err
	}
	var down, silent time.Time
	c.watching = true
	defer func() { c.watching, c.onHeard = false, func(heard) {} }()
	onset, err := c.frame(true)
	c.onHeard = func(h heard) {
		if down.IsZero() && h.level < usual-lowered {
			down = h.at
		}
		if verdict := asr.stopped(); silent.IsZero() && verdict.After(onset) && h.level < audible {
			silent = h.at
			i.silent = silent.Sub(verdict)
		}
	}
	for silent.IsZero() && err == nil {
		if time.Since(onset) > patience {
			return i, errNoAnswer
		}
		_, err = c.frame(true)
	}
	if down.IsZero() { // it was cut at once
		down = silent
	}
	i.lowered = down.Sub(onset)
	return i, err
}
