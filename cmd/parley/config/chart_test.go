package config_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"go.yaml.in/yaml/v3"

	"parley/cmd/parley/config"
)

const (
	chartDir = "../../../deploy/helm/parley"
	// helm is run, not linked: it would bring the client of Kubernetes into go.mod.
	helm = "helm.sh/helm/v3/cmd/helm@v3.21.4"
	// kubernetes is the oldest that the chart is for.
	kubernetes = "1.27.0"
)

type object = map[string]any

// chartFunctions are those of Helm's that the chart uses; TestSoakChart compares them with Helm's own.
var chartFunctions = template.FuncMap{
	"add":    func(a, b int) int { return a + b },
	"quote":  func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
	"toJson": func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
	"toYaml": func(v any) (string, error) {
		b, err := yaml.Marshal(v)
		return strings.TrimSuffix(string(b), "\n"), err
	},
	"sha256sum": func(s string) string {
		return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))
	},
	"required": func(what string, v any) (any, error) {
		if v == "" {
			return nil, errors.New(what)
		}
		return v, nil
	},
}

// chartValues are those of the chart with an image, over which others go.
func chartValues(t *testing.T, over string) object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartDir, "values.yaml"))
	values, changed := object{}, object{}
	if err = errors.Join(err, yaml.Unmarshal(text, &values), yaml.Unmarshal([]byte(over), &changed)); err != nil {
		t.Fatal(err)
	}
	for name, v := range changed {
		if part, is := v.(object); is {
			for key, v := range part {
				values[name].(object)[key] = v
			}
			continue
		}
		values[name] = v
	}
	return values
}

