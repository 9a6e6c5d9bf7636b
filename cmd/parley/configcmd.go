package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/cmd/parley/local"
)

func newConfigCommand() *cobra.Command {
	return command.Group("config", "Check or show the settings a server would start with",
		"Settings come from flags, then the environment (PARLEY_…), then the file of --config or PARLEY_CONFIG, then defaults.\n"+
			"These commands read them as the server would.",
		"  parley config check\n  parley config print --json",
		newSettingsCommand("check", "Check all settings",
			"Reads all settings as the server would and says what is wrong with them, if anything is. parley doctor checks the machine.", "  parley config check --config parley.yaml",
			func(*config.Config) (any, string) { return map[string]bool{"ok": true}, "The settings are in order.\n" }),
		newSettingsCommand("print", "Print all settings and where each comes from; secrets are hidden",
			"Prints the settings in force as a YAML file, with where each comes from. Secrets are hidden.", "  PARLEY_LOG=debug parley config print",
			func(cfg *config.Config) (any, string) { return map[string]any{"settings": cfg.Shown()}, cfg.Print() }),
	)
}

// newSettingsCommand is a command that reads the settings as serve would.
func newSettingsCommand(use, short, long, example string, answer func(*config.Config) (object any, text string)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: cobra.NoArgs}
	local.SettingFlags(cmd)
	return command.Runs(cmd, command.OneObject, func(j *command.Job, _ []string) error {
		cfg, warnings, err := local.Config(j.Command)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			fmt.Fprintln(j.ErrOrStderr(), "parley: warning:", w)
		}
		for _, d := range cfg.Doubts() {
			fmt.Fprintf(j.ErrOrStderr(), "parley: warning: %s; %s\n", d.Text, d.Fix)
		}
		return j.AnswerText(answer(cfg))
	})
}
