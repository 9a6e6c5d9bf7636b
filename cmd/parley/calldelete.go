package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCallsDelete() *cobra.Command {
	var r remote
	var asJSON bool
	cmd := &cobra.Command{Use: "delete CALL_ID", Short: "Delete what was said in a call",
		Long: "Deletes what was said in a call, for good: transcript, events, recording, summary, extracted data, and what it could be replayed\n" +
			"from. That there was the call stays, with its numbers, times and cost. Of a call that lasts nothing is kept when it ends.\n" +
			"Deleting it again changes nothing. The operator can have an account forget by itself: parley account set --conversation-days.",
		Example: "  parley calls delete ses_…", Args: cobra.ExactArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := r.client()
		if err != nil {
			return err
		}
		ctx, stop := interruptible(cmd)
		defer stop()
		if err := c.ForgetCall(ctx, args[0]); err != nil {
			return err
		}
		if asJSON {
			return result(cmd, true, map[string]any{"id": args[0], "deleted": true})
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "deleted\t%s\n", args[0])
		return err
	}
	r.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
