package hearingtest

import (
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// Client is a raw client of a recogniser with audio at 8 kHz, for the tests that a fake has of itself.
type Client[M loopbacktest.Message] struct {
	*loopbacktest.Client[M]
	Coding loopbacktest.Coding
	Each   time.Duration          // of audio, in one message
	Wrap   func(audio []byte) any // a message with audio, in JSON; nil: audio comes by itself
}

// Say sends loud audio, Hush quiet.
func (c Client[M]) Say(d time.Duration)  { c.Audio(d, c.Each, loopbacktest.Loud) }
func (c Client[M]) Hush(d time.Duration) { c.Audio(d, c.Each, loopbacktest.Quiet) }

// Audio sends audio of a level in dBFS, so much of it in each message.
func (c Client[M]) Audio(d, each time.Duration, level float64) {
	for audio := range loopbacktest.Sound(c.Coding, d, each, level) {
		if c.Wrap != nil {
			c.JSON(c.Wrap(audio))
		} else {
			c.Binary(audio)
		}
	}
}
