package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/media/isolate"
)

var (
	panics = prometheus.NewDesc("parley_panics_total", "Panics that were contained, by their place in the source. Each ends one call at most.", []string{"site"}, nil)
	leaked = prometheus.NewDesc("parley_goroutines_leaked_total", "Goroutines of engines and functions that had not returned 5 s after their call ended.", nil, nil)
)

// faults reports the panics that were contained in this process.
type faults struct{}

// Describe implements prometheus.Collector.
func (faults) Describe(to chan<- *prometheus.Desc) { to <- panics; to <- leaked }

// Collect implements prometheus.Collector.
func (faults) Collect(to chan<- prometheus.Metric) {
	for site, n := range isolate.Panics() {
		to <- prometheus.MustNewConstMetric(panics, prometheus.CounterValue, float64(n), site)
	}
	to <- prometheus.MustNewConstMetric(leaked, prometheus.CounterValue, float64(isolate.Leaked()))
}

// Refusals reports refusals, but for incoming calls: SIP has causes of its own, which Phone reports.
type Refusals struct{ Counts *api.Counts }

var refusals = prometheus.NewDesc("parley_refusals_total",
	"Requests, conversations, transfers and rows of batches that were refused, by the public code of the reason.", []string{"code"}, nil)

// Describe is of prometheus.Collector.
func (m Refusals) Describe(c chan<- *prometheus.Desc) { c <- refusals }

// Collect is of prometheus.Collector.
func (m Refusals) Collect(c chan<- prometheus.Metric) {
	for code, n := range m.Counts.Refused() {
		c <- prometheus.MustNewConstMetric(refusals, prometheus.CounterValue, float64(n), code)
	}
}
