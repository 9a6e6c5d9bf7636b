//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"os/exec"
)

// command has the shell set the limits that it knows.
func command(ctx context.Context, c Config) (*exec.Cmd, error) {
	guard := fmt.Sprintf("ulimit -c 0 && ulimit -f %d", c.Limits.FileSize/512)
	if c.Limits.CPU > 0 {
		guard += fmt.Sprintf(" && ulimit -t %d", seconds(c.Limits.CPU))
	}
	args := append([]string{"-c", guard + ` && exec "$0" "$@"`, c.Path}, c.Args...)
	return exec.CommandContext(ctx, "/bin/sh", args...), nil
}
