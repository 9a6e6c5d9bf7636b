package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
)

// refusalMetrics reports what was refused. Incoming calls are not among it: SIP has
// its own causes, which trunkMetrics reports.
type refusalMetrics struct{ counts *api.Counts }

var refusals = prometheus.NewDesc("parley_refusals_total",
	"Requests, conversations, transfers and rows of batches that were refused, by the public code of the reason.", []string{"code"}, nil)

// Describe is of prometheus.Collector.
func (m refusalMetrics) Describe(c chan<- *prometheus.Desc) { c <- refusals }

// Collect is of prometheus.Collector.
func (m refusalMetrics) Collect(c chan<- prometheus.Metric) {
	for code, n := range m.counts.Refused() {
		c <- prometheus.MustNewConstMetric(refusals, prometheus.CounterValue, float64(n), code)
	}
}
