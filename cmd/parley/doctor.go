package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/config"
)

// verdict is how a check ended.
type verdict string

const (
	fine   verdict = "ok"
	doubt  verdict = "warn" // works, with a restriction that somebody may mind
	broken verdict = "fail" // the server would not start, or not do its work
)

// finding is what a check found out. It never holds a secret.
type finding struct {
	Name   string  `json:"name"`
	Status verdict `json:"status"`
	Detail string  `json:"detail"`
	Fix    string  `json:"fix,omitempty"`
}

func good(name, format string, args ...any) finding {
	return finding{Name: name, Status: fine, Detail: fmt.Sprintf(format, args...)}
}

func warn(name, fix, format string, args ...any) finding {
	return finding{name, doubt, fmt.Sprintf(format, args...), fix}
}

func fail(name, fix, format string, args ...any) finding {
	return finding{name, broken, fmt.Sprintf(format, args...), fix}
}

// enginePatience is how long one engine may take to start and to say a word.
const enginePatience = 10 * time.Second

func newDoctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "doctor", Short: "Check that a server can work here, and say how to mend what cannot",
		Long: "Reads the settings as the server would and checks them against this machine: ports, the certificate, the address others see, engines (a\n" +
			"word is spoken and a recogniser started), ffmpeg, the database, the mail server, the clock, file limits, the data directory\n" +
			"and the rate card. It changes nothing and may run beside a running server. Exit status 1 when something failed.",
		Example: "  parley doctor\n  parley doctor --config parley.yaml --json", Args: cobra.NoArgs}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := interruptible(cmd)
		defer stop()
		began := time.Now()
		cfg, warnings, err := loadConfig(cmd)
		findings := []finding{checkSettings(warnings, err)}
		if err == nil {
			findings = append(findings, examine(ctx, cfg, began)...)
		}
		findings = append(findings, checkFFmpeg(ctx))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return report(cmd, asJSON, findings)
	}
	addSettingFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// examine runs the checks that need settings.
func examine(ctx context.Context, cfg *config.Config, began time.Time) []finding {
	web, running := checkHTTP(ctx, cfg)
	all := append([]finding{web, checkMetrics(ctx, cfg), checkCertificate(cfg, began)}, checkTelephone(cfg, running)...)
	all = append(all, checkEngines(ctx, cfg)...)
	database, drift := checkDatabase(ctx, cfg)
	dir, _ := chooseDataDir(cfg)
	now := time.Now()
	wall := now.Round(0).Sub(began.Round(0)) // Round drops the reading of the monotonic clock
	return append(all, database, checkDataDir(dir), checkRateCard(cfg), checkMail(ctx, cfg), checkFiles(openFiles(), cfg.MaxCalls),
		checkClock(now, wall, now.Sub(began), drift))
}

func checkSettings(warnings []string, err error) finding {
	const name = "settings"
	switch {
	case err != nil:
		return fail(name, "parley config print shows all settings; deploy/parley.example.yaml says what they mean", "%v", err)
	case len(warnings) > 0:
		return warn(name, "correct the name, or remove it", "%s", warnings[0])
	}
	return good(name, "in order")
}

var errUnhealthy = errors.New("not everything is as it should be")

// report prints what was found; the error says that something failed.
func report(cmd *cobra.Command, asJSON bool, findings []finding) error {
	count := map[verdict]int{}
	for _, f := range findings {
		count[f.Status]++
	}
	err := result(cmd, asJSON, map[string]any{"ok": count[broken] == 0, "checks": findings})
	if !asJSON {
		err = printFindings(cmd.OutOrStdout(), findings, count)
	}
	if err == nil && count[broken] > 0 {
		err = fmt.Errorf("%w: %d of %d checks failed", errUnhealthy, count[broken], len(findings))
	}
	return err
}

func printFindings(out io.Writer, findings []finding, count map[verdict]int) error {
	for _, f := range findings {
		fmt.Fprintf(out, "%-4s  %-14s  %s\n", f.Status, f.Name, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(out, "      %-14s  -> %s\n", "", f.Fix)
		}
	}
	_, err := fmt.Fprintf(out, "%d checks: %d ok, %d to think about, %d failed\n", len(findings), count[fine], count[doubt], count[broken])
	return err
}
