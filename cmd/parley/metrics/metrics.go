// Package metrics counts calls for Prometheus and traces them: Calls for the numbers of all calls,
// Call for one of them. The rest of the node registers what it counts itself (Manager, Phone,
// Refusals).
package metrics

import (
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parley/cmd/parley/trace"
	"parley/inference"
	"parley/media"
	"parley/media/isolate"
	"parley/media/quality"
	"parley/media/rtp"
	"parley/pipeline/event"
	"parley/pipeline/session"
)

// Calls are the numbers of a node's calls. Its methods may be called from any goroutine.
type Calls struct {
	// Tasks are counted by status, Recordings by outcome.
	Tasks, Recordings *prometheus.CounterVec
	// Silenced counts frames that recordings lost.
	Silenced prometheus.Counter

	ended    *prometheus.CounterVec
	answered *prometheus.CounterVec
	stages   stages
	bargeIns prometheus.Counter
	discards prometheus.Counter
	tools    *prometheus.CounterVec
	faults   *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	mos      prometheus.Histogram
	late     prometheus.Histogram
	packets  *lateness
	lost     prometheus.Counter
	traces   *trace.Tracer
	log      *slog.Logger
}

// New registers the numbers of calls. traces is nil where there is no collector.
func New(reg prometheus.Registerer, traces *trace.Tracer, log *slog.Logger) *Calls {
	registered := promauto.With(reg)
	counter := func(name, help string) prometheus.Counter {
		return registered.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return registered.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets ...float64) prometheus.Histogram {
		return registered.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	isolate.Log(log)
	packets := &lateness{}
	reg.MustRegister(faults{}, packets)
	c := &Calls{traces: traces, log: log, stages: newStages(reg), packets: packets,
		ended:      counters("parley_calls_ended_total", "Calls that ended, by how they came and why they ended.", "leg", "reason", "detail"),
		answered:   counters("parley_calls_answered_by_total", "Outbound calls that were answered, by who answered.", "verdict"),
		discards:   counter("parley_speculations_discarded_total", "Replies that were begun before the caller had finished, and were not the answer."),
		tools:      counters("parley_tool_calls_total", "Functions that the language model called, by outcome.", "outcome"),
		bargeIns:   counter("parley_interruptions_total", "Replies that the caller interrupted."),
		faults:     counters("parley_engine_faults_total", "Engine failures that a call met.", "engine", "fault"),
		tokens:     counters("parley_llm_tokens_total", "Tokens of the language model.", "direction", "outcome"),
		Tasks:      counters("parley_tasks_total", "Background synthesis: tasks by final status.", "status"),
		Recordings: counters("parley_recordings_total", "Recordings of calls by outcome, ready or failed.", "outcome"),
		Silenced:   counter("parley_recording_frames_dropped_total", "Frames that the disk was too slow for: they are silence in recordings."),
		mos: histogram("parley_rtp_mos", "Estimated quality of what calls heard over the telephone and WebRTC, by the E-model, per call.",
			1, 2, 2.5, 3, 3.5, 4, 4.2, 4.5),
		late: histogram("parley_rtp_lateness_seconds", "How late RTP packets were sent, 99.9th percentile per call.", .001, .002, .005, .01, .02, .05, .1),
		lost: counter("parley_rtp_lost_total", "RTP packets of callers that were lost or came too late."),
	}
	if traces != nil {
		registered.NewCounterFunc(prometheus.CounterOpts{Name: "parley_traces_dropped_total",
			Help: "Calls whose trace was lost, or a part of it: the collector was away or slow."}, func() float64 { return float64(traces.Dropped()) })
	}
	return c
}

// Manager registers what the manager of calls counts. Sessions that it closes for processes that
// are gone are no part of parley_calls_ended_total, whose calls ran here and had a leg.
func Manager(reg prometheus.Registerer, m *session.Manager) {
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_calls", Help: "Calls in progress."}, func() float64 { return float64(m.Live()) }),
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

// observe counts an event of any call.
func (c *Calls) observe(leg string, e event.Event) {
	switch e.Kind {
	case event.Timed:
		c.stages.observe(leg, e.Timing)
	case event.ToolEnded:
		c.tools.WithLabelValues(e.Text).Inc()
	case event.Interrupted:
		c.bargeIns.Inc()
	case event.Fault, event.Recovered:
		engine, fault := "unknown", inference.ErrFailed.String()
		if f, ok := errors.AsType[*inference.Error](e.Err); ok {
			engine, fault = f.Engine, f.Fault.String()
		}
		c.faults.WithLabelValues(engine, fault).Inc()
		c.log.Warn("an engine failed a turn", "err", e.Err, "recovered", e.Kind == event.Recovered)
	case event.Used:
		if e.Usage.Speculative() {
			c.discards.Inc()
		}
		c.tokens.WithLabelValues("in", string(e.Usage.Outcome)).Add(float64(e.Usage.Tokens.In))
		c.tokens.WithLabelValues("out", string(e.Usage.Outcome)).Add(float64(e.Usage.Tokens.Out))
	}
}

// Ended counts and logs the end of a call.
func (c *Calls) Ended(leg, session string, e media.Ended) {
	c.ended.WithLabelValues(leg, string(e.Reason), string(e.Detail)).Inc()
	c.log.Info("call ended", "leg", leg, "session", session, "reason", string(e.Reason), "detail", string(e.Detail))
}

// AnsweredBy counts who answered an outbound call; empty: it was not found out.
func (c *Calls) AnsweredBy(who string) {
	if who != "" {
		c.answered.WithLabelValues(who).Inc()
	}
}

// Quality counts and logs the quality of a call's audio.
func (c *Calls) Quality(session string, q quality.Report) {
	if q.MOS > 0 { // something came that has a score
		c.mos.Observe(q.MOS)
	}
	c.lost.Add(float64(q.Lost)) // late ones are among them
	c.log.Info("call quality", "session", session, "mos", q.MOS, "received", q.Received, "lost", q.Lost, "late", q.Late,
		"jitter_ms", q.JitterMS, "foreign", q.Foreign)
}

// Telephone counts and logs the quality of a telephone call's audio.
func (c *Calls) Telephone(session string, s rtp.Stats) {
	c.late.Observe(s.Lateness.Quantile(0.999).Seconds())
	c.packets.add(s.Lateness)
	c.Quality(session, s.Quality())
}
