package vad

import "parley/media/denoise"

// Settings of the gate, in dB and frames of 20 ms.
const (
	gateFrames = 150 // how much of the past counts: 3 s
	gateShare  = 15  // percent of it that is taken for background
	overPast   = 6   // speech is this much above the background
	underVoice = 16  // and at most this much below the caller's voice
	voiceHeld  = 50  // frames of speech in gateFrames that are as loud as the voice: 1 s
	voiceFall  = 1.0 / 50
	gateStep   = 0.5 // resolution of the levels kept
	gateSteps  = int(-denoise.MinLevel / gateStep)
)

// gate lets through frames that stand out: from the quietest part of the last
// seconds, which is what background voices fill, and from voices much weaker than
// the caller's.
type gate struct {
	past, spoken levels  // of all frames, and of those of speech
	voice        float32 // how loud the caller speaks; falls 1 dB a second
}

func (g *gate) reset() { *g = gate{voice: denoise.MinLevel} }

// pass takes the level of the next frame and says whether it stands out; speaking
// frames teach the gate how loud the caller is. One shout does not: the voice is what
// the caller keeps up for a second, and what they say after a shout is theirs too.
func (g *gate) pass(level float32, speaking bool) bool {
	background := g.past.reached(g.past.n * gateShare / 100)
	out := level > background+overPast && level > g.voice-underVoice
	g.past.add(level)
	g.voice = max(g.voice-voiceFall, denoise.MinLevel)
	if speaking {
		g.spoken.add(level)
		if level > g.voice && g.spoken.n >= voiceHeld {
			g.voice = max(g.voice, min(level, g.spoken.reached(g.spoken.n-voiceHeld)))
		}
	}
	return out
}

// levels are those of the last gateFrames frames.
type levels struct {
	ring   [gateFrames]uint8
	at, n  int
	counts [gateSteps + 1]uint8
}

func (l *levels) add(level float32) {
	if l.n == gateFrames {
		l.counts[l.ring[l.at]]--
	} else {
		l.n++
	}
	s := uint8(max(0, min(gateSteps, int((level-denoise.MinLevel)/gateStep))))
	l.ring[l.at] = s
	l.counts[s]++
	if l.at++; l.at == gateFrames {
		l.at = 0
	}
}

// reached is the level that all but the n lowest reached.
func (l *levels) reached(n int) float32 {
	for s, c := range l.counts {
		if n -= int(c); n < 0 {
			return denoise.MinLevel + float32(s)*gateStep
		}
	}
	return denoise.MinLevel
}
