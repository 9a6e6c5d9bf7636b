package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// fetched is what the calls recording command has done.
type fetched struct {
	Call  string `json:"call_id"`
	File  string `json:"file"`
	Type  string `json:"type"`
	Bytes int64  `json:"bytes"`
}

func newCallsRecording() *cobra.Command {
	var r remote
	var out, format string
	var asJSON bool
	cmd := &cobra.Command{Use: "recording CALL_ID", Short: "Fetch the recording of a call",
		Long: "Writes the recording of a call that has ended, the caller on the left and what the caller heard on the right: as the server\n" +
			"keeps it, which is Opus in Ogg, or in the --format that is asked for; without -o to standard output when that is not a\n" +
			"terminal. Calls are recorded when the settings of their agent say so.",
		Example: "  parley calls recording ses_… -o call.ogg\n  parley calls recording ses_… --format wav | aplay", Args: cobra.ExactArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format != "" && format != "ogg" && format != "wav" {
			return usageError("--format: ogg or wav")
		}
		c, err := r.client()
		if err != nil {
			return err
		}
		ctx, stop := interruptible(cmd)
		defer stop()
		to, err := openOutput(cmd, out, asJSON)
		if err != nil {
			return err
		}
		show := newProgress(cmd, asJSON)
		defer show.end()
		did := fetched{Call: args[0], File: to.path}
		audio, err := c.CallRecording(ctx, args[0], format)
		if err == nil {
			did.Type = audio.Type
			did.Bytes, err = save(show, audio, to)
		}
		if err := to.finish(err); err != nil {
			return err
		}
		show.end()
		if !asJSON {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d bytes, %s\n", did.File, did.Bytes, did.Type)
		}
		return result(cmd, asJSON, did)
	}
	r.add(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "", "file for the recording, - for standard output")
	cmd.Flags().StringVar(&format, "format", "", "ogg or wav; without it as the server keeps it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was done as one JSON object")
	complete(cmd, map[string][]string{"format": {"ogg", "wav"}})
	return cmd
}