// rendered is what the chart makes of values, by kind and name.
func rendered(values object) (map[string]object, error) {
	all := map[string]object{}
	files, err := filepath.Glob(filepath.Join(chartDir, "templates", "*"))
	for _, file := range files {
		var page *template.Template
		var out bytes.Buffer
		if page, err = template.New(filepath.Base(file)).Funcs(chartFunctions).Option("missingkey=error").ParseFiles(file); err == nil {
			err = page.Execute(&out, object{"Values": values, "Release": object{"Name": "voice"}})
		}
		if err == nil {
			err = documents(&out, all)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, err
}

// documents adds those of a stream to all.
func documents(from io.Reader, all map[string]object) error {
	for d := yaml.NewDecoder(from); ; {
		var one object
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if one != nil {
			all[fmt.Sprint(one["kind"], " ", at(one, "metadata", "name"))] = one
		}
	}
}

// at is a value in an object, nil where there is none.
func at(v any, path ...any) any {
	for _, p := range path {
		switch in := v.(type) {
		case object:
			v = in[fmt.Sprint(p)]
		case []any:
			v = in[p.(int)]
		default:
			return nil
		}
	}
	return v
}

// chart renders the chart with an image.
func chart(t *testing.T, over string) map[string]object {
	t.Helper()
	all, err := rendered(chartValues(t, withImage+over))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const (
	withImage = "image: {repository: registry.example.com/parley, tag: \"1\"}\n"
	scaling   = "autoscaling: {enabled: true, callsPerNode: 300}\ndrainSeconds: 3600\n"
)

// TestChart: each node is alone in a machine's network, is not stopped while calls last, and takes calls when it says so.
func TestChart(t *testing.T) {
	all := chart(t, "")
	if len(all) != 5 {
		t.Errorf("it makes %d objects: %v", len(all), reflect.ValueOf(all).MapKeys())
	}
	pod := at(all["StatefulSet voice"], "spec", "template", "spec")
	main := at(pod, "containers", 0)
	for what, found := range map[string][2]any{
		"hostNetwork":    {at(pod, "hostNetwork"), true},
		"dnsPolicy":      {at(pod, "dnsPolicy"), "ClusterFirstWithHostNet"},
		"one a machine":  {at(pod, "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", 0, "topologyKey"), "kubernetes.io/hostname"},
		"not root":       {at(pod, "securityContext", "runAsNonRoot"), true},
		"ready":          {at(main, "readinessProbe", "httpGet"), object{"path": "/readyz", "port": "http", "scheme": "HTTP"}},
		"alive":          {at(main, "livenessProbe", "httpGet"), object{"path": "/healthz", "port": "http", "scheme": "HTTP"}},
		"no preStop":     {at(main, "lifecycle"), nil},
		"one away":       {at(all["PodDisruptionBudget voice"], "spec", "maxUnavailable"), 1},
		"replicas":       {at(all["StatefulSet voice"], "spec", "replicas"), 3},
		"governed":       {at(all["StatefulSet voice"], "spec", "serviceName"), at(all["Service voice"], "metadata", "name")},
		"image":          {at(main, "image"), "registry.example.com/parley:1"},
		"over HTTPS":     {at(chart(t, "https: true")["StatefulSet voice"], "spec", "template", "spec", "containers", 0, "readinessProbe", "httpGet", "scheme"), "HTTPS"},
		"none by itself": {all["HorizontalPodAutoscaler voice"] == nil, true},
	} {
		if !reflect.DeepEqual(found[0], found[1]) {
			t.Errorf("%s: %v, want %v", what, found[0], found[1])
		}
	}
	labels := at(all["StatefulSet voice"], "spec", "template", "metadata", "labels")
	for name, selector := range map[string]any{"StatefulSet voice": at(all["StatefulSet voice"], "spec", "selector", "matchLabels"), "Service voice": at(all["Service voice"], "spec", "selector"),
		"Service voice-http": at(all["Service voice-http"], "spec", "selector"), "PodDisruptionBudget voice": at(all["PodDisruptionBudget voice"], "spec", "selector", "matchLabels")} {
		if !reflect.DeepEqual(selector, labels) {
			t.Errorf("%s selects %v, the pods have %v", name, selector, labels)
		}
	}
	var volumes []any
	for _, v := range at(pod, "volumes").([]any) {
		volumes = append(volumes, at(v, "name"))
	}
	volumes = append(volumes, at(all["StatefulSet voice"], "spec", "volumeClaimTemplates", 0, "metadata", "name"))
	for _, m := range at(main, "volumeMounts").([]any) {
		if !slices.Contains(volumes, at(m, "name")) {
			t.Errorf("there is no volume for %v", m)
		}
	}
	if _, err := rendered(chartValues(t, "")); err == nil || !strings.Contains(err.Error(), "image.repository is needed") {
		t.Errorf("without an image: %v", err)
	}
}

// TestChartScales: nodes come with calls and go one at a time, each when its calls are over.
func TestChartScales(t *testing.T) {
	all := chart(t, scaling)
	scaler := all["HorizontalPodAutoscaler voice"]
	down := at(scaler, "spec", "behavior", "scaleDown")
	if at(all["StatefulSet voice"], "spec", "replicas") != nil {
		t.Error("the number of nodes has two owners")
	}
	if at(scaler, "spec", "metrics", 0, "pods", "target", "averageValue") != "300" || at(down, "policies", 0, "value") != 1 || at(down, "stabilizationWindowSeconds") != 3600 {
		t.Errorf("it scales by %v", scaler)
	}
	cpu := at(chart(t, "autoscaling: {enabled: true}")["HorizontalPodAutoscaler voice"], "spec", "metrics", 0, "resource", "target", "averageUtilization")
	if cpu != 60 {
		t.Errorf("without calls it scales at %v", cpu)
	}
}

// TestChartSettings: a server starts with the settings that a pod has, and Kubernetes waits for its calls.
func TestChartSettings(t *testing.T) {
	for _, over := range []string{"", scaling} {
		all := chart(t, over)
		pod := at(all["StatefulSet voice"], "spec", "template", "spec")
		dir := t.TempDir()
		text := strings.ReplaceAll(at(all["ConfigMap voice"], "data", "parley.yaml").(string), "/run/secrets/parley", dir)
		for name, content := range map[string]string{"parley.yaml": text, "database-url": "postgres://parley@db1,db2/parley", "secret": strings.Repeat("0f", 32), "storage-access-key": "a",
			"storage-secret-key": "b", "nats.pem": "x", "nats.key": "x", "nats-ca.pem": "x"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var env []string
		for _, e := range at(pod, "containers", 0, "env").([]any) {
			value, _ := at(e, "value").(string)
			switch at(e, "valueFrom", "fieldRef", "fieldPath") {
			case "metadata.name":
				value = "voice-0"
			case "status.hostIP":
				continue // MACHINE
			}
			env = append(env, fmt.Sprint(at(e, "name"), "=", strings.ReplaceAll(value, "$(MACHINE)", "10.0.0.5")))
		}
		c, warnings, err := config.Load(config.Sources{Env: env, File: filepath.Join(dir, "parley.yaml")})
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%v, %q", err, warnings)
		}
		if c.Node != "voice-0" || c.Advertise != "10.0.0.5:8080" || c.MetricsAddr != "10.0.0.5:9090" || c.DatabaseURL != "postgres://parley@db1,db2/parley" {
			t.Errorf("node %s at %s, metrics at %s", c.Node, c.Advertise, c.MetricsAddr)
		}
		if grace := at(pod, "terminationGracePeriodSeconds").(int); time.Duration(grace)*time.Second < c.DrainTimeout+35*time.Second {
			t.Errorf("Kubernetes waits for %d s, the calls may take %v", grace, c.DrainTimeout)
		}
	}
}

// TestSoakChart has Helm itself look at the chart and render it, which comes to the same as in the short tests.
func TestSoakChart(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", helm}, args...)...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w: %s%s", err, out, errs.String())
		}
		return out, err
	}
	if _, err := run("version"); err != nil {
		t.Skip("Helm cannot be built here: ", err)
	}
	for _, over := range []string{"", scaling, "https: true\ndata: {storageClassName: fast}\n"} {
		file := filepath.Join(t.TempDir(), "values.yaml")
		if err := os.WriteFile(file, []byte(withImage+over), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := run("lint", "--strict", chartDir, "--values", file, "--kube-version", kubernetes); err != nil {
			t.Error(err)
		}
		out, err := run("template", "voice", chartDir, "--values", file, "--kube-version", kubernetes)
		theirs := map[string]object{}
		if err = errors.Join(err, documents(bytes.NewReader(out), theirs)); err != nil {
			t.Fatal(err)
		}
		ours := chart(t, over)
		for _, all := range []map[string]object{ours, theirs} { // Helm orders the keys of a mapping, and indents, in its own way
			delete(at(all["StatefulSet voice"], "spec", "template", "metadata", "annotations").(object), "parley/config")
			var settings object
			if err := yaml.Unmarshal([]byte(at(all["ConfigMap voice"], "data", "parley.yaml").(string)), &settings); err != nil {
				t.Fatal(err)
			}
			all["ConfigMap voice"]["data"] = settings
		}
		if !reflect.DeepEqual(ours, theirs) {
			t.Errorf("with %q Helm makes\n%v\nof the chart, and the short tests\n%v", over, theirs, ours)
		}
	}
}
