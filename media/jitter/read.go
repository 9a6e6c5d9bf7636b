package jitter

import (
	"time"

	"parley/media"
)

// Read returns the next 20 ms if they are ready at now, else false. Call it until
// it says false: a burst gives several frames. The samples are valid until the
// next call. When nothing arrives, silence keeps the stream within 160 ms of now.
func (b *Buffer) Read(now time.Time) (media.Frame, bool) {
	b.fifo = b.fifo[:copy(b.fifo, b.fifo[b.given:])]
	b.given = 0
	for len(b.fifo) < frameSamples && b.step(now) {
	}
	if n := int64(len(b.fifo)); n < frameSamples && b.lag(now)+n >= maxLag {
		b.fill(frameSamples - len(b.fifo))
	}
	if len(b.fifo) < frameSamples {
		return media.Frame{}, false
	}
	at := Rate.Duration(int(b.produced) - len(b.fifo))
	b.given = frameSamples
	return media.Frame{Samples: b.fifo[:frameSamples:frameSamples], Rate: Rate, At: at}, true
}

// lag is how far the samples produced are behind the wall clock, in samples.
func (b *Buffer) lag(now time.Time) int64 { return samples(now.Sub(b.start)) - b.produced }

// step produces some samples, or moves one packet on. It says false when there is
// nothing to do but wait.
func (b *Buffer) step(now time.Time) bool {
	switch {
	case b.lost > 0:
		n := min(b.lost, frameSamples)
		b.lost -= n
		b.conceal.extend(b.grow(int(n)))
		return true
	case b.pause > 0:
		n := min(b.pause, frameSamples)
		b.pause -= n
		if b.silent {
			out := b.grow(int(n))
			clear(out)
			b.conceal.good(out)
		} else {
			b.hush(int(n))
		}
		return true
	}
	s := b.ring.next()
	if s == nil {
		if b.ring.held == 0 || now.Sub(b.ring.oldest()) < b.Wait() {
			return false
		}
		b.giveUp(b.ring.skip())
		b.gap = true
		s = b.ring.next()
	}
	if !b.bridge(s, now) {
		b.use(s, now)
	}
	return true
}

// bridge puts in what lies between the last sample and packet s, and says whether
// that was anything. Lost time is concealed. A pause (sequence without a gap, the
// timestamp jumps) is silence, or noise of the level that the far end announced
// last, even when the announcement of this pause was lost. It is bounded by the
// wall clock: a far end cannot claim a pause that did not happen.
func (b *Buffer) bridge(s *slot, now time.Time) bool {
	gap := max(0, int64(int32(s.ts-b.nextTS)))
	done := min(gap, b.filled)
	lag := b.lag(now)
	if b.gap {
		b.gap, b.anchor = false, false
		b.lost = min(gap-done, max(0, maxGapFill-done))
		b.stats.Concealed += Rate.Duration(int(b.lost + done))
		b.stats.Filled -= Rate.Duration(int(done))
	} else {
		b.pause, b.silent = min(gap-done, max(0, lag)+pauseSlack), false
		if behind := lag - b.ring.run(); (b.anchor || b.filled > 0) && behind > minAnchor {
			// The far end stopped sending. Whether its timestamps ran on or not,
			// what it says now was said now.
			b.pause = max(b.pause, behind)
		}
		b.anchor = false
	}
	b.filled = 0
	if gap > 0 {
		b.nextTS = s.ts
	}
	return b.lost > 0 || b.pause > 0
}

// use turns packet s into samples.
func (b *Buffer) use(s *slot, now time.Time) {
	b.ring.drop()
	switch s.kind {
	case Noise:
		b.eventOpen = false
		b.noise.set(b.ring.payload(s))
	case Event:
		b.useEvent(s, now)
	case Audio:
		b.useAudio(s, now)
	}
}

// useEvent silences the time that an event has covered so far.
func (b *Buffer) useEvent(s *slot, now time.Time) {
	end := s.ts + uint32(s.duration)
	if more := int64(int32(end - b.nextTS)); more > 0 {
		b.pause, b.silent = min(more, max(0, b.lag(now))+pauseSlack), true
		b.nextTS = end
	}
	b.eventOpen = s.open
}

func (b *Buffer) useAudio(s *slot, now time.Time) {
	skip := 0
	if over := int(int32(b.nextTS - s.ts)); over > 0 && b.eventOpen {
		// Some gateways send the tone as audio beside its event; that time has
		// been given out as silence already.
		skip = min(over, s.n)
	}
	if skip == s.n {
		return
	}
	b.nextTS = s.ts + uint32(s.n)
	b.eventOpen = false
	b.noise.on = false
	if b.lag(now) < -maxAhead {
		b.stats.Overruns++
		return
	}
	out := b.grow(s.n - skip)
	b.decoder.Decode(out, b.ring.payload(s)[skip:])
	b.conceal.good(out)
	if b.ring.held == 0 && b.drift.observe(b.lag(now), b.produced) {
		b.conceal.extend(b.grow(frameSamples))
		b.stats.Filled += media.FrameTime
	}
}

// fill puts in n samples because nothing has arrived for too long.
func (b *Buffer) fill(n int) {
	b.filled += int64(n)
	b.stats.Filled += Rate.Duration(n)
	// A far end that has announced pauses is more likely to pause than to be cut off.
	if b.noise.on || b.noise.amplitude > 0 && b.filled > fadeEnd {
		b.hush(n)
		return
	}
	b.conceal.extend(b.grow(n))
}

// hush produces n samples of the far end's comfort noise, silence before there is any.
func (b *Buffer) hush(n int) {
	out := b.grow(n)
	b.noise.fill(out)
	b.conceal.good(out)
}

// grow makes room for n samples at the end of the fifo.
func (b *Buffer) grow(n int) []int16 {
	at := len(b.fifo)
	b.fifo = b.fifo[:at+n]
	b.produced += int64(n)
	return b.fifo[at:]
}
