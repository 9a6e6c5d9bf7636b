package jitter

import "parley/media"

// Packet loss concealment after ITU-T G.711 Appendix I: the gap is filled with the
// last pitch periods heard, repeated and faded out. Two things differ. The standard
// delays all audio by 3.75 ms so that it can smooth the sample before a gap; we have
// given that sample away, and lead over from it instead. And the search for the
// pitch looks at every lag: losses are rare, the saving was not worth two passes. Wideband
// audio is filled in the same way, with the same times.
//
// Times are in ticks; at 16 kHz a tick is two samples.
const (
	pitchMin     = 40  // 200 Hz
	pitchMax     = 120 // 66 Hz
	pitchWindow  = 160 // what is compared with what was one lag before
	historyLen   = 3*pitchMax + pitchMax/4
	fadeStart    = 10 * ms
	fadeEnd      = 60 * ms
	maxCrossfade = 10 * ms // into the audio after a gap
)

// concealer fills gaps in a stream of samples. Every sample of the stream must
// pass through it, in order.
type concealer struct {
	scale   int     // samples a tick
	history []int16 // a ring
	oldest  int     // where it begins

	// While a gap lasts:
	length  int       // samples concealed so far, 0 when there is no gap
	pitch   int       // samples
	quarter int       // of the pitch: the length of every overlap
	cycle   []float32 // the history, its end the periods that repeat
	tail    []float32 // a quarter of the longest pitch
	periods int       // how many repeat
	offset  int       // within them

	// A fade from what would have gone on to what goes on now.
	fade    []float32
	fadeAt  int
	fadeLen int
}

func newConcealer(rate media.Rate) *concealer {
	scale := int(rate / Rate)
	return &concealer{scale: scale, history: make([]int16, historyLen*scale), cycle: make([]float32, historyLen*scale),
		tail: make([]float32, pitchMax/4*scale), fade: make([]float32, pitchMax/4*scale)}
}

// good takes samples that were received, and when they end a gap, blends their
// beginning with what concealment would have gone on with.
func (c *concealer) good(s []int16) {
	if c.length > 0 {
		c.rejoin(s)
		c.length = 0
	}
	c.remember(s)
}

// rejoin cross-fades for a quarter of the pitch and 4 ms more for each 10 ms that
// was concealed.
func (c *concealer) rejoin(s []int16) {
	n := min(c.quarter+4*ms*c.scale*(c.length/(10*ms*c.scale)), maxCrossfade*c.scale, len(s))
	for i := range n {
		w := float32(i+1) / float32(n+1)
		s[i] = clip(c.next()*(1-w) + float32(s[i])*w)
	}
}

// extend fills out with the continuation of the stream.
func (c *concealer) extend(out []int16) {
	if c.length == 0 {
		c.begin()
	}
	if c.length >= fadeEnd*c.scale {
		clear(out)
		c.remember(out)
		return
	}
	for i := range out {
		out[i] = clip(c.next())
	}
	c.remember(out)
}

func (c *concealer) remember(s []int16) {
	size := len(c.history)
	s = s[max(0, len(s)-size):]
	n := copy(c.history[c.oldest:], s)
	copy(c.history, s[n:])
	c.oldest = (c.oldest + len(s)) % size
}

// begin finds the pitch and prepares one period of it.
func (c *concealer) begin() {
	size := len(c.history)
	for i := range c.cycle {
		c.cycle[i] = float32(c.history[(c.oldest+i)%size])
	}
	last := c.cycle[size-1]
	c.pitch = findPitch(c.cycle, c.scale)
	c.quarter = c.pitch / 4
	copy(c.tail, c.cycle[size-c.quarter:])
	c.offset, c.fadeLen = 0, 0
	c.repeat(1)
	// The period begins one pitch ago, where the signal was nearly, not exactly,
	// where it is now: let the difference die out.
	off := last - c.cycle[size-1]
	for i := range c.quarter {
		c.fade[i] = c.cycle[size-c.pitch+i] + off
	}
	c.fadeAt, c.fadeLen = 0, c.quarter
}

// repeat makes the last n pitch periods a loop without a seam: the end of the last
// one leads over to what came before the first.
func (c *concealer) repeat(n int) {
	c.periods = n
	end := len(c.cycle) - c.quarter
	for i := range c.quarter {
		w := float32(i+1) / float32(c.quarter)
		c.cycle[end+i] = c.tail[i]*(1-w) + c.cycle[end-n*c.pitch+i]*w
	}
}

// widen goes over to a loop of n periods, so that a long gap does not buzz.
func (c *concealer) widen(n int) {
	for i := range c.quarter {
		c.fade[i] = c.loop()
	}
	c.fadeAt, c.fadeLen = 0, c.quarter
	c.offset %= c.pitch
	c.offset = (c.offset - c.quarter + n*c.pitch) % (n * c.pitch)
	c.repeat(n)
}

// next is the next sample of the continuation.
func (c *concealer) next() float32 {
	if c.length >= fadeEnd*c.scale {
		return 0
	}
	if step := 10 * ms * c.scale; c.length == step || c.length == 2*step {
		c.widen(1 + c.length/step)
	}
	v := c.loop()
	if c.fadeAt < c.fadeLen {
		w := float32(c.fadeAt+1) / float32(c.fadeLen+1)
		v = c.fade[c.fadeAt]*(1-w) + v*w
		c.fadeAt++
	}
	gain := float32(1)
	if c.length > fadeStart*c.scale { // 20 % less each 10 ms
		gain = float32(fadeEnd*c.scale-c.length) / float32((fadeEnd-fadeStart)*c.scale)
	}
	c.length++
	return v * gain
}

// loop is the next sample of the repeating periods.
func (c *concealer) loop() float32 {
	v := c.cycle[len(c.cycle)-c.periods*c.pitch+c.offset]
	c.offset++
	if c.offset == c.periods*c.pitch {
		c.offset = 0
	}
	return v
}

// findPitch is the lag at which the last 20 ms look most like what came before, by
// normalised cross-correlation. The shortest lag wins where nothing correlates.
func findPitch(h []float32, scale int) int {
	end, shortest, longest, window := len(h), pitchMin*scale, pitchMax*scale, pitchWindow*scale
	start := end - window
	now := h[start:]
	var energy float32
	for _, v := range h[start-shortest : end-shortest] {
		energy += v * v
	}
	// Below this energy there is only noise, whose correlation means nothing.
	floor := float32(window * 8 * 8)
	best, lag := float32(0), shortest
	for l := shortest; l <= longest; l++ {
		then := h[start-l : end-l]
		var corr float32
		for i, v := range now {
			corr += v * then[i]
		}
		// Squared, so that it needs no root.
		if score := corr * corr / max(energy, floor); corr > 0 && score > best {
			best, lag = score, l
		}
		if l < longest {
			in, out := h[start-l-1], h[end-l-1]
			energy += in*in - out*out
		}
	}
	return lag
}

func clip(v float32) int16 { return int16(max(-32768, min(v, 32767))) }
