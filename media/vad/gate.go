package vad

import "parley/media/denoise"

// Settings of the gate, in dB and frames of 20 ms.
const (
	gateFrames = 150 // how much of the past counts: 3 s
	gateShare  = 15  // percent of it that is taken for background
	overPast   = 6   // speech is this much above the background
	underPeak  = 18  // and at most this much below the caller's voice
	peakRise   = 0.3 // of the way to a louder frame, per frame
	peakFall   = 1.0 / 50
	gateStep   = 0.5 // resolution of the levels kept
	gateSteps  = int(-denoise.MinLevel / gateStep)
)

// gate lets through frames that stand out: from the quietest part of the last
// seconds, which is what background voices fill, and from voices much weaker than
// the caller's.
type gate struct {
	past   [gateFrames]uint8
	at, n  int
	counts [gateSteps + 1]uint8
	peak   float32 // follows the loudest frames of speech, falls 1 dB a second
}

func (g *gate) reset() { *g = gate{peak: denoise.MinLevel} }

// pass takes the level of the next frame and says whether it stands out; speaking
// frames teach the gate how loud the caller is.
func (g *gate) pass(level float32, speaking bool) bool {
	out := level > g.background()+overPast && level > g.peak-underPeak
	g.remember(level)
	g.peak = max(g.peak-peakFall, denoise.MinLevel)
	if speaking && level > g.peak {
		g.peak += peakRise * (level - g.peak)
	}
	return out
}

func (g *gate) remember(level float32) {
	if g.n == gateFrames {
		g.counts[g.past[g.at]]--
	} else {
		g.n++
	}
	s := uint8(max(0, min(gateSteps, int((level-denoise.MinLevel)/gateStep))))
	g.past[g.at] = s
	g.counts[s]++
	if g.at++; g.at == gateFrames {
		g.at = 0
	}
}

// background is the level that gateShare percent of the past stayed below.
func (g *gate) background() float32 {
	left := g.n * gateShare / 100
	for s, c := range g.counts {
		if left -= int(c); left < 0 {
			return denoise.MinLevel + float32(s)*gateStep
		}
	}
	return denoise.MinLevel
}
