package config_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/cmd/parley/config"
)

const serviceUnit = "../../../deploy/systemd/parley.service"

// setting is one of the unit's.
func setting(t *testing.T, unit, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(unit)
	if found == nil {
		t.Fatalf("the unit has no %s", name)
	}
	return found[1]
}

// systemd has nothing to say about the unit; it passes over what it does not know, and says so.
func TestServiceUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd here")
	}
	text, err := os.ReadFile(serviceUnit)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable() // the unit's program is not installed
	if err != nil {
		t.Fatal(err)
	}
	check := func(unit string) string {
		file := filepath.Join(t.TempDir(), "parley.service")
		if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", file).CombinedOutput()
		if err != nil {
			return string(out) + err.Error()
		}
		return string(out)
	}
	unit := strings.Replace(string(text), "/opt/parley/bin/parley serve", own+" serve", 1)
	if out := check(unit); out != "" {
		t.Errorf("systemd-analyze verify:\n%s", out)
	}
	if out := check(strings.Replace(unit, "Restart=", "Restarts=", 1)); !strings.Contains(out, "Restarts") {
		t.Errorf("it does not find a setting that there is not:\n%s", out)
	}
}

// A stop that came before the calls are over would be a power cut, and children that went first would take the calls with them.
func TestServiceUnitWaitsForCalls(t *testing.T) {
	text, err := os.ReadFile(serviceUnit)
	if err != nil {
		t.Fatal(err)
	}
	unit := string(text)
	patience, err := time.ParseDuration(strings.Replace(setting(t, unit, "TimeoutStopSec"), "min", "m", 1))
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if patience < c.DrainTimeout+35*time.Second {
		t.Errorf("systemd waits for %v, the calls may take %v", patience, c.DrainTimeout)
	}
	if mode := setting(t, unit, "KillMode"); mode != "mixed" {
		t.Errorf("KillMode is %s: engines and the database get the signal, too", mode)
	}
}
