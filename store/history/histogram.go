package history

import "math"

// Latencies are counted in buckets, which can be added up over days, agents and directions. Each is
// wider than the one below it by the eighth root of two, so what is read of them is off by 4.5 % at most.
const (
	bucketsPerDoubling = 8
	lastBucket         = 1 + 17*bucketsPerDoubling // from 131 s on
)

// histogram counts latencies by their buckets. The first is of those below a millisecond; buckets that are not
// there are empty.
type histogram []int64

// bucketOf is the bucket of a latency in milliseconds.
func bucketOf(ms int64) int {
	if ms < 1 {
		return 0
	}
	return min(1+int(bucketsPerDoubling*math.Log2(float64(ms))), lastBucket)
}

// middleOf is the latency that stands for a bucket, in milliseconds: as far from its lower bound as from its upper one, in proportion.
func middleOf(bucket int) int64 {
	if bucket == 0 {
		return 0
	}
	return int64(math.Round(math.Exp2((float64(bucket) - 0.5) / bucketsPerDoubling)))
}

// add counts latencies that belong into a bucket.
func (h *histogram) add(bucket int, n int64) {
	for len(*h) <= bucket {
		*h = append(*h, 0)
	}
	(*h)[bucket] += n
}

// plus is a histogram with the counts of another added. It may keep the first one's memory.
func (h histogram) plus(other histogram) histogram {
	for bucket, n := range other {
		h.add(bucket, n)
	}
	return h
}

// sum says what the latencies of a stage come to.
func (h histogram) sum(of Wait) WaitSum {
	return WaitSum{Wait: of, Turns: h.count(), P50: h.percentile(50), P95: h.percentile(95)}
}

// count is how many latencies there are.
func (h histogram) count() (n int64) {
	for _, in := range h {
		n += in
	}
	return n
}

// percentile is what so many of a hundred latencies do not exceed, in milliseconds; 0: there are none.
func (h histogram) percentile(of int64) int64 {
	left := (h.count()*of + 99) / 100
	for bucket, n := range h {
		if left -= n; left <= 0 {
			return middleOf(bucket)
		}
	}
	return 0
}
