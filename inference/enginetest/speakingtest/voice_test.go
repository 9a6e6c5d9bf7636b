package speakingtest

import (
	"math"
	"slices"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

func TestVoice(t *testing.T) {
	for _, speed := range []float64{0, 1.2} {
		v := Voice{Coding: loopbacktest.Mulaw, Rate: 8000, Speed: speed}
		var pcm []int16
		var words []Word
		length := time.Duration(0)
		for _, text := range []string{"Good morning, ", "Ana.", " "} {
			for _, c := range v.Chunks(text) {
				pcm, length = append(pcm, loopbacktest.Mulaw.Decode(c.Audio)...), length+c.Length
				words = append(words, c.Words...)
			}
		}
		each := 60 * time.Millisecond
		if speed > 0 {
			each = 50 * time.Millisecond
		}
		if level := loopbacktest.Level(pcm); length != 19*each || len(pcm) != int(length.Milliseconds())*8 || math.Abs(level+15) > .5 {
			t.Errorf("%v of audio, %d samples at %v dBFS", length, len(pcm), level)
		}
		texts, starts, ends := Times(words)
		if !slices.Equal(texts, []string{"Good", "morning,", "Ana."}) || starts[1] != (5*each).Seconds() || ends[1] != (13*each).Seconds() || starts[2] != (14*each).Seconds() {
			t.Errorf("%q from %v to %v", texts, starts, ends)
		}
	}
}

func TestLog(t *testing.T) {
	var l Log
	c := l.Begin("c1")
	l.Change(func() { c.Text += "Hello." })
	if !l.End(c, "done") || l.End(c, "cut") {
		t.Error("a context ends once")
	}
	list := l.Contexts()
	list[0].Text = ""
	if got := l.Contexts(); len(got) != 1 || got[0] != (Context{ID: "c1", Text: "Hello.", End: "done"}) {
		t.Errorf("%+v", got)
	}
}
