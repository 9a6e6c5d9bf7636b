package metrics

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/cmd/parley/trace"
	"parley/inference"
	"parley/media/rtp"
	"parley/pipeline/event"
	"parley/pipeline/reply"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/ledger"
)

// TestTurnsAreCounted: where the time of turns goes is told by the kind of leg.
func TestTurnsAreCounted(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	log := slog.New(slog.DiscardHandler)
	traces, err := trace.New(t.Context(), trace.Config{Endpoint: "http://127.0.0.1:1", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	calls, manager := New(reg, traces, log), session.NewManager(nil, store.Node{}, nil, 0, log)
	Manager(reg, manager)
	web, phone := &Call{calls: calls, leg: "web"}, &Call{calls: calls, leg: "telephone"}
	timed := event.Event{Kind: event.Timed, Timing: reply.Timing{Endpoint: 400 * time.Millisecond, Model: 300 * time.Millisecond,
		Voice: 90 * time.Millisecond, Overhead: 10 * time.Millisecond, Total: 800 * time.Millisecond}}
	web.Observe(timed)
	web.Observe(timed)
	phone.Observe(timed)
	for _, e := range []event.Event{{Kind: event.ToolEnded, Text: "ok"}, {Kind: event.ToolEnded, Text: "timeout"}, {Kind: event.Interrupted},
		{Kind: event.Used, Usage: reply.Usage{Kind: "speculative", Outcome: reply.Discarded}}, {Kind: event.Used, Usage: reply.Usage{Kind: "reply", Outcome: reply.Discarded}},
		{Kind: event.Fault, Err: &inference.Error{Engine: "mind"}}, {Kind: event.Recovered, Err: errors.New("?")}} {
		phone.Observe(e)
	}
	manager.Lost([]ledger.Lost{{ID: "a"}, {ID: "b"}, {ID: "c", Err: store.ErrUnavailable}})
	var stats rtp.Stats
	stats.Lateness.Counts[1], stats.Lateness.Counts[4] = 3, 1 // 1 ms at most, and 5 ms
	calls.Telephone("d", stats)
	calls.Telephone("e", stats)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			key := f.GetName()
			for _, l := range m.Label {
				key += " " + l.GetValue()
			}
			if h := m.Histogram; h != nil {
				got[key] = float64(h.GetSampleCount())
				got[key+" sum"] = h.GetSampleSum()
			} else {
				got[key] = m.Counter.GetValue() + m.Gauge.GetValue()
			}
		}
	}
	for key, want := range map[string]float64{
		"parley_turn_seconds web": 2, "parley_turn_seconds telephone": 1, "parley_turn_seconds telephone sum": .8, "parley_turn_endpoint_seconds telephone sum": .4,
		"parley_turn_model_seconds telephone sum": .3, "parley_turn_voice_seconds telephone sum": .09, "parley_turn_overhead_seconds telephone sum": .01,
		"parley_tool_calls_total ok": 1, "parley_tool_calls_total timeout": 1, "parley_interruptions_total": 1, "parley_speculations_discarded_total": 1,
		"parley_rtp_packet_lateness_seconds": 8, "parley_rtp_packet_lateness_seconds sum": .016,
		"parley_traces_dropped_total": 0, "parley_sessions_lost_total": 2, "parley_sessions_lost_failures_total": 1,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %v, %t; want %v", key, v, ok, want)
		}
	}
}
