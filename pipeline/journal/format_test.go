package journal

import (
	"slices"
	"testing"

	"parley/pipeline/listen"
)

// TestFramesAreReadAgain: what was made of frames is in a file as it was.
func TestFramesAreReadAgain(t *testing.T) {
	frames := []Heard{{Level: -90}, {Speech: true, Level: -20}, {Echo: true, Open: true}, {Behind: true, Verdict: 2}, {Tone: listen.Falling}, {Tone: listen.Level, Level: -60}}
	in := &Input{Kind: Ticked}
	for _, h := range frames {
		in.AddHeard(h)
	}
	l := inputLine(in)
	again, err := l.input()
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Heard(); !slices.Equal(got, frames) {
		t.Errorf("%+v, want %+v", got, frames)
	}
}
