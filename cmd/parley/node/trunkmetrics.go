package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/sip"
)

// trunkMetrics reports how the trunks do, and what was refused. It asks the
// telephone when it is asked.
type trunkMetrics struct{ phone *sip.UserAgent }

var (
	trunkCalls = prometheus.NewDesc("parley_trunk_calls", "Calls on a trunk now, both directions.", []string{"trunk"}, nil)
	channels   = prometheus.NewDesc("parley_trunk_channels", "Calls that a trunk with a limit may have on this node at once.", []string{"trunk"}, nil)
	trunkUp    = prometheus.NewDesc("parley_trunk_target_up", "1 while a trunk's target answers, else 0.", []string{"trunk", "target"}, nil)
	registered = prometheus.NewDesc("parley_trunk_registered", "1 while a trunk's registration is in force, else 0.", []string{"trunk"}, nil)
	rejected   = prometheus.NewDesc("parley_sip_rejected_total", "Incoming messages and calls that were refused, by cause.", []string{"cause"}, nil)
)

// Describe is of prometheus.Collector.
func (m trunkMetrics) Describe(c chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{trunkCalls, channels, trunkUp, registered, rejected} {
		c <- d
	}
}

// Collect is of prometheus.Collector.
func (m trunkMetrics) Collect(c chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, t := range m.phone.Trunks() {
		gauge(trunkCalls, float64(t.Calls), t.Name)
		if t.Channels > 0 {
			gauge(channels, float64(t.Channels), t.Name)
		}
		for _, target := range t.Targets {
			gauge(trunkUp, truth(target.Up), t.Name, target.Target)
		}
		if r := t.Registration; r != nil {
			gauge(registered, truth(r.Registered), t.Name)
		}
	}
	for cause, n := range m.phone.Rejected() {
		c <- prometheus.MustNewConstMetric(rejected, prometheus.CounterValue, float64(n), string(cause))
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
