// Package local is what commands find on a server's own machine: its settings and its data directory.
package local

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
)

// ConfigFlag adds the flag that names the file with settings.
func ConfigFlag(cmd *cobra.Command) {
	cmd.Flags().String("config", "", "YAML file with settings (PARLEY_CONFIG)")
}

// SettingFlags gives cmd the flags of the settings that have one.
func SettingFlags(cmd *cobra.Command) {
	ConfigFlag(cmd)
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
	command.Complete(cmd, map[string][]string{"log": {"debug", "info", "warn", "error"}})
}

// Config reads the settings with those flags of cmd that were given, and says what is
// doubtful about them. ModelsDir is where models lie, by whatever setting.
func Config(cmd *cobra.Command) (*config.Config, []string, error) {
	src := config.Sources{Flags: map[string]string{}, Env: os.Environ()}
	src.File, _ = cmd.Flags().GetString("config")
	for _, s := range config.Settings() {
		if s.Flag && cmd.Flags().Changed(s.FlagName()) {
			src.Flags[s.FlagName()] = cmd.Flags().Lookup(s.FlagName()).Value.String()
		}
	}
	cfg, warnings, err := config.Load(src)
	if err == nil && cfg.ModelsDir == "" {
		dir, _ := DataDir(cfg)
		cfg.ModelsDir = filepath.Join(dir, "models")
	}
	return cfg, warnings, err
}

// Logger writes to w what the settings want logged, in their format.
func Logger(w io.Writer, cfg *config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.Log}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
