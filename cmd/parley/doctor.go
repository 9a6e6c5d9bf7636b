package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parley/cmd/parley/doctor"
)

func newDoctorCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "doctor", Short: "Check that a server can work here, and say how to mend what cannot",
		Long: "Reads the settings as the server would and checks them against this machine: ports, the certificate, the address others see, what browsers\n" +
			"need for a microphone and for WebRTC, engines (a word is spoken and a recogniser started), ffmpeg, the database, the mail server, the\n" +
			"clock, file limits, the data directory and the rate card. It changes nothing and may run beside a running server. Exit status 1\n" +
			"when something failed. Operators see the same in the dashboard, under Setup check.",
		Example: "  parley doctor\n  parley doctor --config parley.yaml --json", Args: cobra.NoArgs}
	addSettingFlags(cmd)
	return interruptible(cmd, oneObject, func(j *job, _ []string) error {
		cfg, warnings, err := loadConfig(j.Command)
		findings := []doctor.Finding{doctor.Settings(warnings, err)}
		if err == nil {
			dir, _ := chooseDataDir(cfg)
			findings = append(findings, doctor.Examine(j.ctx, cfg, dir)...)
		}
		findings = append(findings, doctor.FFmpeg(j.ctx))
		if j.ctx.Err() != nil {
			return context.Cause(j.ctx)
		}
		return j.report(findings)
	})
}

var errUnhealthy = errors.New("not everything is as it should be")

// report prints what was found; the error says that something failed.
func (j *job) report(findings []doctor.Finding) error {
	var text strings.Builder
	count := map[doctor.Status]int{}
	for _, f := range findings {
		count[f.Status]++
		fmt.Fprintf(&text, "%-4s  %-14s  %s\n", f.Status, f.Name, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(&text, "      %-14s  -> %s\n", "", f.Fix)
		}
	}
	broken := count[doctor.Broken]
	fmt.Fprintf(&text, "%d checks: %d ok, %d to think about, %d failed\n", len(findings), count[doctor.Fine], count[doctor.Doubt], broken)
	err := j.printText(map[string]any{"ok": broken == 0, "checks": findings}, text.String())
	if err == nil && broken > 0 {
		err = fmt.Errorf("%w: %d of %d checks failed", errUnhealthy, broken, len(findings))
	}
	return err
}
