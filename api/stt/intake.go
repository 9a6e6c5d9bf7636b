package stt

import "time"

// A microphone gives one second of audio a second. Half as much again makes up for
// clocks that differ and for what a network has held up; a client that sends more,
// with two microphones or from a file, would use up the server.
const (
	intakeRate  = int64(rate) * 3 / 2 // samples a second
	intakeBurst = int64(rate) * 10    // samples at once: what a network that stalled may bring
)

// intake makes samples of the bytes of a live stream, in messages of any length,
// and takes no more of them than a microphone gives.
type intake struct {
	odd     byte // the first half of a sample
	half    bool // there is one
	credit  int64
	last    time.Time // when credit was right; zero before the first audio
	dropped int64     // samples that were not taken
}

// take appends the samples of p that are taken at the time now to dst.
func (t *intake) take(dst []int16, p []byte, now time.Time) []int16 {
	t.refill(now)
	if t.half && len(p) > 0 {
		dst = t.sample(dst, t.odd, p[0])
		p, t.half = p[1:], false
	}
	for ; len(p) >= 2; p = p[2:] {
		dst = t.sample(dst, p[0], p[1])
	}
	if len(p) == 1 {
		t.odd, t.half = p[0], true
	}
	return dst
}

func (t *intake) sample(dst []int16, low, high byte) []int16 {
	if t.credit == 0 {
		t.dropped++
		return dst
	}
	t.credit--
	return append(dst, int16(uint16(low)|uint16(high)<<8))
}

// refill adds what time has earned, in whole samples: it does not matter how often
// it is called.
func (t *intake) refill(now time.Time) {
	passed := now.Sub(t.last)
	full := time.Duration(intakeBurst) * time.Second / time.Duration(intakeRate)
	if t.last.IsZero() || passed >= full {
		t.credit, t.last = intakeBurst, now
		return
	}
	earned := int64(passed) * intakeRate / int64(time.Second)
	t.credit = min(intakeBurst, t.credit+earned)
	t.last = t.last.Add(time.Duration(earned * int64(time.Second) / intakeRate))
}

// restart says that the next byte begins a sample.
func (t *intake) restart() { t.half = false }
