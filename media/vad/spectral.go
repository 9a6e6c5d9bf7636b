package vad

import (
	"parley/media"
	"parley/media/denoise"
)

// Settings of the spectral detector.
const (
	// threshold is the likelihood ratio from which a frame is speech; steady noise
	// stays below half of it.
	threshold = 0.15
	// openFrames of speech in a row open the detector.
	openFrames = 2
	// holdFrames is how long an open detector bridges: most of the closure of a
	// stop consonant. More would delay every end by as much.
	holdFrames = 2
)

// spectral is the default detector.
//
// While it is closed, a frame counts only if all of it is speech, so a click does
// not open it; then the first frame shows some 10 ms after the voice does, and a
// consumer that wants three in a row starts 65 to 85 ms after it (a faint f or h
// that drowns in noise comes before that). Two frames in a row open it: from then
// any speech in a frame counts and short gaps are bridged. The
// end of speech shows at most holdFrames late, but the tail of a word fades below
// the gate about as much earlier.
type spectral struct {
	analysis *denoise.Analysis
	own      *denoise.Analyser // nil when the suppressor's analysis is shared
	gate     gate
	run      int // frames of speech in a row
	hold     int // frames that may still be bridged; the detector is open while there are any
}

func (d *spectral) Reset() {
	if d.own != nil {
		d.own.Reset()
	}
	d.gate.reset()
	d.run, d.hold = 0, 0
}

// analyse is what is known of the frame.
func (d *spectral) analyse(f media.Frame) *denoise.Analysis {
	if d.own != nil {
		return d.own.Analyse(f)
	}
	return d.analysis
}

func (d *spectral) Detect(f media.Frame) Decision {
	a := d.analyse(f)
	open := d.hold > 0
	ratio := a.Least
	if open {
		ratio = a.LLR
	}
	speech := ratio >= threshold
	speech = d.gate.pass(a.Level, open && speech) && speech
	switch {
	case !speech:
		d.run = 0
		if open {
			d.hold--
			speech = true
		}
	case open:
		d.hold = holdFrames
	default:
		if d.run++; d.run >= openFrames {
			d.hold = 1
		}
	}
	return Decision{Speech: speech, Level: a.Level}
}
