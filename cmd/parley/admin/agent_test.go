package admin

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"parley/cmd/parley/conversation"
	"parley/store"
)

// TestAgentFile: a file is one document, in which nothing is there twice.
func TestAgentFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent.yaml")
	for text, want := range map[string]string{
		"name: Lola\n":                      "",
		"---\nname: Lola\n...\n# the end\n": "",
		`{"name": "Lola", "voice": "F2"}`:   "",
		"":                                  "name: is missing",
		"name: Lola\n---\nname: Max\n":      "there is more than one document",
		"name: Lola\n---\nname: [\n":        "there is more than one document",
		"name: Lola\nname: Max\n":           "already defined",
		"name: Lola\nprompt: \"{{now\"\n":   "prompt: {{now has no }}",
		"name: Lola\nmetadata: {a b: c}\n":  "metadata: names are",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd, a := &cobra.Command{}, conversation.NewAgent()
		agentFlags(cmd)
		if err := cmd.Flags().Set("file", file); err != nil {
			t.Fatal(err)
		}
		err := applyFlags(cmd, &a)
		if want == "" && (err != nil || a.Name != "Lola") || want != "" && (!errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestAgentMetadata: flags go over a file, and take names away.
func TestAgentMetadata(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte("name: Lola\nmetadata: {team: sales, order: \"42\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, a := &cobra.Command{}, conversation.NewAgent()
	a.Metadata = map[string]string{"old": "x", "stays": "y"}
	agentFlags(cmd)
	metadataFlag(cmd)
	for flag, values := range map[string][]string{"file": {file}, "metadata": {"order=43", "old="}} {
		for _, value := range values {
			if err := cmd.Flags().Set(flag, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := applyFlags(cmd, &a); err != nil || !maps.Equal(a.Metadata, map[string]string{"team": "sales", "order": "43", "stays": "y"}) {
		t.Errorf("%v, %v", a.Metadata, err)
	}
	if err := cmd.Flags().Set("metadata", "order"); err != nil {
		t.Fatal(err)
	}
	if err := applyFlags(cmd, &a); err == nil {
		t.Error("a name without a value is taken")
	}
}
