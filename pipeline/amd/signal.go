package amd

import (
	"math"

	"parley/media"
)

// Signals of an exchange (ITU-T E.180, its Supplement 2 has them by country) are one to three frequencies that hold
// still, in a cadence. They are no speech, and no machine records after them.
const (
	signalHighest = 2250.0 // Hz; the answer of a fax has 2100 (ITU-T T.30, section 4)
	// Ringing, busy, congestion and dial tone are below lowHighest.
	lowLowest  = 330.0
	lowHighest = 650.0
	// wander is how far a frame's frequency may be from their mean, as a share of it: noise.
	wander = 0.04
	// beat is how much the power of several frequencies may change from frame to frame, as a ratio.
	beat = 6.0
	// signalQuietest is the mean square of the quietest signal: -38 dBFS. Music behind a voice is below it.
	signalQuietest = 412 * 412
	// signalSettled is how many frames are needed to take a sound for a signal; after signalRings of a low one the
	// exchange rings. signalLost frames without it end it.
	signalSettled = 8
	signalRings   = 15
	signalLost    = 2
	// signalEcho is how many frames after a signal a voice activity detector may hear it still.
	signalEcho = 10
	// The parts of busy and congestion, and the silence between them, last busyLongest frames at most; the third says so.
	busyLongest = 40
	// continuous is from how many frames on no exchange rings: it is a dial tone, or that of a number that does not exist.
	continuous = 130
	// A fax answers by 2100 Hz for 2.6 s, and calls by 1100 Hz for half a second (ITU-T T.30, section 4).
	faxAnswers, faxAnswerFrames = 2100.0, 50
	faxCalls                    = 1100.0
	// Three tones of 950, 1400 and 1800 Hz follow each other within sitGap frames.
	sitGap = 5
)

// An exchange that has answered may ring an extension: the deadline is ringPause after its last ring, unless somebody speaks
// before, and counts from ringWait at the latest.
const (
	ringPause = 6 * media.Second
	ringWait  = 30 * media.Second
)

var (
	sit = [...]float64{950, 1400, 1800}
	// A beep of these might be the first part of busy.
	busyAlone = [...]float64{400, 425, 450}
)

// signal follows the signals of an exchange in 20 ms frames.
type signal struct {
	frames      int     // of the sound so far
	freq        float64 // their mean, Hz
	least, most float64 // power of its frames
	lost        int     // frames without it since

	since  int     // frames since the end of the last one
	last   float64 // its frequency, Hz; 0: there was none
	parts  int     // parts of busy so far
	steps  int     // of the three tones so far
	held   int     // frames after which a beep is one unless more of a signal follows; 0: there is none
	heldOf float64 // its frequency
	dead   bool    // nobody is there
}

// sounds says that there is a signal at present.
func (s *signal) sounds() bool { return s.frames >= signalSettled }

// low says that the signal could be ringing or busy.
func (s *signal) low() bool { return s.freq <= lowHighest }

// level of its loudest frame, in dBFS.
func (s *signal) level() float32 { return float32(10 * math.Log10(s.most/(1<<30))) }

func near(freq, of, share float64) bool { return math.Abs(freq-of) <= share*of }

// hear takes the frequency of the next frame, or the mean of several; 0: it has none.
func (s *signal) hear(freq, power float64) {
	if s.since++; power < signalQuietest {
		freq = 0
	}
	if s.frames > 0 && freq != 0 && near(freq, s.freq, wander) && (s.frames < 3 || power <= beat*s.least && power >= s.most/beat) {
		if s.frames++; s.frames <= 3 { // the first is not full
			s.freq, s.least, s.most = freq, power, power
		}
		s.freq += (freq - s.freq) / float64(s.frames)
		s.least, s.most, s.lost = min(s.least, power), max(s.most, power), 0
		s.grown()
		return
	}
	if s.lost++; s.frames > 0 && (s.lost >= signalLost || freq != 0) {
		s.end()
	}
	if s.frames == 0 && freq != 0 {
		s.frames, s.freq, s.least, s.most, s.lost = 1, freq, power, power, 0
	}
}

