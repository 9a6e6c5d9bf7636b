package config_test

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"parley/cmd/parley/config"
)

const composeDir = "../../../deploy/compose"

// composed is a copy of the directory, in which secrets.sh has run, and what its compose.yaml says.
func composed(t *testing.T) (dir string, services object) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "compose")
	if err := os.CopyFS(dir, os.DirFS(composeDir)); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"parley.env", "postgres.env", "grafana.env"} { // of who tries it here
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "secrets.sh")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var file object
	if err := yaml.Unmarshal([]byte(read(t, dir, "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	return dir, file["services"].(object)
}

// secretsOf are the lines of a file of secrets, which others cannot read.
func secretsOf(t *testing.T, dir, name string) []string {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s is %v", name, info.Mode())
	}
	return strings.Fields(read(t, dir, name))
}

// composedNode is a node as compose.yaml starts it.
func composedNode(t *testing.T, dir string, service any) *config.Config {
	t.Helper()
	env := secretsOf(t, dir, at(service, "env_file").(string))
	for name, value := range at(service, "environment").(object) {
		env = append(env, fmt.Sprint(name, "=", value))
	}
	c, warnings, err := config.Load(config.Sources{Env: env, File: filepath.Join(dir, "parley.yaml")})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, %q", err, warnings)
	}
	return c
}

// TestComposeNodes: the server takes the settings of both nodes, which share what nodes share and have ports of their own, and is
// waited for when it stops.
func TestComposeNodes(t *testing.T) {
	dir, services := composed(t)
	list, scraped, taken := read(t, dir, "dispatcher.list"), read(t, dir, "prometheus.yaml"), map[string][]config.PortRange{}
	password, _ := strings.CutPrefix(secretsOf(t, dir, "postgres.env")[0], "POSTGRES_PASSWORD=")
	take := func(who string, first, last int) {
		for other, ranges := range taken {
			for _, r := range ranges {
				if first <= r.Last && r.First <= last {
					t.Errorf("%s has ports %d-%d, and %s %d-%d", who, first, last, other, r.First, r.Last)
				}
			}
		}
		taken[who] = append(taken[who], config.PortRange{First: first, Last: last})
	}
	take("the edge", 5060, 5060)
	take("the edge", 30000, 40000) // as rtpengine.conf has it
	for who, port := range map[string]int{"Prometheus": 9090, "Grafana": 3000, "PostgreSQL": 5432, "NATS": 4222} {
		take(who, port, port)
	}
	for _, name := range []string{"parley-1", "parley-2"} {
		c := composedNode(t, dir, services[name])
		if c.Node != name || c.DatabaseURL != "postgres://parley:"+password+"@127.0.0.1:5432/parley" || c.NATSURL != "nats://127.0.0.1:4222" {
			t.Errorf("%s is %s, with the database %s and the bus %s", name, c.Node, c.DatabaseURL, c.NATSURL)
		}
		if !strings.Contains(list, "\n1      sip:"+c.SIPAddr+"  ") {
			t.Errorf("the edge does not know %s of %s:\n%s", c.SIPAddr, name, list)
		}
		if !strings.Contains(scraped, `"`+c.MetricsAddr+`"`) {
			t.Errorf("Prometheus does not ask %s:\n%s", c.MetricsAddr, scraped)
		}
		for _, addr := range []string{c.HTTPAddr, c.MetricsAddr, c.SIPAddr} {
			port := int(netip.MustParseAddrPort(addr).Port())
			take(name, port, port)
		}
		take(name, c.WebRTCUDPPort, c.WebRTCUDPPort)
		take(name, c.RTPPorts.First, c.RTPPorts.Last)
		if target := c.Trunks[0].Targets[0]; fmt.Sprintf("LISTEN=%s:%d", target.Host, target.Port) != lastOf(at(services["kamailio"], "command")) || target.Host != c.PublicIP.String() {
			t.Errorf("the trunk leads to %v", target)
		}
		if grace, err := time.ParseDuration(at(services[name], "stop_grace_period").(string)); err != nil || grace < c.DrainTimeout+35*time.Second {
			t.Errorf("%s has %v, its calls %v: %v", name, grace, c.DrainTimeout, err)
		}
	}
}

func lastOf(list any) any {
	all := list.([]any)
	return all[len(all)-1]
}

// TestComposeMounts: what a service mounts is there, volumes and files.
func TestComposeMounts(t *testing.T) {
	dir, services := composed(t)
	var file object
	if err := yaml.Unmarshal([]byte(read(t, dir, "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for name, s := range services {
		if name != "rtpengine" && at(s, "healthcheck", "test") == nil { // Kamailio's asks it
			t.Errorf("nobody asks %s whether it works", name)
		}
		mounts, _ := at(s, "volumes").([]any)
		for _, m := range mounts {
			from, _, _ := strings.Cut(m.(string), ":")
			if !strings.HasPrefix(from, ".") {
				used[from] = true
			} else if _, err := os.Stat(filepath.Join(composeDir, from)); err != nil {
				t.Errorf("%s mounts %s: %v", name, from, err)
			}
		}
	}
	for name := range file["volumes"].(object) {
		if !used[name] {
			t.Errorf("nobody uses the volume %s", name)
		}
		delete(used, name)
	}
	if len(used) > 0 {
		t.Errorf("there are no volumes %v", used)
	}
}

// TestComposeByTools: docker-compose takes the file, and promtool that of Prometheus.
func TestComposeByTools(t *testing.T) {
	dir, _ := composed(t)
	run := func(args ...string) error {
		if _, err := exec.LookPath(args[0]); err != nil {
			t.Skip(err)
		}
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "VERSION=1.0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "alerts.yaml"), []byte(read(t, composeDir, "../prometheus/alerts.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("promtool", "check", "config", "prometheus.yaml"); err != nil {
		t.Error(err)
	}
	if err := run("docker-compose", "--file", "compose.yaml", "config", "--quiet"); err != nil {
		t.Error(err)
	}
	wrong := strings.Replace(read(t, dir, "compose.yaml"), "stop_grace_period", "stop_grace", 1)
	if err := os.WriteFile(filepath.Join(dir, "wrong.yaml"), []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("docker-compose", "--file", "wrong.yaml", "config", "--quiet"); err == nil || !strings.Contains(err.Error(), "stop_grace") {
		t.Errorf("of a key that there is not it says %v", err)
	}
}
