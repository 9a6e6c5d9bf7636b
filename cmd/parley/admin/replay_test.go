package admin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/command/commandtest"
	"parley/pipeline/pipelinetest"
)

// run executes a command line of this package.
func run(in string, args ...string) commandtest.Outcome {
	root := &cobra.Command{Use: "parley"}
	root.AddCommand(Commands("test")...)
	return commandtest.Run(root, in, args, ExitStatus)
}

// TestReplayCommand: a file is replayed and compared, with other settings it differs and
// the exit status says so, and what is no file of a call is refused.
func TestReplayCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "call.jsonl.gz")
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(pipelinetest.Said{From: time.Second, To: 2500 * time.Millisecond, Text: "What time do you open?"})
		s.Leg.HangUp = 8 * time.Second
		s.Play(t, time.Minute)
		if err := os.WriteFile(file, s.Record(), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if o := run("", "replay", file); o.Status != command.ExitDone || !strings.Contains(o.Out, `user_line "What time do you open?"`) || !strings.Contains(o.Out, "as in the call") {
		t.Errorf("exit status %d: %s", o.Status, o.Out)
	}
	var as struct {
		Same        bool
		PartedMS    *int64 `json:"parted_at_ms"`
		Differences []json.RawMessage
	}
	o := run("", "replay", file, "--json", "--set", "min_endpoint_ms=900")
	if err := json.Unmarshal([]byte(o.Out), &as); err != nil || o.Status != command.ExitFailed || as.Same || as.PartedMS == nil || len(as.Differences) == 0 {
		t.Errorf("exit status %d, %v: %s", o.Status, err, o.Out)
	}
	if o := run("", "replay", file, "--diff", "--set", "min_endpoint_ms=900"); o.Status != command.ExitFailed || !strings.Contains(o.Out, "(was 2.700)") || strings.Contains(o.Out, "\n  ") {
		t.Errorf("exit status %d: %s", o.Status, o.Out)
	}
	for _, bad := range [][]string{{"replay", filepath.Join(t.TempDir(), "none")}, {"replay", "replay_test.go"}} {
		if o := run("", bad...); o.Status != command.ExitFailed || o.Out != "" {
			t.Errorf("%v: exit status %d: %s", bad, o.Status, o.Out)
		}
	}
	if o := run("", "replay", file, "--set", "voice=F2"); o.Status != command.ExitUsage {
		t.Errorf("a setting that cannot be changed: exit status %d", o.Status)
	}
}

// TestSimulateCommand: the example of the README comes about as it expects; another
// expectation fails, and mistakes are named.
func TestSimulateCommand(t *testing.T) {
	const script, agent = "../../../testdata/simulate/opening-hours.yaml", "../../../testdata/simulate/agent.yaml"
	if o := run("", "simulate", script, "--file", agent); o.Status != command.ExitDone || !strings.Contains(o.Out, "Your table for 4 is on the terrace.") || strings.Contains(o.Out, "FAIL") {
		t.Errorf("exit status %d: %s", o.Status, o.Out)
	}
	if o := run("", "simulate", script, "--file", agent, "--runs", "20", "--seed", "3"); o.Status != command.ExitDone || o.Out != "20 of 20 runs as expected\n" {
		t.Errorf("exit status %d: %s", o.Status, o.Out)
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte("caller: [{say: what time do you open}]\nexpect: [{says: at midnight}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var as struct {
		OK      bool
		Failed  int
		Results []struct{ Checks []struct{ OK bool } }
	}
	o := run("", "simulate", other, "--file", agent, "--json")
	if err := json.Unmarshal([]byte(o.Out), &as); err != nil || o.Status != command.ExitFailed || as.OK || as.Failed != 1 || as.Results[0].Checks[0].OK {
		t.Errorf("exit status %d, %v: %s", o.Status, err, o.Out)
	}
	if err := os.WriteFile(other, []byte("caller: [{shout: hello}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := run("", "simulate", other, "--file", agent); o.Status != command.ExitUsage {
		t.Errorf("a mistake: exit status %d", o.Status)
	}
	if o := run("", "simulate", "--schema"); o.Status != command.ExitDone || !strings.Contains(o.Out, "over_ms") {
		t.Errorf("exit status %d: %s", o.Status, o.Out)
	}
}
