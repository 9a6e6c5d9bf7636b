package node

import (
	"math"
	"testing"

	"parley/api/callcenter"
	"parley/inference/enginetest"
	"parley/media"
	"parley/media/mediatest"
)

// TestEarlyMedia: the network plays an announcement before the callee answers. It is told
// as ringing, once, and nobody listens to it.
func TestEarlyMedia(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	asr := enginetest.NewFakeASR()
	asr.Keep = true
	d.node.engines.ASR = asr
	id := d.dial("08", "continue", "")
	rang, lines := 0, 0
	end := d.ended(id, func(c callcenter.Change) bool {
		switch c.Kind {
		case callcenter.StatusChanged:
			if c.State.Status == "ringing" {
				rang++
			}
		case callcenter.LineAdded:
			if lines++; c.State.Status != "connected" {
				t.Errorf("%q was said before the answer", c.Line.Text)
			}
		}
		return lines >= 2
	})
	if rang != 1 || lines < 2 || end.EndReason != "api_hangup" {
		t.Errorf("it rang %d times, %d lines were said, and it ended %s", rang, lines, end.EndReason)
	}
	heard := 0
	for _, s := range asr.Streams() {
		audio := s.Audio()
		heard += len(audio)
		for ; len(audio) >= 1600; audio = audio[800:] {
			if hz, level := mediatest.Peak(audio[:1600], media.Rate16k); math.Abs(hz-300) < 10 && level > -25 {
				t.Fatal("the recogniser heard what was played before the answer")
			}
		}
	}
	if heard == 0 {
		t.Error("the recogniser heard nobody")
	}
}
