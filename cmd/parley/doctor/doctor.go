// Package doctor checks that a server can work on this machine with its settings, and says
// how to mend what cannot. It changes nothing but for a file in the store of recordings that it
// deletes again, and may run beside a running server, or in one: the command and the dashboard's page show the same.
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

func good(format string, args ...any) Finding {
	return Finding{Status: Fine, Detail: fmt.Sprintf(format, args...)}
}

func warn(fix, format string, args ...any) Finding {
	return Finding{Status: Doubt, Detail: fmt.Sprintf(format, args...), Fix: fix}
}

func fail(fix, format string, args ...any) Finding {
	return Finding{Status: Broken, Detail: fmt.Sprintf(format, args...), Fix: fix}
}

// of says what was looked at.
func (f Finding) of(name string) Finding {
	f.Name = name
	return f
}

// enginePatience is how long one engine may take to start and to say a word.
const enginePatience = 10 * time.Second

// Examine runs the checks that need settings, for a server with the data directory dir. It
// takes seconds: engines are started, others are asked. What ctx ends is not found to be
// in order.
func Examine(ctx context.Context, cfg *config.Config, dir string) []Finding {
	began := time.Now()
	web, running := checkHTTP(ctx, cfg)
	all := append([]Finding{web.of("http port"), checkMetrics(ctx, cfg).of("metrics port"), checkCertificate(cfg, began).of("certificate"),
		checkMicrophone(cfg).of("microphone")}, checkTelephone(ctx, cfg, running)...)
	all = append(all, checkWebRTC(cfg, running).of("webrtc port"))
	for _, d := range cfg.Doubts() {
		all = append(all, warn(d.Fix, "%s", d.Text).of(d.Name))
	}
	all = append(all, checkEngines(ctx, cfg)...)
	if cfg.EmbeddingsURL != "" {
		all = append(all, checkEmbeddings(ctx, cfg).of("embeddings engine"))
	}
	database, drift := checkDatabase(ctx, cfg, dir)
	now := time.Now()
	wall := now.Round(0).Sub(began.Round(0)) // Round drops the reading of the monotonic clock
	return append(all, database.of("database"), checkDataDir(dir).of("data directory"), checkStorage(ctx, cfg).of("storage"), checkRateCard(cfg).of("rate card"), checkMail(ctx, cfg).of("mail"),
		checkFiles(openFiles(), cfg.MaxCalls).of("open files"), checkClock(now, wall, now.Sub(began), drift).of("clock"))
}

// Settings says how reading the settings went: the warnings that it left, or its error.
func Settings(warnings []string, err error) Finding {
	switch {
	case err != nil:
		return fail("parley config print shows all settings; deploy/parley.example.yaml says what they mean", "%v", err).of("settings")
	case len(warnings) > 0:
		return warn("correct the name, or remove it", "%s", warnings[0]).of("settings")
	}
	return good("all are valid").of("settings")
}
