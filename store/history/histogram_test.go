package history

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPercentilesOfBuckets: within 4.5 % of the value that an exact list would give, and exact below a millisecond.
func TestPercentilesOfBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 10, 99, 100, 101, 5000} {
		var h histogram
		var exact []int64
		for range n {
			ms := int64(math.Exp(r.Float64()*11) - 1) // up to a minute
			exact = append(exact, ms)
			h.add(bucketOf(ms), 1)
		}
		slices.Sort(exact)
		for _, of := range []int64{1, 50, 95, 99, 100} {
			want := exact[(int64(n)*of+99)/100-1]
			if got := h.percentile(of); math.Abs(float64(got-want)) > 0.045*float64(want)+0.5 {
				t.Errorf("%d of a hundred of %d: %d ms, want %d", of, n, got, want)
			}
		}
		if h.count() != int64(n) {
			t.Errorf("%d counted, want %d", h.count(), n)
		}
	}
}

// TestBuckets: each holds what lies between its bounds; what is below 0 and what is endless has a place.
func TestBuckets(t *testing.T) {
	before := 0
	for ms := int64(0); ms < 200_000; ms++ {
		b := bucketOf(ms)
		if b < before || b > lastBucket {
			t.Fatalf("%d ms are in bucket %d, after %d", ms, b, before)
		}
		before = b
	}
	if bucketOf(-5) != 0 || bucketOf(math.MaxInt64) != lastBucket || bucketOf(math.MinInt64) != 0 || middleOf(0) != 0 {
		t.Error("what is out of range is not in the first bucket or the last")
	}
	if (histogram{}).percentile(50) != 0 {
		t.Error("nothing has a percentile")
	}
}
