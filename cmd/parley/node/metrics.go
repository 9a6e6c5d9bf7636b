package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/api/recording"
	"parley/cmd/parley/metrics"
	"parley/cmd/parley/money"
)

// register registers what the parts of the node count.
func (n *Node) register(reg prometheus.Registerer) {
	metrics.Manager(reg, n.manager)
	n.verified = money.NewVerification(n.db, reg, n.log)
	reg.MustRegister(n.cert, n.engines.Failures, n.cluster.NodesLost, metrics.Refusals{Counts: &n.counts}, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_bus_connected",
		Help: "1 while messages travel between nodes, else 0."}, func() float64 {
		if n.bus.Connected() {
			return 1
		}
		return 0
	}))
	reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "parley_requests_unlogged_total",
		Help: "Requests that are missing in the log of accounts, because too many waited or the database was away."},
		func() float64 { return float64(n.asked.Dropped()) }))
	metrics.Unsent(reg, func() recording.Unsent { return n.records.Unsent() })
	if n.phone != nil {
		metrics.Phone(reg, n.phone)
	}
}
