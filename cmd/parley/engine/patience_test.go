package engine

import (
	"testing"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline"
)

// TestPatience: conversations wait for a recogniser as long as it was found to take, once it
// was asked often enough.
func TestPatience(t *testing.T) {
	const ms = time.Millisecond
	engine := inference.Info{Name: "far", Latency: 5 * time.Second, Feed: inference.FeedBatch}
	for _, c := range []struct {
		name string
		took []time.Duration // repeated 600 times
		n    int
		want time.Duration
	}{
		{"nothing is known", nil, 0, 5 * time.Second},
		{"little is known", []time.Duration{800 * ms}, 19, 5 * time.Second},
		{"it is quick", []time.Duration{300 * ms}, 20, 600 * ms},
		{"it is slower than one thinks", []time.Duration{7 * time.Second}, 20, 7 * time.Second},
		{"one of fifty is slow", append(many(49, 900*ms), 2*time.Second), 500, 2 * time.Second},
		{"one of 200 is", append(many(199, 900*ms), 2*time.Second), 400, 900 * ms},
		{"what was long ago does not count", append(many(100, 4*time.Second), many(500, 900*ms)...), 600, 900 * ms},
		{"nobody waits for ever", []time.Duration{time.Minute}, 20, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Patience
			var cfg pipeline.Config
			p.Fit(&cfg, engine)
			for i := range c.n {
				cfg.Recognised(c.took[i%len(c.took)])
			}
			p.Fit(&cfg, engine)
			if cfg.Turn.Recogniser != media.FromDuration(c.want) || !cfg.Turn.Batch {
				t.Errorf("waits %v (batch %v), want %v", cfg.Turn.Recogniser.Duration(), cfg.Turn.Batch, c.want)
			}
			p.Fit(&cfg, inference.Info{Name: "other", Latency: time.Second})
			if cfg.Turn.Recogniser != media.Second || cfg.Turn.Batch {
				t.Errorf("waits %v for another", cfg.Turn.Recogniser.Duration())
			}
		})
	}
}

func many(n int, d time.Duration) []time.Duration {
	list := make([]time.Duration, n)
	for i := range list {
		list[i] = d
	}
	return list
}
