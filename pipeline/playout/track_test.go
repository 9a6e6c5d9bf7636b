package playout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTrackIsOneSlice: whatever is done with a track, it plays what one slice would.
func TestTrackIsOneSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr track
		var all []int16
		taken, next := 0, int16(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2:
				piece := make([]int16, rapid.IntRange(0, 50).Draw(t, "piece"))
				for i := range piece {
					next++
					piece[i] = next
				}
				all = append(all, piece...)
				tr.add(piece)
			case 3:
				tr.rewind()
				taken = 0
			case 4:
				n := rapid.IntRange(0, len(all)-taken).Draw(t, "cut")
				tr.cut(n)
				// What is cut off is not heard, and nothing comes after it.
				all = all[:taken+n]
				got := make([]int16, n+1)
				if k := tr.take(got); k != n || !slices.Equal(got[:n], all[taken:]) {
					t.Fatalf("after a cut: %v, want %v", got[:k], all[taken:])
				}
				return
			default:
				got := make([]int16, rapid.IntRange(0, 30).Draw(t, "take"))
				k := tr.take(got)
				want := all[taken:min(len(all), taken+len(got))]
				if !slices.Equal(got[:k], want) {
					t.Fatalf("%v, want %v", got[:k], want)
				}
				taken += k
			}
			if tr.left() != len(all)-taken || tr.taken != taken {
				t.Fatalf("%d left, %d taken; want %d and %d", tr.left(), tr.taken, len(all)-taken, taken)
			}
		}
	})
}
