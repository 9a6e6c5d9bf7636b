package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/api/recording"
)

// Unsent registers the metrics of recordings that wait on the node's disk for the store.
func Unsent(reg prometheus.Registerer, now func() recording.Unsent) {
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_recording_unsent_seconds",
			Help: "For how long the oldest part of a recording has waited on the disk to be put into the store; 0: none waits."},
			func() float64 { return now().Age.Seconds() }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_recording_unsent_bytes",
			Help: "Raw audio of recordings on the disk of this node. Recordings end where they are when it is 4 GiB."},
			func() float64 { return float64(now().Bytes) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "parley_recording_send_failures_total",
			Help: "Attempts to put a part of a recording into the store that failed. Each is tried again."},
			func() float64 { return float64(now().Failures) }))
}
