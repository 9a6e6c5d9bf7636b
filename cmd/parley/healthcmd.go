package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/doctor"
	"parley/cmd/parley/local"
)

// healthPatience is longer than a server takes for its own checks, checkTimeout.
const healthPatience = 5 * time.Second

var errSilent = errors.New("it does not answer")

func newHealthCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "health", Short: "Say whether the server of this machine lives, or is ready for calls",
		Long: "Asks the server of this machine, at the address of its settings, whether its process lives, or with --ready whether it takes calls: its\n" +
			"database, bus, engines and telephony answer, and it does not drain. Prints one line. Exit status 0 when it does, 1 when it does not or says\n" +
			"nothing for 5 s. It is for the health checks of containers and for scripts.",
		Example: "  parley health\n  parley health --ready --config /etc/parley/parley.yaml\n  parley health --ready --addr 127.0.0.1:8080", Args: cobra.NoArgs}
	local.ConfigFlag(cmd)
	addr := cmd.Flags().String("addr", "", "HOST:PORT at which the server listens (otherwise PARLEY_HTTP_ADDR)")
	ready := cmd.Flags().Bool("ready", false, "ask whether the server takes calls, not only whether it lives")
	return command.Interruptible(cmd, command.OneObject, func(j *command.Job, _ []string) error {
		cfg, _, err := local.Config(j.Command)
		if err != nil {
			return err
		}
		path, want := "/healthz", "ok"
		if *ready {
			path, want = "/readyz", "ready"
		}
		at := cmp.Or(*addr, cfg.HTTPAddr)
		state, err := askHealth(j.Ctx, cfg.HTTPS(), at, path)
		if err != nil {
			return fmt.Errorf("the server at %s: %w", at, err)
		}
		if state.Status == want {
			return j.AnswerText(state, want+"\n")
		}
		if j.JSON {
			if err := command.Encode(j.OutOrStdout(), state); err != nil {
				return err
			}
		}
		return fmt.Errorf("the server at %s: %s", at, state)
	})
}

// healthState is what /healthz and /readyz answer.
type healthState struct {
	Status   string   `json:"status"`
	NotReady []string `json:"not_ready,omitempty"`
}

func (s healthState) String() string {
	word := strings.ReplaceAll(s.Status, "_", " ")
	if len(s.NotReady) == 0 {
		return word
	}
	return word + ": " + strings.Join(s.NotReady, ", ")
}

func askHealth(ctx context.Context, secure bool, addr, path string) (s healthState, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, healthPatience, errSilent)
	defer cancel()
	status, page, err := doctor.Ask(ctx, secure, addr, path)
	switch {
	case ctx.Err() != nil:
		return s, context.Cause(ctx)
	case err != nil:
		return s, err
	case status != http.StatusOK && status != http.StatusServiceUnavailable, json.Unmarshal(page, &s) != nil, s.Status == "":
		return s, errors.New("it is not Parley, or not its HTTP address")
	}
	return s, nil
}
