package node

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"parley/inference"
	"parley/media"
	"parley/media/isolate"
	"parley/media/quality"
	"parley/media/rtp"
	"parley/pipeline"
	"parley/pipeline/session"
	"parley/sip"
)

// metrics are the numbers of the node's calls.
type metrics struct {
	ended    *prometheus.CounterVec
	answered *prometheus.CounterVec
	stages   stages
	cuts     prometheus.Counter
	vain     prometheus.Counter
	tools    *prometheus.CounterVec
	faults   *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	mos      prometheus.Histogram
	late     prometheus.Histogram
	lost     prometheus.Counter
	tasks    *prometheus.CounterVec
	recorded *prometheus.CounterVec
	silenced prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, n *Node) *metrics {
	m := &metrics{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_calls_ended_total",
			Help: "Calls that ended, by how they came and why they ended."}, []string{"leg", "reason", "detail"}),
		answered: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_calls_answered_by_total",
			Help: "Outbound calls that were answered, by who answered."}, []string{"verdict"}),
		stages: newStages(reg),
		vain: prometheus.NewCounter(prometheus.CounterOpts{Name: "parley_speculations_discarded_total",
			Help: "Replies that were begun before the caller had finished, and were not the answer."}),
		tools: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_tool_calls_total",
			Help: "Functions that the language model called, by what became of them."}, []string{"outcome"}),
		cuts: prometheus.NewCounter(prometheus.CounterOpts{Name: "parley_interruptions_total",
			Help: "Replies that the caller cut off."}),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_engine_faults_total",
			Help: "Engine failures that a call met."}, []string{"engine", "fault"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_llm_tokens_total",
			Help: "Tokens of the language model."}, []string{"direction", "outcome"}),
	}
	m.mos = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "parley_rtp_mos",
		Help: "Estimated quality of what calls heard over the telephone and WebRTC, by the E-model, per call.", Buckets: []float64{1, 2, 2.5, 3, 3.5, 4, 4.2, 4.5}})
	m.late = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "parley_rtp_lateness_seconds",
		Help: "How late RTP packets were sent, 99.9th percentile per call.", Buckets: []float64{.001, .002, .005, .01, .02, .05, .1}})
	m.lost = prometheus.NewCounter(prometheus.CounterOpts{Name: "parley_rtp_lost_total",
		Help: "RTP packets of callers that were lost or came too late."})
	live := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_calls",
		Help: "Calls in progress."}, func() float64 { return float64(n.manager.Live()) })
	m.tasks = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_tasks_total",
		Help: "Background synthesis: tasks by what became of them."}, []string{"status"})
	connected := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_bus_connected",
		Help: "1 while messages travel between nodes, else 0."}, func() float64 {
		if n.bus.Connected() {
			return 1
		}
		return 0
	})
	m.recorded = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_recordings_total",
		Help: "Recordings of calls by what became of them, ready or failed."}, []string{"outcome"})
	m.silenced = prometheus.NewCounter(prometheus.CounterOpts{Name: "parley_recording_frames_dropped_total",
		Help: "Frames that the disk was too slow for: they are silence in recordings."})
	isolate.Log(n.log)
	lostMetrics(reg, n.manager)
	reg.MustRegister(m.recorded, m.silenced, connected, m.tasks, m.ended, m.answered, m.vain, m.tools, m.cuts, m.faults, m.tokens, m.mos, m.late, m.lost, live)
	n.verified.open(n, reg)
	reg.MustRegister(n.engines.Failures, refusalMetrics{&n.counts}, faultMetrics{})
	if n.traces != nil {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "parley_traces_dropped_total",
			Help: "Calls whose trace was lost, or a part of it: the collector was away or slow."}, func() float64 { return float64(n.traces.Dropped()) }))
	}
	if n.phone != nil {
		telephoneMetrics(reg, n.phone)
	}
	return m
}

// lostMetrics count what the manager closes for processes that are gone. They are no part
// of parley_calls_ended_total, whose calls ran here and had a leg.
func lostMetrics(reg prometheus.Registerer, m *session.Manager) {
	reg.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "parley_sessions_lost_total",
			Help: "Sessions whose process was gone, and which this node closed at their last checkpoint."}, func() float64 {
			closed, _ := m.LostSessions()
			return float64(closed)
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "parley_sessions_lost_failures_total",
			Help: "Attempts to close a session whose process was gone that failed."}, func() float64 {
			_, failed := m.LostSessions()
			return float64(failed)
		}))
}

// observe counts an event of any call. It runs on conductors.
func (n *Node) observe(leg string, e pipeline.Event) {
	m := n.metrics
	switch e.Kind {
	case pipeline.Timed:
		m.stages.observe(leg, e.Timing)
	case pipeline.ToolEnded:
		m.tools.WithLabelValues(e.Text).Inc()
	case pipeline.Interrupted:
		m.cuts.Inc()
	case pipeline.Fault, pipeline.Recovered:
		engine, fault := "unknown", inference.ErrFailed.String()
		if f, ok := errors.AsType[*inference.Error](e.Err); ok {
			engine, fault = f.Engine, f.Fault.String()
		}
		m.faults.WithLabelValues(engine, fault).Inc()
		n.log.Warn("an engine failed a turn", "err", e.Err, "recovered", e.Kind == pipeline.Recovered)
	case pipeline.Used:
		if e.Usage.Speculative() {
			m.vain.Inc()
		}
		m.tokens.WithLabelValues("in", string(e.Usage.Outcome)).Add(float64(e.Usage.Tokens.In))
		m.tokens.WithLabelValues("out", string(e.Usage.Outcome)).Add(float64(e.Usage.Tokens.Out))
	}
}

// ended counts a call that is over and says so.
func (n *Node) ended(leg, session string, e media.Ended) {
	n.metrics.ended.WithLabelValues(leg, string(e.Reason), e.Detail).Inc()
	n.log.Info("call ended", "leg", leg, "session", session, "reason", string(e.Reason), "detail", e.Detail)
}

// sounded notes the quality of a call's audio.
func (n *Node) sounded(session string, q quality.Report) {
	if q.MOS > 0 { // something came that has a score
		n.metrics.mos.Observe(q.MOS)
	}
	n.metrics.lost.Add(float64(q.Lost)) // late ones are among them
	n.log.Info("call quality", "session", session, "mos", q.MOS, "received", q.Received, "lost", q.Lost, "late", q.Late,
		"jitter_ms", q.JitterMS, "foreign", q.Foreign)
}

// heard notes the quality of a telephone call's audio.
func (n *Node) heard(session string, s rtp.Stats) {
	n.metrics.late.Observe(s.Lateness.Quantile(0.999).Seconds())
	n.sounded(session, s.Quality())
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
		{"parley_rtp_latched_total", "Times that media of a call came from another address than its description named.", func(s sip.Stats) uint64 { return s.Latched }},
		{"parley_rtp_none_total", "Calls without media for 5 s from the answer.", func(s sip.Stats) uint64 { return s.NoRTP }},
	} {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: m.name, Help: m.help},
			func() float64 { return float64(m.value(phone.Stats())) }))
	}
	reg.MustRegister(trunkMetrics{phone})
}
