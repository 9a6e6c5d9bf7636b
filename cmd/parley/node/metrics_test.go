package node

import (
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/trace"
	"parley/inference"
	"parley/pipeline"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/bus"
	"parley/store/ledger"
)

// bareNode has metrics and nothing to count.
func bareNode(t *testing.T, reg prometheus.Registerer) *Node {
	t.Helper()
	cfg, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{cfg: cfg, log: slog.New(slog.DiscardHandler)}
	if n.engines, err = engine.New(cfg, n.log); err != nil {
		t.Fatal(err)
	}
	if n.traces, err = trace.New(t.Context(), trace.Config{Endpoint: "http://127.0.0.1:1", Log: n.log}); err != nil {
		t.Fatal(err)
	}
	if n.bus, err = bus.Open(t.Context(), bus.Config{Name: "bare", Log: n.log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.bus.Close)
	n.manager = session.NewManager(nil, store.Node{}, nil, 0, n.log)
	n.metrics = newMetrics(reg, n)
	return n
}

// names notes which metrics are registered.
type names map[string]bool

var fqName = regexp.MustCompile(`fqName: "([a-z_]+)"`)

// Register implements prometheus.Registerer.
func (l names) Register(c prometheus.Collector) error {
	list := make(chan *prometheus.Desc, 100)
	c.Describe(list)
	close(list)
	for d := range list {
		l[fqName.FindStringSubmatch(d.String())[1]] = true
	}
	return nil
}

// MustRegister implements prometheus.Registerer.
func (l names) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		_ = l.Register(c)
	}
}

// Unregister implements prometheus.Registerer.
func (l names) Unregister(prometheus.Collector) bool { return false }

// TestDashboardsNameMetrics: what the files for Grafana and Prometheus ask for is there.
func TestDashboardsNameMetrics(t *testing.T) {
	there := names{}
	bareNode(t, there)
	for _, file := range []string{"../../../deploy/grafana/parley.json", "../../../deploy/prometheus/alerts.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		asked := regexp.MustCompile(`\bparley_[a-z_]*[a-z]\b`).FindAllString(string(text), -1)
		if len(asked) < 5 {
			t.Errorf("%s asks for %d metrics", file, len(asked))
		}
		for _, name := range asked {
			if !there[strings.TrimSuffix(name, "_bucket")] {
				t.Errorf("%s asks for %s, which does not exist", file, name)
			}
		}
	}
}

// TestTurnsAreCounted: where the time of turns goes is told by the kind of leg.
func TestTurnsAreCounted(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	n := bareNode(t, reg)
	web, phone := &record{node: n, leg: "web"}, &record{node: n, leg: "telephone"}
	timed := pipeline.Event{Kind: pipeline.Timed, Timing: pipeline.Timing{Endpoint: 400 * time.Millisecond, Model: 300 * time.Millisecond,
		Voice: 90 * time.Millisecond, Overhead: 10 * time.Millisecond, Total: 800 * time.Millisecond}}
	web.observe(timed)
	web.observe(timed)
	phone.observe(timed)
	for _, e := range []pipeline.Event{{Kind: pipeline.ToolEnded, Text: "ok"}, {Kind: pipeline.ToolEnded, Text: "timeout"}, {Kind: pipeline.Interrupted},
		{Kind: pipeline.Used, Usage: pipeline.Usage{Kind: "speculative", Outcome: pipeline.Discarded}}, {Kind: pipeline.Used, Usage: pipeline.Usage{Kind: "reply", Outcome: pipeline.Discarded}},
		{Kind: pipeline.Fault, Err: &inference.Error{Engine: "mind"}}, {Kind: pipeline.Recovered, Err: errors.New("?")}} {
		phone.observe(e)
	}
	n.manager.Lost([]ledger.Lost{{ID: "a"}, {ID: "b"}, {ID: "c", Err: store.ErrUnavailable}})
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
		"parley_traces_dropped_total": 0, "parley_sessions_lost_total": 2, "parley_sessions_lost_failures_total": 1,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %v, %t; want %v", key, v, ok, want)
		}
	}
}
