package rtp_test

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/mediatest"
	"parley/media/rtp"
)

// keysThenTone are the frames of keys as they sound, and then a tone without end.
func keysThenTone(keys string) func(i int) []int16 {
	var s dtmf.Sender
	var frames [][]int16
	for i := range keys {
		for s.Start(keys[i]); s.Active(); {
			frame := make([]int16, 160)
			s.Next().Sound(frame, 8000)
			frames = append(frames, frame)
		}
	}
	return func(i int) []int16 {
		if i < len(frames) {
			return frames[i]
		}
		return toneFrame(i)
	}
}

// TestKeysInTheAudio: a far end that sends no events presses keys in its audio, of which little is heard besides; from one that
// sends events, the same audio is audio.
func TestKeysInTheAudio(t *testing.T) {
	for events, want := range map[uint8]string{0: "159#", 101: ""} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork()
			far := n.phone(phoneAddr.String(), 1)
			c := newCall(t, n, func(cfg *rtp.Config) { cfg.Format.Events = events })
			said, i := keysThenTone("159#"), 0
			c.conduct(2*time.Second, func() { far.say(ourAddr, said(i)); i++ })
			if got := c.digits(); got != want {
				t.Errorf("events %d: keys %q, want %q", events, got, want)
			}
			if c.s.Stats().Digits != uint64(len(want)) {
				t.Errorf("events %d: %d keys are counted", events, c.s.Stats().Digits)
			}
			keys := mediatest.Level(c.heard[:6400])
			if quiet := keys < mediatest.Level(c.heard[8000:])-6; quiet != (events == 0) {
				t.Errorf("events %d: the keys are heard at %.1f dB", events, keys)
			}
			if snr := mediatest.SNR(c.heard[8000:14400], media.Rate8k, 440); snr < 28 {
				t.Errorf("events %d: the audio after them is heard at %.1f dB", events, snr)
			}
			c.hangUp()
		})
	}
}
