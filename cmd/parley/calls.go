package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
)

// callWords are what the filters of the list of calls take, as the API has it.
var callWords = map[string][]string{
	"direction": {"web", "inbound", "outbound"},
	"state":     {"live", "ended"},
	"end-reason": {"completed", "user_hangup", "agent_hangup", "api_hangup", "no_answer", "busy", "rejected", "failed", "voicemail",
		"balance_exhausted", "max_duration", "unknown"},
}

// callsCommand holds the flags of the calls command.
type callsCommand struct {
	remote
	query client.CallQuery
	json  bool
}

func newCallsCommand() *cobra.Command {
	var l callsCommand
	cmd := &cobra.Command{Use: "calls", Short: "List the latest calls",
		Long: "Lists the account's latest calls, the newest first: on the telephone, placed by agents, and over WebSockets. Filters are\n" +
			"combined: a call is listed when all of them fit. Dates begin at midnight UTC, and --to is not included.",
		Example: "  parley calls --limit 5\n  parley calls --state live\n  parley calls --number +34612345678 --from 2026-03-01\n  parley calls --json | jq -r '.data[0].id'",
		Args:    cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return l.run(cmd) }}
	l.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&l.query.Direction, "direction", "", "only these: "+strings.Join(callWords["direction"], ", "))
	fl.StringVar(&l.query.State, "state", "", "only those in progress, live, or over, ended")
	fl.StringVar(&l.query.EndReason, "end-reason", "", "only those that ended so, such as no_answer")
	fl.StringVar(&l.query.Number, "number", "", "only those from or to this number, in international format")
	fl.StringVar(&l.query.Agent, "agent", "", "only those of this agent, also one that was deleted")
	fl.StringVar(&l.query.From, "from", "", "not begun before this date, or RFC 3339 time")
	fl.StringVar(&l.query.To, "to", "", "begun before this date, or RFC 3339 time")
	fl.IntVar(&l.query.Limit, "limit", 20, "how many at most, 1 to 100")
	fl.BoolVar(&l.json, "json", false, "print one JSON object")
	complete(cmd, callWords)
	_ = cmd.RegisterFlagCompletionFunc("agent", l.agents) // it exists
	cmd.AddCommand(newCallsRecording(), newCallsShow(), newCallsDelete())
	return cmd
}

func (l *callsCommand) run(cmd *cobra.Command) error {
	if l.query.Limit < 1 || l.query.Limit > 100 {
		return usageError("--limit: from 1 to 100")
	}
	for name, given := range map[string]string{"direction": l.query.Direction, "state": l.query.State, "end-reason": l.query.EndReason} {
		if given != "" && !slices.Contains(callWords[name], given) {
			return usageError("--" + name + " is one of " + strings.Join(callWords[name], ", "))
		}
	}
	c, err := l.client()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	list, more, err := c.Calls(ctx, l.query)
	if err != nil {
		return err
	}
	if more {
		fmt.Fprintf(cmd.ErrOrStderr(), "only the newest %d are shown\n", l.query.Limit)
	}
	if l.json {
		return result(cmd, true, map[string]any{"data": list})
	}
	return lines(cmd, func(w io.Writer) { showCalls(w, list) })
}

func showCalls(w io.Writer, list []wire.CallSummary) {
	fmt.Fprintln(w, "began\tcall\tdirection\tfrom\tto\tseconds\tend\tUSD")
	for _, c := range list {
		end := c.Status
		if c.EndReason != nil {
			end = *c.EndReason
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", stamp(&c.CreatedAt), c.ID, c.Direction, c.From, c.To, c.Duration, end, c.Cost)
	}
}

func newCallsDelete() *cobra.Command {
	return ask(&cobra.Command{Use: "delete CALL_ID", Short: "Delete what was said in a call",
		Long: "Deletes what was said in a call, for good: transcript, events, recording, summary, extracted data, and what it could be replayed\n" +
			"from. That there was the call stays, with its numbers, times and cost. Of a call that lasts nothing is kept when it ends.\n" +
			"Deleting it again changes nothing. The operator can have an account forget by itself: parley account set --conversation-days.",
		Example: "  parley calls delete ses_…", Args: cobra.ExactArgs(1)}, oneObject, func(q *request, args []string) error {
		if err := q.ForgetCall(q.ctx, args[0]); err != nil {
			return err
		}
		if q.json {
			return result(q.Command, true, map[string]any{"id": args[0], "deleted": true})
		}
		_, err := fmt.Fprintf(q.OutOrStdout(), "deleted\t%s\n", args[0])
		return err
	})
}

// fetched is what the calls recording command has done.
type fetched struct {
	Call  string `json:"call_id"`
	File  string `json:"file"`
	Type  string `json:"type"`
	Bytes int64  `json:"bytes"`
}

func newCallsRecording() *cobra.Command {
	var out, format string
	cmd := &cobra.Command{Use: "recording CALL_ID", Short: "Fetch the recording of a call",
		Long: "Writes the recording of a call that has ended, the caller on the left and what the caller heard on the right: as the server\n" +
			"keeps it, which is Opus in Ogg, or in the --format that is asked for; without -o to standard output when that is not a\n" +
			"terminal. Calls are recorded when the settings of their agent say so.",
		Example: "  parley calls recording ses_… -o call.ogg\n  parley calls recording ses_… --format wav | aplay", Args: cobra.ExactArgs(1)}
	ask(cmd, "print what was done as one JSON object", func(q *request, args []string) error {
		if format != "" && format != "ogg" && format != "wav" {
			return usageError("--format: ogg or wav")
		}
		to, err := openOutput(cmd, out, q.json)
		if err != nil {
			return err
		}
		show := newProgress(cmd, q.json)
		defer show.end()
		did := fetched{Call: args[0], File: to.path}
		audio, err := q.CallRecording(q.ctx, args[0], format)
		if err == nil {
			did.Type = audio.Type
			did.Bytes, err = save(show, audio, to)
		}
		if err := to.finish(err); err != nil {
			return err
		}
		show.end()
		if !q.json {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d bytes, %s\n", did.File, did.Bytes, did.Type)
		}
		return result(cmd, q.json, did)
	})
	cmd.Flags().StringVarP(&out, "out", "o", "", "file for the recording, - for standard output")
	cmd.Flags().StringVar(&format, "format", "", "ogg or wav; without it as the server keeps it")
	complete(cmd, map[string][]string{"format": {"ogg", "wav"}})
	return cmd
}
