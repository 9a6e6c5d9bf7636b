package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/doctor"
	"parley/cmd/parley/local"
)

func newDoctorCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "doctor", Short: "Check that a server can work here, and say how to fix what cannot",
		Long: "Reads the settings as the server would and checks them against this machine: ports, the certificate, the address others see, what browsers\n" +
			"need for a microphone and for WebRTC, engines (a word is spoken and a recogniser started), ffmpeg, the database, the mail server, the\n" +
			"clock, file limits, the data directory, the store of recordings, where a small file is written and deleted, and the rate card. It changes nothing\n" +
			"else and may run beside a running server. Exit status 1 when something failed. Operators see the same in the dashboard, under Setup check.",
		Example: "  parley doctor\n  parley doctor --config parley.yaml --json", Args: cobra.NoArgs}
	local.SettingFlags(cmd)
	return command.Interruptible(cmd, command.OneObject, func(j *command.Job, _ []string) error {
		cfg, warnings, err := local.Config(j.Command)
		findings := []doctor.Finding{doctor.Settings(warnings, err)}
		if err == nil {
			dir, _ := local.DataDir(cfg)
			findings = append(findings, doctor.Examine(j.Ctx, cfg, dir)...)
		}
		findings = append(findings, doctor.FFmpeg(j.Ctx))
		if j.Ctx.Err() != nil {
			return context.Cause(j.Ctx)
		}
		return report(j, findings)
	})
}

var errUnhealthy = errors.New("not everything is as it should be")

// report prints what was found; the error says that something failed.
func report(j *command.Job, findings []doctor.Finding) error {
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
	err := j.AnswerText(map[string]any{"ok": broken == 0, "checks": findings}, text.String())
	if err == nil && broken > 0 {
		err = fmt.Errorf("%w: %d of %d checks failed", errUnhealthy, broken, len(findings))
	}
	return err
}
