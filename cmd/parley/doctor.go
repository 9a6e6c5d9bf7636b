package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/cmd/parley/doctor"
)

func newDoctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "doctor", Short: "Check that a server can work here, and say how to mend what cannot",
		Long: "Reads the settings as the server would and checks them against this machine: ports, the certificate, the address others see, what browsers\n" +
			"need for a microphone and for WebRTC, engines (a word is spoken and a recogniser started), ffmpeg, the database, the mail server, the\n" +
			"clock, file limits, the data directory and the rate card. It changes nothing and may run beside a running server. Exit status 1\n" +
			"when something failed. Operators see the same in the dashboard, under Setup check.",
		Example: "  parley doctor\n  parley doctor --config parley.yaml --json", Args: cobra.NoArgs}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := interruptible(cmd)
		defer stop()
		cfg, warnings, err := loadConfig(cmd)
		findings := []doctor.Finding{doctor.Settings(warnings, err)}
		if err == nil {
			dir, _ := chooseDataDir(cfg)
			findings = append(findings, doctor.Examine(ctx, cfg, dir)...)
		}
		findings = append(findings, doctor.FFmpeg(ctx))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return report(cmd, asJSON, findings)
	}
	addSettingFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

var errUnhealthy = errors.New("not everything is as it should be")

// report prints what was found; the error says that something failed.
func report(cmd *cobra.Command, asJSON bool, findings []doctor.Finding) error {
	count := map[doctor.Status]int{}
	for _, f := range findings {
		count[f.Status]++
	}
	broken := count[doctor.Broken]
	err := result(cmd, asJSON, map[string]any{"ok": broken == 0, "checks": findings})
	if !asJSON {
		err = printFindings(cmd.OutOrStdout(), findings, count)
	}
	if err == nil && broken > 0 {
		err = fmt.Errorf("%w: %d of %d checks failed", errUnhealthy, broken, len(findings))
	}
	return err
}

func printFindings(out io.Writer, findings []doctor.Finding, count map[doctor.Status]int) error {
	for _, f := range findings {
		fmt.Fprintf(out, "%-4s  %-14s  %s\n", f.Status, f.Name, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(out, "      %-14s  -> %s\n", "", f.Fix)
		}
	}
	_, err := fmt.Fprintf(out, "%d checks: %d ok, %d to think about, %d failed\n", len(findings), count[doctor.Fine], count[doctor.Doubt], count[doctor.Broken])
	return err
}
