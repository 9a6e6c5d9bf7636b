package move

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the numbers of a Mover.
type Metrics struct {
	moves   *prometheus.CounterVec
	seconds prometheus.Histogram
	rescues *prometheus.CounterVec
	gap     prometheus.Histogram
	kept    prometheus.Gauge
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	buckets := []float64{.01, .025, .05, .1, .2, .5, 1, 2, 5, 10, 30} // seconds
	with := promauto.With(reg)
	return &Metrics{
		moves: with.NewCounterVec(prometheus.CounterOpts{Name: "parley_calls_moved_total",
			Help: "Calls that another node was asked to go on with, by outcome: moved or stayed."}, []string{"outcome"}),
		seconds: with.NewHistogram(prometheus.HistogramOpts{Name: "parley_call_move_seconds", Buckets: buckets,
			Help: "From the moment that a call is given to another node until its far end goes on there."}),
		rescues: with.NewCounterVec(prometheus.CounterOpts{Name: "parley_calls_taken_over_total",
			Help: "Calls of dead nodes that this one took over, by outcome: taken, or lost because the far end did not go on."}, []string{"outcome"}),
		gap: with.NewHistogram(prometheus.HistogramOpts{Name: "parley_call_takeover_seconds", Buckets: buckets,
			Help: "From the moment that this node begins to take over a call of a dead one until its far end goes on here."}),
		kept: with.NewGauge(prometheus.GaugeOpts{Name: "parley_calls_rescuable",
			Help: "Calls of this node that others could take over if it died."}),
	}
}
