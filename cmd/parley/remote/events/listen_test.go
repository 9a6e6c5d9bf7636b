package events

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// TestSilentServer: a server that says nothing any more is given up, and asked again.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errOut bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetErr(&errOut)
		q := &server.Request{Job: &command.Job{Command: cmd, Ctx: t.Context()}}
		begun, asked := time.Now(), 0
		err := insist(q, t.Context(), func(ctx context.Context) error {
			if asked++; asked == 3 {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if took := time.Since(begun); err != nil || asked != 3 || took != 2*serverPatience+leastPause || errOut.String() != "the server does not answer; trying again\n" {
			t.Errorf("%v after %s and %d questions: %s", err, took, asked, &errOut)
		}
	})
}
