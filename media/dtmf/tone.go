package dtmf

import (
	"math"
	"strings"
)

// Levels of the tones that we send: -9 dBm0 of the low group and -7 of the high one, for lines dampen high tones more. A full sine
// has 3.14 dBm0 (ITU-T G.711).
var (
	lowAmplitude  = 32767 * math.Pow(10, (-9-3.14)/20)
	highAmplitude = 32767 * math.Pow(10, (-7-3.14)/20)
)

// Sound fills a frame of rate samples a second with what the key sounds like in this step, for far ends that take no events. It says
// false in the pause, and leaves the frame alone.
func (s Step) Sound(frame []int16, rate int) bool {
	if s.frame >= framesDown {
		return false
	}
	at := strings.IndexByte(keypad, digits[s.Event.Code])
	low, high := keyTones[at/4], keyTones[4+at%4]
	for i := range frame {
		t := 2 * math.Pi * float64(s.frame*len(frame)+i) / float64(rate)
		frame[i] = int16(lowAmplitude*math.Sin(low*t) + highAmplitude*math.Sin(high*t))
	}
	return true
}
