// Package trace turns calls into OpenTelemetry traces: a span for the call, one for
// each turn, and in it one for each stage. Spans are made after the call, from the
// events that the conductor emitted and the times at which they came, so a
// conversation pays for a note of each event and nothing else. What is recorded of a
// call has no texts, numbers or names of people in it.
//
// Traces go to a collector as OTLP over HTTP. One that does not answer costs traces,
// which are counted, and neither time nor memory of calls.
//
// Of the call's span something exists before the end, because its identifier travels with the
// requests of functions. One goroutine makes and sends the spans and tries nothing twice.
// Calls, and their notes, that wait are bounded; what exceeds the bound is dropped and counted.
// A call's log is kept in the same way, by its session, and stored with the conversation: of a
// long one the oldest events become the state that the log begins with.
package trace

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// Bounds of what waits for the collector, and of waiting for it.
const (
	maxWaiting = 512    // calls that are over
	maxNotes   = 50_000 // notes of all of them together: about 7 MB
	maxBatch   = 512    // spans of one request
	patience   = 5 * time.Second
	flushTime  = 3 * time.Second // at the end, for all that waits
)

// Config says where traces go.
type Config struct {
	// Endpoint is the collector's base address, http or https; /v1/traces is added.
	Endpoint string
	Node     string // its name
	Log      *slog.Logger
}

// Tracer makes traces of calls. A nil one makes none. It is used by several
// goroutines.
type Tracer struct {
	exporter sdk.SpanExporter
	spans    otel.Tracer
	made     collector // of Run alone
	log      *slog.Logger

	over    chan *Call
	notes   atomic.Int64 // of the calls in over
	dropped atomic.Uint64
	silent  bool // the collector failed last; of Run alone
}

// New returns a tracer; Run sends what it makes. It does not connect.
func New(ctx context.Context, c Config) (*Tracer, error) {
	exporter, err := otlptrace.New(ctx, otlptracehttp.NewClient(
		otlptracehttp.WithEndpointURL(c.Endpoint+"/v1/traces"),
		otlptracehttp.WithTimeout(patience),
		// What fails is dropped: a second try would hold up what comes after it.
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false})))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	t := &Tracer{exporter: exporter, log: c.Log, over: make(chan *Call, maxWaiting)}
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(&t.made),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "parley"),
			attribute.String("service.instance.id", c.Node))))
	t.spans = provider.Tracer("parley")
	return t, nil
}

// Dropped is how many calls' traces were lost, or parts of them.
func (t *Tracer) Dropped() uint64 {
	if t == nil {
		return 0
	}
	return t.dropped.Load()
}

// Facts are what is known of a call when it begins.
type Facts struct {
	ID, Agent     string // Agent may be empty
	Leg           string // telephone, outbound or web
	Language      string
	ASR, LLM, TTS string // engines; ASR is empty when nobody hears
	Request       string // names the request that asked for it; empty: none did
}

// Call begins a call's trace. parent is a traceparent header (W3C Trace Context,
// section 3.2) whose trace it continues; empty or malformed: it is a trace of its own.
// The result is nil when nothing is traced; its methods may be called all the same.
func (t *Tracer) Call(parent string, f Facts) *Call {
	if t == nil {
		return nil
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{header: parent})
	_, root := t.spans.Start(ctx, "call", otel.WithSpanKind(otel.SpanKindServer), otel.WithAttributes(
		attribute.String("parley.call.id", f.ID), attribute.String("parley.leg", f.Leg), attribute.String("parley.language", f.Language)))
	for _, a := range []struct{ key, value string }{
		{"parley.agent.id", f.Agent}, {"parley.asr", f.ASR}, {"parley.llm", f.LLM}, {"parley.tts", f.TTS}, {"parley.request.id", f.Request},
	} {
		if a.value != "" {
			root.SetAttributes(attribute.String(a.key, a.value))
		}
	}
	return &Call{tracer: t, root: root}
}

const header = "traceparent"

// Run sends the traces of calls that are over until ctx ends, and then for at most
// three seconds what still waits.
func (t *Tracer) Run(ctx context.Context) error {
	bound, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, cancel) })()
	for {
		select {
		case c := <-t.over:
			t.send(bound, c)
			continue
		case <-ctx.Done():
		}
		for {
			select {
			case c := <-t.over:
				t.send(bound, c)
				continue
			default:
			}
			_ = t.exporter.Shutdown(bound) // it keeps nothing
			return nil
		}
	}
}

// send makes the spans of a call and hands them to the collector.
func (t *Tracer) send(ctx context.Context, c *Call) {
	t.notes.Add(-int64(len(c.notes)))
	c.spans()
	spans := t.made.take()
	for len(spans) > 0 {
		n := min(len(spans), maxBatch)
		if err := t.exporter.ExportSpans(ctx, spans[:n]); err != nil {
			t.dropped.Add(1)
			if !t.silent {
				t.log.Warn("traces cannot be sent and are dropped", "err", err)
			}
			t.silent = true
			return
		}
		spans = spans[n:]
	}
	if t.silent {
		t.silent = false
		t.log.Info("traces are sent again", "dropped", t.dropped.Load())
	}
}

// collector takes spans that ended. Only Run ends spans.
type collector struct{ spans []sdk.ReadOnlySpan }

// OnStart implements sdk.SpanProcessor.
func (c *collector) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd implements sdk.SpanProcessor.
func (c *collector) OnEnd(s sdk.ReadOnlySpan) { c.spans = append(c.spans, s) }

// Shutdown implements sdk.SpanProcessor.
func (c *collector) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdk.SpanProcessor.
func (c *collector) ForceFlush(context.Context) error { return nil }

func (c *collector) take() []sdk.ReadOnlySpan {
	spans := c.spans
	c.spans = nil
	return spans
}
