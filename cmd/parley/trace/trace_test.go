package trace

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"parley/cmd/parley/trace/tracetest"
	"parley/inference"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/reply"
)

func open(t *testing.T, endpoint string) (tracer *Tracer, stop func()) {
	t.Helper()
	tracer, err := New(t.Context(), Config{Endpoint: endpoint, Node: "here", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- tracer.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return tracer, stop
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func value(s *otlp.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			if v := a.Value.GetStringValue(); v != "" {
				return v
			}
			return fmt.Sprint(a.Value.GetIntValue())
		}
	}
	return ""
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// converse has a call tell what a conversation with one function, one failure and one
// interruption tells.
func converse(c *Call) {
	tool := inference.ToolCall{ID: "call_1_1", Name: "book", Arguments: `{"who":"secret-name"}`}
	timing := reply.Timing{Endpoint: 400 * time.Millisecond, Model: 300 * time.Millisecond, Voice: 90 * time.Millisecond,
		Overhead: 10 * time.Millisecond, Total: 800 * time.Millisecond}
	for _, e := range []event.Event{
		{Kind: event.Thinking, Generation: 1},
		{Kind: event.AgentLine, Generation: 1, Text: "secret-greeting"},
		{Kind: event.Listening},
		{Kind: event.UserPartial, Turn: 1, Text: "secret"},
		{Kind: event.UserPartial, Turn: 1, Text: "secret-words"},
		{Kind: event.Used, Turn: 1, Usage: reply.Usage{Kind: "speculative", Outcome: reply.Discarded}},
		{Kind: event.UserLine, Turn: 1, Text: "secret-words of somebody"},
		{Kind: event.Thinking, Turn: 1, Generation: 2},
		{Kind: event.ToolBegun, Turn: 1, Generation: 2, Call: tool},
		{Kind: event.ToolEnded, Call: tool, Text: "ok"},
		{Kind: event.Timed, Turn: 1, Generation: 2, Timing: timing},
		{Kind: event.Recovered, Turn: 1, Generation: 2, Err: errors.New("secret-failure")},
		{Kind: event.Interrupted},
		{Kind: event.Listening},
		{Kind: event.Used, Turn: 1, Generation: 2, Usage: reply.Usage{Kind: "reply", Outcome: reply.Cut, Tokens: inference.Usage{In: 120, Out: 7}}},
		{Kind: event.End},
	} {
		c.Observe(e)
	}
}

func TestTraceOfACall(t *testing.T) {
	to := tracetest.New(t)
	tracer, stop := open(t, to.URL)
	c := tracer.Call(parent, Facts{ID: "ses_1", Agent: "ag_1", Leg: "outbound", Language: "es", ASR: "ears", LLM: "mind", TTS: "voice", Request: "req_1"})
	if h := c.Header(); !strings.HasPrefix(h, parent[:36]) || h == parent {
		t.Errorf("requests of the call carry %q", h)
	}
	converse(c)
	c.End(media.Ended{Reason: media.UserHangup})
	c.End(media.Ended{Reason: media.Failed})
	stop() // it sends what waits
	spans, text := to.Spans()
	var names []string
	for name, list := range spans {
		names = append(names, fmt.Sprint(name, len(list)))
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "call1 endpointing1 model1 recognition1 reply1 tool1 transport1 turn1 voice1" {
		t.Fatal(got)
	}
	call, turn := spans["call"][0], spans["turn"][0]
	if hex.EncodeToString(call.ParentSpanId) != "b7ad6b7169203331" || value(call, "parley.call.id") != "ses_1" || value(call, "parley.agent.id") != "ag_1" || value(call, "parley.request.id") != "req_1" ||
		value(call, "parley.asr") != "ears" || value(call, "parley.end_reason") != "user_hangup" || call.Status.GetCode() != otlp.Status_STATUS_CODE_OK || slices.Compact(to.Nodes())[0] != "here" {
		t.Errorf("%v", call)
	}
	if value(turn, "parley.outcome") != "interrupted" || value(turn, "parley.tokens.in") != "120" || value(turn, "parley.endpoint_ms") != "400" ||
		value(turn, "parley.total_ms") != "800" || value(spans["tool"][0], "parley.tool.name") != "book" || value(spans["tool"][0], "parley.outcome") != "ok" {
		t.Errorf("%v %v", turn, spans["tool"])
	}
	var events []string
	for _, e := range append(call.Events, turn.Events...) {
		events = append(events, e.Name)
	}
	if got := strings.Join(events, " "); got != "speculation_discarded recovered interrupted" {
		t.Errorf("events %s", got)
	}
	for name, list := range spans {
		s := list[0]
		if hex.EncodeToString(s.TraceId) != "0af7651916cd43dd8448eb211c80319c" || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s: %v", name, s)
		}
		of := turn
		if name == "turn" || name == "reply" {
			of = call
		} else if name == "call" {
			continue
		}
		if string(s.ParentSpanId) != string(of.SpanId) {
			t.Errorf("%s is not a part of %s", name, of.Name)
		}
	}
	// The stages follow each other without a gap and are together what the turn says.
	at := spans["endpointing"][0].StartTimeUnixNano
	for _, stage := range []struct {
		name string
		ms   uint64
	}{{"endpointing", 400}, {"model", 300}, {"voice", 90}, {"transport", 10}} {
		s := spans[stage.name][0]
		if s.StartTimeUnixNano != at || s.EndTimeUnixNano-s.StartTimeUnixNano != stage.ms*1e6 {
			t.Errorf("%s lasts from %d to %d, after %d", stage.name, s.StartTimeUnixNano, s.EndTimeUnixNano, at)
		}
		at = s.EndTimeUnixNano
	}
	if turn.StartTimeUnixNano > spans["endpointing"][0].StartTimeUnixNano {
		t.Error("the turn begins after its first stage")
	}
	if strings.Contains(text, "secret") {
		t.Errorf("it tells what was said: %s", text)
	}
}

// TestWhoseTrace: a client that does not want a trace gets none, and a header that says
// nothing begins one.
func TestWhoseTrace(t *testing.T) {
	to := tracetest.New(t)
	tracer, stop := open(t, to.URL)
	for i, header := range []string{strings.TrimSuffix(parent, "01") + "00", "", "nonsense", "00-00000000000000000000000000000000-b7ad6b7169203331-01"} {
		c := tracer.Call(header, Facts{ID: fmt.Sprint("ses_", i)})
		converse(c)
		c.End(media.Ended{Reason: media.Failed, Detail: "engine"})
	}
	var none *Tracer
	c := none.Call(parent, Facts{})
	converse(c)
	c.End(media.Ended{Reason: media.Completed})
	if h := c.Header(); h != "" || none.Dropped() != 0 {
		t.Errorf("what is not traced has %q", h)
	}
	stop()
	spans, _ := to.Spans()
	var ids []string
	for _, s := range spans["call"] {
		ids = append(ids, value(s, "parley.call.id"))
		if len(s.ParentSpanId) != 0 || s.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR || s.Status.Message != "failed" || value(s, "parley.end_detail") != "engine" {
			t.Errorf("%v", s)
		}
	}
	if got := strings.Join(ids, " "); got != "ses_1 ses_2 ses_3" {
		t.Error(got)
	}
}

// TestFailingCollector: what it does not take is counted, and what comes later arrives.
func TestFailingCollector(t *testing.T) {
	to := tracetest.New(t)
	to.Fail(true)
	tracer, stop := open(t, to.URL)
	tracer.Call("", Facts{ID: "ses_1"}).End(media.Ended{Reason: media.Completed})
	eventually(t, "the loss is counted", func() bool { return tracer.Dropped() == 1 })
	to.Fail(false)
	tracer.Call("", Facts{ID: "ses_2"}).End(media.Ended{Reason: media.Completed})
	stop()
	if spans, _ := to.Spans(); len(spans["call"]) != 1 || value(spans["call"][0], "parley.call.id") != "ses_2" || tracer.Dropped() != 1 {
		t.Errorf("%v, %d dropped", spans, tracer.Dropped())
	}
}

// TestHangingCollector: calls end while nobody takes their traces, what waits is
// bounded, and so is the end.
func TestHangingCollector(t *testing.T) {
	asked, free := make(chan struct{}, 1), make(chan struct{})
	to := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-free
	}))
	defer to.Close()
	defer close(free)
	tracer, stop := open(t, to.URL)
	tracer.Call("", Facts{ID: "first"}).End(media.Ended{Reason: media.Completed})
	<-asked
	const calls = 3 * maxWaiting
	for range calls {
		c := tracer.Call("", Facts{ID: "ses"})
		converse(c)
		c.End(media.Ended{Reason: media.Completed}) // a hang here is the test's own
	}
	// How many were taken while the first was waited for depends on the clock; all others wait.
	if dropped := tracer.Dropped(); dropped < calls-maxWaiting-10 {
		t.Errorf("%d of %d dropped", dropped, calls)
	}
	if n := tracer.notes.Load(); n > maxNotes {
		t.Errorf("%d notes wait", n)
	}
	stop()
	if dropped := tracer.Dropped(); dropped != calls+1 {
		t.Errorf("%d of %d dropped in the end", dropped, calls+1)
	}
}

// TestNotesAreBounded: calls with more to tell than may wait are dropped, and one that
// tells too much is traced in part.
func TestNotesAreBounded(t *testing.T) {
	tracer, err := New(t.Context(), Config{Endpoint: "http://127.0.0.1:1", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		c := tracer.Call("", Facts{})
		for range maxOfCall + 5 {
			c.Observe(event.Event{Kind: event.Interrupted})
		}
		c.End(media.Ended{Reason: media.Completed})
	}
	if tracer.Dropped() != 10-maxNotes/maxOfCall || tracer.notes.Load() > maxNotes {
		t.Errorf("%d dropped, %d notes wait", tracer.Dropped(), tracer.notes.Load())
	}
}

// TestUntracedCallCostsNothing: without a collector an event is not even copied.
func TestUntracedCallCostsNothing(t *testing.T) {
	var c *Call
	e := event.Event{Kind: event.Timed, Turn: 1}
	if n := testing.AllocsPerRun(100, func() { c.Observe(e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
