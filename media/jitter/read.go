package jitter

import (
	"time"

	"parley/media"
)

// Read returns the next 20 ms if they are ready at now, else false. Call it until
// it says false: a burst gives several frames. The samples are valid until the
// next call. When nothing arrives, silence keeps the stream within 160 ms of now, and in a pause that the far end
// has announced its noise does so sooner: the end of a turn is not to wait for packets that will not come.
func (b *Buffer) Read(now time.Time) (media.Frame, bool) {
	b.fifo = b.fifo[:copy(b.fifo, b.fifo[b.given:])]
	b.given = 0
	for len(b.fifo) < b.frame && b.step(now) {
	}
	if n := len(b.fifo) / b.scale; n < frameSamples && b.lag(now)+int64(n) >= b.patience() {
		b.cover(frameSamples - n)
	}
	if len(b.fifo) < b.frame {
		return media.Frame{}, false
	}
	at := Rate.Duration(int(b.produced) - len(b.fifo)/b.scale)
	b.given = b.frame
	return media.Frame{Samples: b.fifo[:b.frame:b.frame], Rate: b.rate, At: at}, true
}

// patience is how long after the last frame nothing may have come, in ticks, before something is put in.
func (b *Buffer) patience() int64 {
	if b.noise.on && b.ring.held == 0 {
		return samples(b.Wait()) + frameSamples
	}
	return maxLag
}

// lag is how far what was produced is behind the wall clock, in ticks.
func (b *Buffer) lag(now time.Time) int64 { return samples(now.Sub(b.start)) - b.produced }

