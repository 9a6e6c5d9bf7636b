package synthesiser

import (
	"testing"
	"time"

	"parley/inference"
)

// TestRestarts: a vendor's times of words may count from the beginning of what was flushed, or go on; they are found in the audio
// either way.
func TestRestarts(t *testing.T) {
	for _, goesOn := range []bool{false, true} {
		u := &utterance{}
		for n := range 4 {
			begins := time.Duration(n) * 2 * time.Second
			for _, at := range []time.Duration{0, 600 * time.Millisecond, 1200 * time.Millisecond} {
				m := inference.Mark{Start: at, End: at + 600*time.Millisecond}
				if goesOn {
					m.Start, m.End = m.Start+begins, m.End+begins
				}
				u.note(Piece{Restarts: true, Words: []inference.Mark{m}})
				if got := u.words[len(u.words)-1]; got.Start != begins+at || got.End != begins+at+600*time.Millisecond {
					t.Errorf("goes on: %v: word at %v of flush %d has %+v", goesOn, at, n+1, got)
				}
			}
			u.flushed = begins + 2*time.Second
		}
	}
}
