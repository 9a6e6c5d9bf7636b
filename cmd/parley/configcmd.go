package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"parley/cmd/parley/config"
)

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check or show the settings a server would start with",
		Long: "Settings come from flags, then the environment (PARLEY_…), then the file of --config or PARLEY_CONFIG, then defaults.\n" +
			"These commands read them as the server would.",
		Example: "  parley config check\n  parley config print --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newSettingsCommand("check", "Check all settings",
			"Reads all settings as the server would and says what is wrong with them, if anything is. parley doctor checks the machine.", "  parley config check --config parley.yaml", checkConfig),
		newSettingsCommand("print", "Print all settings and where each comes from; secrets are hidden",
			"Prints the settings in force as a YAML file, with where each comes from. Secrets are hidden.", "  PARLEY_LOG=debug parley config print", printConfig),
	)
	return cmd
}

// newSettingsCommand is a command that reads the settings as serve would.
func newSettingsCommand(use, short, long, example string, run func(io.Writer, *config.Config, bool) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: cobra.NoArgs}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, warnings, err := loadConfig(cmd)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			fmt.Fprintln(cmd.ErrOrStderr(), "parley: warning:", w)
		}
		for _, d := range cfg.Doubts() {
			fmt.Fprintf(cmd.ErrOrStderr(), "parley: warning: %s; %s\n", d.Text, d.Fix)
		}
		return run(cmd.OutOrStdout(), cfg, asJSON)
	}
	addSettingFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func checkConfig(out io.Writer, _ *config.Config, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(map[string]bool{"ok": true})
	}
	_, err := fmt.Fprintln(out, "The settings are in order.")
	return err
}

func printConfig(out io.Writer, cfg *config.Config, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(map[string]any{"settings": cfg.Shown()})
	}
	_, err := io.WriteString(out, cfg.Print())
	return err
}

// addSettingFlags gives cmd the flags of the settings that have one.
func addSettingFlags(cmd *cobra.Command) {
	cmd.Flags().String("config", "", "YAML file with settings (PARLEY_CONFIG)")
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
