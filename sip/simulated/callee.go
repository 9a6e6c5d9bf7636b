package simulated

import (
	"math"
	"time"

	"parley/media"
	"parley/sip"
)

const (
	// speechLevel is the mean square above which a frame counts as speech: -45 dBFS.
	speechLevel = 184 * 184
	// pause is the silence after which a caller has finished.
	pause = 700 * time.Millisecond
	// parting is the silence after which a callee who has said everything hangs up: a goodbye is often answered.
	parting = 2 * time.Second
	// patience is how long a callee without a word from the caller goes on waiting.
	patience = 6 * time.Second
	// longest bounds every call.
	longest = 10 * time.Minute
)

// listener answers a call: it says its lines, each after the caller has finished
// speaking, and hangs up.
type listener struct {
	leg      *sip.Leg
	who      *callee
	lines    [][]int16
	answered time.Time

	line    int // being said, or next
	said    int // samples of it
	spoke   bool
	quiet   time.Time // when the caller, or the line before, ended
	waiting bool      // a line was said, the caller's answer is awaited
	frame   [160]int16

	keeps bool // what is heard
	heard Heard
}

// turn does what one wake-up brings; true: the callee hangs up.
func (l *listener) turn(now time.Time) bool {
	for f, ok := l.leg.Read(now); ok; f, ok = l.leg.Read(now) {
		if loud(f.Samples) {
			l.spoke, l.quiet = true, now
		}
		if l.keeps {
			l.heard.Samples = append(l.heard.Samples, f.Samples...)
		}
	}
	since := now.Sub(l.answered)
	if l.who.hangsUp > 0 && since >= l.who.hangsUp || since >= longest {
		return true
	}
	if l.who.mute {
		return false
	}
	for n := l.leg.Due(now); n > 0; n-- {
		l.speak(now)
	}
	finished := l.line > 0 && l.line == len(l.lines)
	return finished && l.who.hangsUp == 0 && now.Sub(l.quiet) >= parting
}

// speak writes the next 20 ms: of the line, or silence.
func (l *listener) speak(now time.Time) {
	if l.waiting && (l.spoke && now.Sub(l.quiet) >= pause || now.Sub(l.quiet) >= patience) {
		l.waiting, l.spoke = false, false
	}
	n := 0
	if !l.waiting && l.line < len(l.lines) {
		n = copy(l.frame[:], l.lines[l.line][l.said:])
		l.said += n
		if l.said == len(l.lines[l.line]) {
			l.line, l.said = l.line+1, 0
			l.waiting, l.spoke, l.quiet = true, false, now
			if l.line == 1 {
				l.heard.Said = now.Sub(l.answered)
			}
		}
	}
	clear(l.frame[n:])
	l.leg.Write(media.Frame{Samples: l.frame[:], Rate: media.Rate8k})
}

func loud(samples []int16) bool {
	sum := 0
	for _, v := range samples {
		sum += int(v) * int(v)
	}
	return sum > speechLevel*len(samples)
}

// announcement is what the network plays before the answer, over and over: 20 ms of 300 Hz.
func announcement() []int16 { return sine(300, 160) }

// beep is what machines end their greeting with: 300 ms of silence and 400 ms of 1 kHz.
func beep() []int16 { return append(make([]int16, 2400), sine(1000, 3200)...) }

// sine is a tone at -12 dBFS.
func sine(freq float64, samples int) []int16 {
	out := make([]int16, samples)
	for i := range out {
		out[i] = int16(8231 * math.Sin(2*math.Pi*freq*float64(i)/8000))
	}
	return out
}
