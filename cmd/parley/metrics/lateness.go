package metrics

import (
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"parley/media/stream"
)

var packetLateness = prometheus.NewDesc("parley_rtp_packet_lateness_seconds",
	"How late RTP packets were sent, all packets of the calls that have ended. The sum counts each as its bucket's end.", nil, nil)

// lateness is a histogram of packets, which calls have counted themselves: Prometheus's own would take each packet a lock.
type lateness struct {
	mu  sync.Mutex
	sum stream.Lateness
}

func (l *lateness) add(call stream.Lateness) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum.Add(call)
}

// Describe implements prometheus.Collector.
func (*lateness) Describe(to chan<- *prometheus.Desc) { to <- packetLateness }

// Collect implements prometheus.Collector.
func (l *lateness) Collect(to chan<- prometheus.Metric) {
	l.mu.Lock()
	all := l.sum
	l.mu.Unlock()
	packets, within := all.Cumulative()
	sum, before := 0.0, uint64(0)
	for _, bound := range slices.Sorted(maps.Keys(within)) {
		sum += bound * float64(within[bound]-before)
		before = within[bound]
	}
	sum += all.Max.Seconds() * float64(packets-before)
	to <- prometheus.MustNewConstHistogram(packetLateness, packets, sum, within)
}
