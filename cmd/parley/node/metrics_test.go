package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"parley/cmd/parley/cluster"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/cmd/parley/metrics"
	"parley/cmd/parley/move"
	"parley/cmd/parley/trace"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/bus"
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
	if n.bus, err = bus.Open(t.Context(), bus.Config{Name: "bare", Log: n.log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.bus.Close)
	n.manager = session.NewManager(nil, store.Node{}, nil, 0, n.log)
	n.cluster = cluster.New(cluster.Config{Log: n.log})
	traces, err := trace.New(t.Context(), trace.Config{Endpoint: "http://127.0.0.1:1", Log: n.log})
	if err != nil {
		t.Fatal(err)
	}
	metrics.New(reg, traces, n.log)
	n.register(reg)
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
	metrics.Phone(there, nil)
	move.NewMetrics(there)
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

// TestPanels: Prometheus takes each query of the dashboard, as a rule of its own.
func TestPanels(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool here")
	}
	text, err := os.ReadFile("../../../deploy/grafana/parley.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	for _, p := range dashboard.Panels {
		for _, q := range p.Targets {
			rules = append(rules, rule{fmt.Sprintf("panel_%d_%s", p.ID, q.RefID), strings.ReplaceAll(q.Expr, "$__rate_interval", "5m")})
		}
	}
	if len(rules) < len(dashboard.Panels) || len(rules) < 20 {
		t.Fatalf("%d panels ask %d times", len(dashboard.Panels), len(rules))
	}
	written, err := json.Marshal(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": rules}}}) // JSON is YAML
	path := filepath.Join(t.TempDir(), "panels.yaml")
	if err = errors.Join(err, os.WriteFile(path, written, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Each alert is there in the stories in which it must be, and in no others.
func TestAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool here")
	}
	rules, err := os.ReadFile("../../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	stories, err := os.ReadFile("../../../deploy/prometheus/alerts_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, alert := range regexp.MustCompile(`- alert: (\w+)`).FindAllSubmatch(rules, -1) {
		if strings.Count(string(stories), "alertname: "+string(alert[1])) != 2 {
			t.Errorf("%s is not in one story, and absent from another", alert[1])
		}
	}
	out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", "../../../deploy/prometheus/alerts_test.yaml").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
