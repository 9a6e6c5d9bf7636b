package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parley/cmd/parley/trace"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/reply"
)

// stages are where the time of turns goes, in seconds.
type stages struct {
	total, endpoint, model, voice, overhead *prometheus.HistogramVec
	// Between the six points of a turn.
	recognition, sentence, audio, packet *prometheus.HistogramVec
}

func newStages(reg prometheus.Registerer) stages {
	made := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		return promauto.With(reg).NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"leg"})
	}
	return stages{
		total: made("parley_turn_seconds", "From the end of the caller's speech to the first audio of the answer.",
			.1, .2, .3, .4, .5, .75, 1, 1.5, 2, 3, 5, 10),
		endpoint: made("parley_turn_endpoint_seconds", "The part of it until the end of the turn was detected.",
			.1, .2, .3, .4, .5, .6, .8, 1, 1.5, 2, 3),
		model: made("parley_turn_model_seconds", "The wait for the language model's first text in it; little when the reply was speculative.",
			.01, .025, .05, .1, .2, .3, .5, .75, 1, 2, 4, 8),
		voice: made("parley_turn_voice_seconds", "The wait in it for the rest of the first sentence and the voice's first audio.",
			.01, .025, .05, .1, .15, .2, .3, .5, 1, 2, 4),
		overhead: made("parley_turn_overhead_seconds", "The part of it that is a wait neither for the caller nor for an engine.",
			.001, .002, .005, .01, .02, .04, .08, .2),
		recognition: made("parley_turn_recognition_seconds", "From the end of the caller's speech to its final text; turns answered before it or typed do not count.",
			.025, .05, .1, .15, .2, .3, .5, 1, 2, 5),
		sentence: made("parley_turn_sentence_seconds", "From the language model's first text to its first complete sentence.",
			.005, .01, .025, .05, .1, .2, .3, .5, 1, 2, 4),
		audio: made("parley_turn_audio_seconds", "From the first sentence to the voice's first audio.",
			.01, .025, .05, .1, .15, .2, .3, .5, 1, 2, 4),
		packet: made("parley_turn_packet_seconds", "From the voice's first audio to the first packet sent; longer when the reply was speculative.",
			.001, .005, .01, .02, .04, .08, .2, .5, 1),
	}
}

func (s *stages) observe(leg string, t reply.Timing) {
	s.total.WithLabelValues(leg).Observe(t.Total.Seconds())
	s.endpoint.WithLabelValues(leg).Observe(t.Endpoint.Seconds())
	s.model.WithLabelValues(leg).Observe(t.Model.Seconds())
	s.voice.WithLabelValues(leg).Observe(t.Voice.Seconds())
	s.overhead.WithLabelValues(leg).Observe(t.Overhead.Seconds())
	for _, part := range []struct {
		of       *prometheus.HistogramVec
		from, to time.Duration
	}{{s.recognition, 0, t.FinalText}, {s.sentence, t.FirstToken, t.FirstSentence}, {s.audio, t.FirstSentence, t.FirstAudio}, {s.packet, t.FirstAudio, t.FirstPacket}} {
		if part.from != reply.Never && part.to != reply.Never {
			part.of.WithLabelValues(leg).Observe(max(0, part.to-part.from).Seconds())
		}
	}
}

// Call is what is counted and traced of one call.
type Call struct {
	calls *Calls
	leg   string      // telephone, outbound or web
	trace *trace.Call // nil: there is no collector
}

// Asked is the request that asked for a call: its traceparent header and its name; both empty: there was none.
type Asked struct{ Parent, Request string }

// Begin begins to count and trace a call that was admitted; End must be called. facts is asked when there is a
// collector of traces.
func (c *Calls) Begin(leg string, asked Asked, facts func() trace.Facts) *Call {
	call := &Call{calls: c, leg: leg}
	if c.traces != nil {
		f := facts()
		f.Leg, f.Request = leg, asked.Request
		call.trace = c.traces.Call(asked.Parent, f)
	}
	return call
}

// Header is the traceparent header of requests that the call makes; empty without a collector.
func (c *Call) Header() string { return c.trace.Header() }

// Observe takes an event of the call. It runs on the conductor.
func (c *Call) Observe(e event.Event) {
	c.trace.Observe(e)
	c.calls.observe(c.leg, e)
}

// End ends the trace; only the first time counts.
func (c *Call) End(e media.Ended) { c.trace.End(e) }
