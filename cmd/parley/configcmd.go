package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"parley/cmd/parley/config"
)

func newConfigCommand() *cobra.Command {
	return group("config", "Check or show the settings a server would start with",
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
	addSettingFlags(cmd)
	return runs(cmd, oneObject, func(j *job, _ []string) error {
		cfg, warnings, err := loadConfig(j.Command)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			fmt.Fprintln(j.ErrOrStderr(), "parley: warning:", w)
		}
		for _, d := range cfg.Doubts() {
			fmt.Fprintf(j.ErrOrStderr(), "parley: warning: %s; %s\n", d.Text, d.Fix)
		}
		return j.printText(answer(cfg))
	})
}

// addSettingFlags gives cmd the flags of the settings that have one.
func addSettingFlags(cmd *cobra.Command) {
	configFlag(cmd)
	for _, s := range config.Settings() {
		usage := s.Meaning + " (PARLEY_" + s.Name + ")"
		switch {
		case !s.Flag:
		case s.Default == "off": // a switch is on when its flag is there
			cmd.Flags().Bool(s.FlagName(), false, usage)
		default:
			cmd.Flags().String(s.FlagName(), s.Default, usage)
		}
	}
	complete(cmd, map[string][]string{"log": {"debug", "info", "warn", "error"}})
}

// loadConfig reads the settings with those flags of cmd that were given.
func loadConfig(cmd *cobra.Command) (*config.Config, []string, error) {
	src := config.Sources{Flags: map[string]string{}, Env: os.Environ()}
	src.File, _ = cmd.Flags().GetString("config")
	for _, s := range config.Settings() {
		if s.Flag && cmd.Flags().Changed(s.FlagName()) {
			src.Flags[s.FlagName()] = cmd.Flags().Lookup(s.FlagName()).Value.String()
		}
	}
	return config.Load(src)
}
