package node

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"parley/inference"
	"parley/media"
	"parley/pipeline"
)

// metrics are the numbers of the node's calls.
type metrics struct {
	ended    *prometheus.CounterVec
	turns    prometheus.Histogram
	overhead prometheus.Histogram
	cuts     prometheus.Counter
	faults   *prometheus.CounterVec
	tokens   *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, n *Node) *metrics {
	m := &metrics{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_calls_ended_total",
			Help: "Calls that ended, by how they came and why they ended."}, []string{"leg", "reason", "detail"}),
		turns: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "parley_turn_seconds",
			Help:    "From the end of the caller's speech to the first audio of the answer.",
			Buckets: []float64{.1, .2, .3, .4, .5, .75, 1, 1.5, 2, 3, 5, 10}}),
		overhead: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "parley_turn_overhead_seconds",
			Help:    "The part of it that is neither waiting for the caller nor an engine's.",
			Buckets: []float64{.001, .002, .005, .01, .02, .04, .08, .2}}),
		cuts: prometheus.NewCounter(prometheus.CounterOpts{Name: "parley_interruptions_total",
			Help: "Replies that the caller cut off."}),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_engine_faults_total",
			Help: "Engine failures that a call met."}, []string{"engine", "fault"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_llm_tokens_total",
			Help: "Tokens of the language model."}, []string{"direction", "outcome"}),
	}
	live := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_calls",
		Help: "Calls in progress."}, func() float64 { return float64(n.manager.Live()) })
	reg.MustRegister(m.ended, m.turns, m.overhead, m.cuts, m.faults, m.tokens, live)
	return m
}

// observe counts an event of any call. It runs on conductors.
func (n *Node) observe(e pipeline.Event) {
	m := n.metrics
	switch e.Kind {
	case pipeline.Timed:
		m.turns.Observe(e.Timing.Total.Seconds())
		m.overhead.Observe(e.Timing.Overhead.Seconds())
	case pipeline.Interrupted:
		m.cuts.Inc()
	case pipeline.Fault:
		engine, fault := "unknown", inference.ErrFailed.String()
		if f, ok := errors.AsType[*inference.Error](e.Err); ok {
			engine, fault = f.Engine, f.Fault.String()
		}
		m.faults.WithLabelValues(engine, fault).Inc()
		n.log.Warn("an engine failed a turn", "err", e.Err)
	case pipeline.Used:
		m.tokens.WithLabelValues("in", string(e.Usage.Outcome)).Add(float64(e.Usage.Tokens.In))
		m.tokens.WithLabelValues("out", string(e.Usage.Outcome)).Add(float64(e.Usage.Tokens.Out))
	}
}

// ended counts a call that is over.
func (n *Node) ended(leg string, e media.Ended) {
	n.metrics.ended.WithLabelValues(leg, string(e.Reason), e.Detail).Inc()
}