// grown looks at a signal that goes on.
func (s *signal) grown() {
	switch {
	case s.frames == 3 && s.held > 0 && (s.low() && near(s.freq, s.heldOf, wander) || near(s.freq, sit[1], wander) && near(s.heldOf, sit[0], wander)):
		s.held = 0
	case s.frames == signalSettled:
		s.begin()
	case s.frames == continuous, s.frames == faxAnswerFrames && near(s.freq, faxAnswers, 0.01):
		s.dead = true
	}
}

// begin finds the place of a signal that has settled in what came before.
func (s *signal) begin() {
	gap := s.since - signalSettled
	switch {
	case s.low() && near(s.freq, s.last, wander) && gap <= busyLongest && s.parts > 0:
		s.parts++
	case s.low():
		s.parts = 1
	}
	switch {
	case near(s.freq, sit[0], wander):
		s.steps = 1
	case s.steps > 0 && s.steps < len(sit) && near(s.freq, sit[s.steps], wander) && gap <= sitGap:
		s.steps++
	default:
		s.steps = 0
	}
	s.dead = s.dead || s.parts == 3 || s.steps == len(sit)
}

// end notes a signal that is over.
func (s *signal) end() {
	if s.sounds() {
		s.last, s.since = s.freq, s.lost
		if s.frames > busyLongest {
			s.parts = 0
		}
	}
	s.frames, s.lost = 0, 0
}

// takes says that what sounds like a beep belongs to a signal, or may: then released says later that it was one.
// After a greeting a beep is likelier.
func (s *signal) takes(beep float64, frames int, greeted bool) bool {
	low := beep <= lowHighest
	switch {
	case s.dead, s.steps > 1, !greeted && (low || near(beep, faxCalls, 0.035) && frames > 20 && frames < 30):
		return true
	case near(beep, sit[0], wander):
		s.held, s.heldOf = sitGap, beep
		return true
	case low:
		for _, of := range busyAlone {
			if near(beep, of, 0.01) {
				s.held, s.heldOf = busyLongest+3, beep
				return true
			}
		}
	}
	return false
}

// released says once that a beep that was taken was one.
func (s *signal) released() bool {
	if s.held == 0 {
		return false
	}
	s.held--
	return s.held == 0 && !s.dead
}

// signalled takes back what was counted as speech while a signal of the exchange began, and has ringing begin everything anew.
func (d *Detector) signalled() {
	switch frames := d.signal.frames; {
	case frames == 1:
		d.before = d.count
	case frames == signalSettled:
		d.count, d.run = d.before, 0
		d.loudest = max(d.loudest, d.signal.level())
	case frames >= signalRings && d.signal.low():
		d.voiced = 0
		d.begun = max(d.begun, min(d.now+ringPause-Deadline, ringWait))
	}
	if d.signal.sounds() {
		d.after = signalEcho
	}
}

// several finds the mean of several frequencies that are all low, in Hz; 0: there is more. The correlation at a
// millisecond says that they are within 150 Hz of 500 Hz, or of a multiple that the one at a sample excludes; that at half
// of it has their mean.
func several(samples []int16, power float64) float64 {
	n := len(samples)
	if power < signalQuietest || n < 16 {
		return 0
	}
	var r1, r4, r8 float64
	for i := 8; i < n; i++ {
		x := float64(samples[i])
		r1 += x * float64(samples[i-1])
		r4 += x * float64(samples[i-4])
		r8 += x * float64(samples[i-8])
	}
	scale := 1 / (power * float64(n-8))
	if r1*scale < 0.8 || r8*scale > -0.65 {
		return 0
	}
	freq := math.Acos(max(-1, min(1, r4*scale))) / (2 * math.Pi) * float64(toneRate) / 4
	if freq < lowLowest || freq > lowHighest {
		return 0
	}
	return freq
}
