package dtmf

import (
	"math"
	"math/cmplx"
)

// The tones of a key, one of the low and one of the high group (ITU-T Q.23).
var keyTones = [8]float64{697, 770, 852, 941, 1209, 1336, 1477, 1633}

// keypad are the keys by their low and high tone.
const keypad = "123A" + "456B" + "789C" + "*0#D"

// What a detector takes for a key. ITU-T Q.24 lists what administrations ask of receivers: tones of 40 ms, as far as 1.5 % beside
// their frequency, from 0 to -25 dBm, the high one up to 4 dB above and 8 dB below the low one, are keys; tones of 20 ms are none.
const (
	// The last 20 ms are judged every 5 ms.
	hopsPerSecond = 200
	window        = 4 // hops
	// A key goes down when it was heard so many times one after another: the shortest is heard eight times, one of 20 ms five.
	enough = 6
	// A key is up when it was not heard so many times: tones may break off for 10 ms, which is six.
	gone = 7
	// minAmplitude of each tone, in units of a sample: -32 dBm0.
	minAmplitude = 570
	// above is by how much, in power, the tone of a group must exceed the others of its group.
	above = 6
	// highOverLow and lowOverHigh bound by how much one tone may exceed the other, in power: 6 and 10 dB.
	highOverLow, lowOverHigh = 4.0, 10.0
	// share of the whole power that the two tones must have: voices have more than two.
	share = 0.5
)

// Detector hears keys in the audio itself, of far ends that send no named events. It belongs to one goroutine.
type Detector struct {
	waves *waves
	n     int // samples of this hop so far
	hop   hop
	turn  [8]complex128 // by how much the tones have turned since the first hop
	past  [window]hop   // the last ones
	at    int           // the oldest of them

	last  byte // the key that was heard last; 0: none
	times int  // how often, one after another
	down  byte // the key that is held; 0: none
	quiet int  // how often it was not heard
}

// hop is what 5 ms have of each tone, and their power: a sum of squares.
type hop struct {
	tones [8]complex128
	power float64
}

// waves are the tones of one hop, at one rate.
type waves struct {
	cos, sin [][8]float64 // by sample
	step     [8]complex128
}

var waves8k, waves16k = newWaves(8000), newWaves(16000)

func newWaves(rate int) *waves {
	w := &waves{}
	for i := range rate / hopsPerSecond {
		var c, s [8]float64
		for k, f := range keyTones {
			s[k], c[k] = math.Sincos(2 * math.Pi * f * float64(i) / float64(rate))
		}
		w.cos, w.sin = append(w.cos, c), append(w.sin, s)
	}
	for k, f := range keyTones {
		w.step[k] = cmplx.Rect(1, 2*math.Pi*f/hopsPerSecond)
	}
	return w
}

// NewDetector returns a detector for audio of rate samples a second: 8000 or 16000.
func NewDetector(rate int) *Detector {
	d := &Detector{waves: waves8k}
	if rate == 16000 {
		d.waves = waves16k
	}
	for k := range d.turn {
		d.turn[k] = 1
	}
	return d
}

// Hear takes a frame of 20 ms at most. pressed says that a key went down in it, once for each press, 35 to 40 ms after it did. It
// does not keep the frame.
func (d *Detector) Hear(frame []int16) (key byte, pressed bool) {
	for len(frame) > 0 {
		n := min(len(frame), len(d.waves.cos)-d.n)
		d.listen(frame[:n])
		frame, d.n = frame[n:], d.n+n
		if d.n == len(d.waves.cos) && d.judge() {
			key, pressed = d.down, true
		}
	}
	return key, pressed
}

// Down says whether a key is held: what is heard is its tones.
func (d *Detector) Down() bool { return d.down != 0 }

// listen adds samples to the hop.
func (d *Detector) listen(samples []int16) {
	var re, im [8]float64
	power := 0.0
	for i, x := range samples {
		v := float64(x)
		power += v * v
		c, s := &d.waves.cos[d.n+i], &d.waves.sin[d.n+i]
		for k := range re {
			re[k] += v * c[k]
			im[k] -= v * s[k]
		}
	}
	for k := range re {
		d.hop.tones[k] += complex(re[k], im[k])
	}
	d.hop.power += power
}

// judge ends a hop, and says whether a key went down with it.
func (d *Detector) judge() bool {
	for k := range d.hop.tones {
		d.hop.tones[k] *= cmplx.Conj(d.turn[k])
		d.turn[k] *= d.waves.step[k]
	}
	d.past[d.at] = d.hop
	d.at, d.n, d.hop = (d.at+1)%window, 0, hop{}
	heard := d.key()
	if heard == 0 || heard != d.last {
		d.times = 0
	}
	d.last = heard
	d.times++
	switch {
	case heard != 0 && heard == d.down:
		d.quiet = 0
	case heard != 0 && d.times == enough:
		d.down, d.quiet = heard, 0
		return true
	case d.down != 0:
		if d.quiet++; d.quiet == gone {
			d.down = 0
		}
	}
	return false
}

// key is the key that sounds in the window; 0: none does.
func (d *Detector) key() byte {
	var whole hop
	for i := range d.past {
		for k, v := range d.past[i].tones {
			whole.tones[k] += v
		}
		whole.power += d.past[i].power
	}
	low, lowPower, lowOK := loudest(whole.tones[:4])
	high, highPower, highOK := loudest(whole.tones[4:])
	half := float64(window*len(d.waves.cos)) / 2 // a tone of amplitude a has (a half)² here and a² half in power
	least := minAmplitude * minAmplitude * half * half
	switch {
	case !lowOK || !highOK, lowPower < least, highPower < least, highPower > highOverLow*lowPower, lowPower > lowOverHigh*highPower,
		lowPower+highPower < share*whole.power*half:
		return 0
	}
	return keypad[4*low+high]
}

// loudest finds the tone of a group that stands out; ok says whether one does.
func loudest(group []complex128) (at int, power float64, ok bool) {
	second := 0.0
	for i, v := range group {
		switch p := real(v)*real(v) + imag(v)*imag(v); {
		case p > power:
			at, power, second = i, p, power
		case p > second:
			second = p
		}
	}
	return at, power, power > above*second
}