// step produces some samples, or moves one packet on. It says false when there is
// nothing to do but wait.
func (b *Buffer) step(now time.Time) bool {
	switch {
	case b.lost > 0:
		b.fillGap()
		return true
	case b.pause > 0:
		n := min(b.pause, frameSamples)
		b.pause -= n
		if b.silent {
			out := b.grow(int(n))
			clear(out)
			b.good(out)
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
		b.seam = broken
		s = b.ring.next()
	}
	if !b.bridge(s, now) {
		b.use(s, now)
	}
	return true
}

// fillGap conceals some of what was lost. What lies just before the packet after the gap, for as long as that one lasts, may be in
// it, too.
func (b *Buffer) fillGap() {
	n, copied := min(b.lost, frameSamples), int64(0)
	s := b.ring.next()
	if s != nil && s.Kind == Coded {
		copied = int64(s.Duration)
	}
	if b.lost <= copied {
		n, b.lost = b.lost, 0
		out := b.grow(int(n))
		b.codec.Recover(out, s.Payload)
		b.good(out)
		b.blind, b.coded = b.blind+n, true
		return
	}
	n = min(n, b.lost-copied)
	b.lost -= n
	b.extend(b.grow(int(n)))
}

// bridge puts in what lies between the last sample and packet s, and says whether
// that was anything. Lost time is concealed. A pause (sequence without a gap, the
// timestamp jumps) is silence, or noise of the level that the far end announced
// last, even when the announcement of this pause was lost; what was lost in a pause
// that was announced is of the pause. It is bounded by the
// wall clock: a far end cannot claim a pause that did not happen.
func (b *Buffer) bridge(s *slot, now time.Time) bool {
	gap := max(0, int64(int32(s.Timestamp-b.nextTS)))
	done := min(gap, b.underrun)
	lag := b.lag(now)
	if b.seam == broken && !b.noise.on {
		b.lost = min(gap-done, max(0, maxGapFill-done))
		b.stats.Concealed += Rate.Duration(int(b.lost + done))
		b.stats.Underrun -= Rate.Duration(int(done))
	} else {
		b.pause, b.silent = min(gap-done, max(0, lag)+pauseSlack), false
		if behind := lag - b.ring.run(); (b.seam == afresh || b.underrun > 0) && behind > minAnchor {
			// The far end stopped sending. Whether its timestamps ran on or not,
			// what it says now was said now.
			b.pause = max(b.pause, behind)
		}
	}
	b.seam, b.underrun = joined, 0
	if gap > 0 {
		b.nextTS = s.Timestamp
	}
	return b.lost > 0 || b.pause > 0
}

// use turns packet s into samples.
func (b *Buffer) use(s *slot, now time.Time) {
	b.ring.drop()
	switch s.Kind {
	case Noise:
		b.eventOpen = false
		b.noise.set(s.Payload)
	case Event:
		b.useEvent(s, now)
	case Audio, Coded:
		b.useAudio(s, now)
	}
}

// useEvent silences the time that an event has covered so far.
func (b *Buffer) useEvent(s *slot, now time.Time) {
	end := s.Timestamp + uint32(s.Duration)
	if more := int64(int32(end - b.nextTS)); more > 0 {
		b.pause, b.silent = min(more, max(0, b.lag(now))+pauseSlack), true
		b.nextTS = end
	}
	b.eventOpen = s.Open
}

func (b *Buffer) useAudio(s *slot, now time.Time) {
	skip := 0
	if over := int(int32(b.nextTS - s.Timestamp)); over > 0 && b.eventOpen {
		// Some gateways send the tone as audio beside its event; that time has
		// been given out as silence already.
		skip = min(over, s.Duration)
	}
	if skip == s.Duration {
		return
	}
	b.nextTS = s.Timestamp + uint32(s.Duration)
	b.eventOpen = false
	b.noise.on = false
	if b.lag(now) < -maxAhead {
		b.stats.Overruns++
		return
	}
	b.decode(s, skip)
	if b.ring.held == 0 && b.drift.observe(b.lag(now), b.produced) {
		b.extend(b.grow(frameSamples))
		b.stats.Underrun += media.FrameTime
	}
}

// decode decodes a packet, all of it for the sake of what remembers it, and leaves out the
// first skip ticks.
func (b *Buffer) decode(s *slot, skip int) {
	out := b.grow(s.Duration)
	if b.coded = s.Kind == Coded; b.coded {
		b.codec.Decode(out, s.Payload)
	} else {
		b.decoder.Decode(out, s.Type, s.Payload)
	}
	b.blind = 0
	if skip > 0 {
		n := copy(out, out[skip*b.scale:])
		b.fifo = b.fifo[:len(b.fifo)-(len(out)-n)]
		b.produced -= int64(skip)
		out = out[:n]
	}
	b.good(out)
}

// good takes samples that are no concealment of the concealer's.
func (b *Buffer) good(out []int16) {
	if b.conceal != nil {
		b.conceal.good(out)
	}
}

// extend fills out with the continuation of the stream, and with silence when it has
// gone on for long enough.
func (b *Buffer) extend(out []int16) {
	if !b.coded {
		b.conceal.extend(out)
		return
	}
	if b.blind >= fadeEnd {
		clear(out)
	} else {
		b.codec.Conceal(out)
		b.blind += int64(len(out) / b.scale)
	}
	b.good(out)
}

// cover puts in n ticks of an underrun: nothing has arrived for too long.
func (b *Buffer) cover(n int) {
	b.underrun += int64(n)
	if b.noise.on {
		b.hush(n) // as it was announced
		return
	}
	b.stats.Underrun += Rate.Duration(n)
	// A far end that has announced pauses is more likely to pause than to be cut off.
	if b.noise.Sounds() && b.underrun > fadeEnd {
		b.hush(n)
		return
	}
	b.extend(b.grow(n))
}

// hush produces n ticks of the far end's comfort noise, silence before there is any.
func (b *Buffer) hush(n int) {
	out := b.grow(n)
	b.noise.Fill(out)
	b.good(out)
}

// grow makes room for n ticks at the end of the fifo.
func (b *Buffer) grow(n int) []int16 {
	at := len(b.fifo)
	b.fifo = b.fifo[:at+n*b.scale]
	b.produced += int64(n)
	return b.fifo[at:]
}
