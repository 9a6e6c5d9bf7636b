package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/demo"
	"parley/cmd/parley/local"
	"parley/cmd/parley/remote"
)

func newDemoCommand() *cobra.Command {
	link := remote.DemoLink(demoKey)
	local.ConfigFlag(link)
	return command.Group("demo", "Open the demonstration's pages",
		"A server that was started with --demo has an account to try things with. Its pages open with a link.", "  parley demo link", link)
}

// demoKey is the key that the demonstration has left in the data directory.
func demoKey(cmd *cobra.Command) (string, error) {
	cfg, _, err := local.Config(cmd)
	if err != nil {
		return "", err
	}
	dir, _ := local.DataDir(cfg)
	key, err := os.ReadFile(filepath.Join(dir, demo.KeyFile))
	if err != nil {
		return "", fmt.Errorf("no demonstration has been started here: %w", err)
	}
	return strings.TrimSpace(string(key)), nil
}
