package node

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"parley/inference"
	"parley/media"
	"parley/media/rtp"
	"parley/pipeline"
	"parley/sip"
)

// metrics are the numbers of the node's calls.
type metrics struct {
	ended    *prometheus.CounterVec
	turns    prometheus.Histogram
	overhead prometheus.Histogram
	cuts     prometheus.Counter
	faults   *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	mos      prometheus.Histogram
	late     prometheus.Histogram
	lost     prometheus.Counter
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
	m.mos = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "parley_rtp_mos",
		Help: "Estimated quality of what telephone calls heard, by the E-model, per call.", Buckets: []float64{1, 2, 2.5, 3, 3.5, 4, 4.2, 4.5}})
	m.late = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "parley_rtp_lateness_seconds",
		Help: "How late RTP packets were sent, 99.9th percentile per call.", Buckets: []float64{.001, .002, .005, .01, .02, .05, .1}})
	m.lost = prometheus.NewCounter(prometheus.CounterOpts{Name: "parley_rtp_lost_total",
		Help: "RTP packets of callers that were lost or came too late."})
	live := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_calls",
		Help: "Calls in progress."}, func() float64 { return float64(n.manager.Live()) })
	reg.MustRegister(m.ended, m.turns, m.overhead, m.cuts, m.faults, m.tokens, m.mos, m.late, m.lost, live)
	if n.phone != nil {
		telephoneMetrics(reg, n.phone)
	}
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

// ended counts a call that is over and says so.
func (n *Node) ended(leg, session string, e media.Ended) {
	n.metrics.ended.WithLabelValues(leg, string(e.Reason), e.Detail).Inc()
	n.log.Info("call ended", "leg", leg, "session", session, "reason", string(e.Reason), "detail", e.Detail)
}

// heard notes the quality of a telephone call's audio.
func (n *Node) heard(session string, s rtp.Stats) {
	n.metrics.mos.Observe(s.MOS)
	n.metrics.lost.Add(float64(s.Lost + s.Late))
	n.metrics.late.Observe(s.Lateness.Quantile(0.999).Seconds())
	n.log.Info("call quality", "session", session, "mos", s.MOS, "received", s.Received, "lost", s.Lost, "late", s.Late,
		"jitter_ms", s.Jitter.Milliseconds(), "foreign", s.Foreign)
}

// telephoneMetrics are what the SIP side counts by itself.
func telephoneMetrics(reg prometheus.Registerer, phone *sip.UserAgent) {
	for _, m := range []struct {
		name, help string
		value      func(sip.Stats) uint64
	}{
		{"parley_sip_unknown_total", "Messages and connections from sources outside the trunks.", func(s sip.Stats) uint64 { return s.Unknown }},
		{"parley_sip_malformed_total", "Datagrams that could not be parsed.", func(s sip.Stats) uint64 { return s.Malformed }},
		{"parley_sip_overload_total", "INVITEs refused because too many rang.", func(s sip.Stats) uint64 { return s.Overload }},
		{"parley_sip_refused_total", "INVITEs refused for any other reason.", func(s sip.Stats) uint64 { return s.Refused }},
	} {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: m.name, Help: m.help},
			func() float64 { return float64(m.value(phone.Stats())) }))
	}
}
