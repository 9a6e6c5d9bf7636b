// Package doctor checks that a server can work on this machine with its settings, and says
// how to mend what cannot. It changes nothing, and may run beside a running server, or in
// one: the command and the dashboard's page show the same.
package doctor

import (
	"context"
	"fmt"
	"time"

	"parley/cmd/parley/config"
)

// Status is how a check ended.
type Status string

// How a check ends.
const (
	Fine   Status = "ok"
	Doubt  Status = "warn" // works, with a restriction that somebody may mind
	Broken Status = "fail" // the server would not start, or not do its work
)

// Finding is what a check found out. It never holds a secret.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do; empty when it is fine
}

func good(name, format string, args ...any) Finding {
	return Finding{Name: name, Status: Fine, Detail: fmt.Sprintf(format, args...)}
}

func warn(name, fix, format string, args ...any) Finding {
	return Finding{name, Doubt, fmt.Sprintf(format, args...), fix}
}

func fail(name, fix, format string, args ...any) Finding {
	return Finding{name, Broken, fmt.Sprintf(format, args...), fix}
}

// enginePatience is how long one engine may take to start and to say a word.
const enginePatience = 10 * time.Second

// Examine runs the checks that need settings, for a server with the data directory dir. It
// takes seconds: engines are started, others are asked. What ctx ends is not found to be
// in order.
func Examine(ctx context.Context, cfg *config.Config, dir string) []Finding {
	began := time.Now()
	web, running := checkHTTP(ctx, cfg)
	all := append([]Finding{web, checkMetrics(ctx, cfg), checkCertificate(cfg, began), checkMicrophone(cfg)}, checkTelephone(cfg, running)...)
	all = append(all, checkWebRTC(cfg, running))
	for _, d := range cfg.Doubts() {
		all = append(all, warn(d.Name, d.Fix, "%s", d.Text))
	}
	all = append(all, checkEngines(ctx, cfg)...)
	database, drift := checkDatabase(ctx, cfg, dir)
	now := time.Now()
	wall := now.Round(0).Sub(began.Round(0)) // Round drops the reading of the monotonic clock
	return append(all, database, checkDataDir(dir), checkRateCard(cfg), checkMail(ctx, cfg), checkFiles(openFiles(), cfg.MaxCalls),
		checkClock(now, wall, now.Sub(began), drift))
}

// Settings says how reading the settings went: the warnings that it left, or its error.
func Settings(warnings []string, err error) Finding {
	const name = "settings"
	switch {
	case err != nil:
		return fail(name, "parley config print shows all settings; deploy/parley.example.yaml says what they mean", "%v", err)
	case len(warnings) > 0:
		return warn(name, "correct the name, or remove it", "%s", warnings[0])
	}
	return good(name, "in order")
}
