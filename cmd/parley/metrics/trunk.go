package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/sip"
)

// trunkMetrics reports the state of the trunks, and refusals, when it is collected.
type trunkMetrics struct{ phone *sip.UserAgent }

var (
	trunkCalls = prometheus.NewDesc("parley_trunk_calls", "Calls on a trunk now, both directions.", []string{"trunk"}, nil)
	channels   = prometheus.NewDesc("parley_trunk_channels", "Calls that a trunk with a limit may have on this node at once.", []string{"trunk"}, nil)
	trunkUp    = prometheus.NewDesc("parley_trunk_target_up", "1 while a trunk's target answers, else 0.", []string{"trunk", "target"}, nil)
	registered = prometheus.NewDesc("parley_trunk_registered", "1 while a trunk's registration is in force, whichever node has it, else 0.", []string{"trunk"}, nil)
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
		if t.Account != "" {
			continue // accounts see theirs themselves, and there may be thousands
		}
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

// Phone registers what the SIP side counts.
func Phone(reg prometheus.Registerer, phone *sip.UserAgent) {
	for _, m := range []struct {
		name, help string
		value      func(sip.Stats) uint64
	}{
		{"parley_sip_unknown_total", "Messages and connections from sources outside the trunks.", func(s sip.Stats) uint64 { return s.Unknown }},
		{"parley_sip_malformed_total", "Datagrams that could not be parsed.", func(s sip.Stats) uint64 { return s.Malformed }},
		{"parley_sip_overload_total", "INVITEs refused because too many rang.", func(s sip.Stats) uint64 { return s.Overload }},
		{"parley_sip_refused_total", "INVITEs refused for any other reason.", func(s sip.Stats) uint64 { return s.Refused }},
		{"parley_rtp_latched_total", "Times that media of a call came from another address than its description named.", func(s sip.Stats) uint64 { return s.Latched }},
		{"parley_rtp_none_total", "Calls without media for 5 s from the answer.", func(s sip.Stats) uint64 { return s.NoRTP }},
	} {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: m.name, Help: m.help},
			func() float64 { return float64(m.value(phone.Stats())) }))
	}
	reg.MustRegister(trunkMetrics{phone})
}
