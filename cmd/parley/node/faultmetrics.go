package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/media/isolate"
)

var (
	panics = prometheus.NewDesc("parley_panics_total", "Panics that were contained, by their place in the source. Each ends one call at most.", []string{"site"}, nil)
	leaked = prometheus.NewDesc("parley_goroutines_leaked_total", "Goroutines of engines and functions that had not returned 5 s after their call ended.", nil, nil)
)

// faultMetrics shows what was contained in this process.
type faultMetrics struct{}

// Describe implements prometheus.Collector.
func (faultMetrics) Describe(to chan<- *prometheus.Desc) { to <- panics; to <- leaked }

// Collect implements prometheus.Collector.
func (faultMetrics) Collect(to chan<- prometheus.Metric) {
	for site, n := range isolate.Panics() {
		to <- prometheus.MustNewConstMetric(panics, prometheus.CounterValue, float64(n), site)
	}
	to <- prometheus.MustNewConstMetric(leaked, prometheus.CounterValue, float64(isolate.Leaked()))
}
