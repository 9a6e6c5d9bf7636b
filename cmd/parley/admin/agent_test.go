package admin

import (
	"errors"
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
