package wordtime

import (
	"testing"

	"parley/media"
)

// TestUntil: no word lasts beyond the end of its line.
func TestUntil(t *testing.T) {
	const ms = media.Millisecond
	s := Said{Words: []Word{{"one", 0, 500 * ms}, {"two", 600 * ms, 911 * ms}, {"three", 905 * ms, 920 * ms}}}
	s.Until(900 * ms)
	for i, want := range []Word{{"one", 0, 500 * ms}, {"two", 600 * ms, 900 * ms}, {"three", 900 * ms, 900 * ms}} {
		if s.Words[i] != want {
			t.Errorf("%+v, want %+v", s.Words[i], want)
		}
	}
}
