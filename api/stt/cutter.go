package stt

import (
	"time"

	"parley/media"
	"parley/media/vad"
)

const (
	rate  = media.Rate16k
	frame = int(rate) / 50 // samples: 20 ms, what detectors take
)

// How audio is cut into utterances, in samples.
const (
	// startFrames of speech in a row begin an utterance.
	startFrames = 3
	// preRoll is what the recogniser hears of the time before: a detector may need
	// 400 ms to notice a voice that is there from the first sample.
	preRoll = int(rate) / 2
	// calm is the silence that recognisers want around speech to know where it
	// begins and ends; a recording that has none is given it.
	calm = int(rate) * 3 / 10
	// maxUtterance is less than what a recogniser keeps while it lags or fails,
	// inference.TapeLength, so that it hears all of an utterance given at once.
	maxUtterance = 14 * int(rate)
)

// pause is how long a speaker must be silent for an utterance that has become so
// long to end: who reads aloud hardly pauses, and a cut between two words is
// better than one within a word.
func pause(length int) time.Duration {
	switch {
	case length < 8*int(rate):
		return 600 * time.Millisecond
	case length < 11*int(rate):
		return 200 * time.Millisecond
	}
	return 80 * time.Millisecond // hardly more than what detectors bridge
}

// cutter finds the utterances in 16 kHz audio. It belongs to one goroutine.
type cutter struct {
	detect vad.Detector
	// hear gets the audio of the utterance in progress, which its first call
	// begins; the slice is borrowed.
	hear func([]int16)
	// done receives the end of an utterance: from is where its voice begins and
	// to where it ends, in samples since the first one written.
	done func(from, to int64)

	part     [frame]int16 // the beginning of a frame
	have     int          // samples in it
	at       int64        // samples in whole frames so far
	lead     []int16      // the latest audio outside of utterances, up to preRoll
	run      int          // frames of speech in a row
	torn     bool         // the utterance before was cut within speech, which goes on
	open     bool         // an utterance is in progress
	from, to int64
	length   int // samples of the utterance
	quiet    int // frames without speech at its end
}

func newCutter(detector string, hear func([]int16), done func(from, to int64)) (*cutter, error) {
	detect, err := vad.New(detector, rate, nil)
	if err != nil {
		return nil, err
	}
	return &cutter{detect: detect, hear: hear, done: done, lead: make([]int16, calm, preRoll)}, nil
}

// write takes audio of any length. Both functions are called before it returns.
func (c *cutter) write(samples []int16) {
	for len(samples) > 0 {
		n := copy(c.part[c.have:], samples)
		samples = samples[n:]
		if c.have += n; c.have == frame {
			c.have = 0
			c.step()
		}
	}
}

// end says that nothing follows what was written: the utterance in progress is
// over.
func (c *cutter) end() {
	if c.have > 0 {
		clear(c.part[c.have:])
		c.have = 0
		c.step()
	}
	if c.open {
		if missing := calm - c.quiet*frame; missing > 0 {
			c.hear(make([]int16, missing))
		}
		c.finish()
	}
	c.run, c.torn = 0, false
}

// step takes the frame in part.
func (c *cutter) step() {
	speech := c.detect.Detect(media.Frame{Samples: c.part[:], Rate: rate}).Speech
	c.at += int64(frame)
	if !c.open {
		c.wait(speech)
		return
	}
	c.hear(c.part[:])
	c.length += frame
	c.quiet++
	if speech {
		c.quiet = 0
		c.to = c.at
	}
	if time.Duration(c.quiet)*20*time.Millisecond >= pause(c.length) || c.length >= maxUtterance {
		c.finish()
		c.torn = c.quiet == 0
	}
}

// wait takes a frame outside of utterances.
func (c *cutter) wait(speech bool) {
	if over := len(c.lead) + frame - preRoll; over > 0 {
		c.lead = c.lead[:copy(c.lead, c.lead[over:])]
	}
	c.lead = append(c.lead, c.part[:]...)
	if !speech {
		c.run, c.torn = 0, false
		return
	}
	if c.run++; c.run < startFrames && !c.torn {
		return
	}
	c.open, c.torn, c.quiet = true, false, 0
	c.from, c.to = c.at-int64(c.run*frame), c.at
	c.length = len(c.lead)
	c.hear(c.lead)
	c.lead = c.lead[:0]
}

func (c *cutter) finish() {
	c.open, c.run = false, 0
	c.done(c.from, c.to)
}
