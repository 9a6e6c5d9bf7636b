// Package command is what all commands of the program share: how they run and end, how
// they answer people and programs, and how they show that they are at work.
package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// OneObject is what --json prints where there is nothing to add.
const OneObject = "print one JSON object"

// Job is one run of a command: its command line, what ends it, and the form of its answer.
type Job struct {
	*cobra.Command
	Ctx  context.Context
	JSON bool
}

// Runs makes cmd a command that runs as a job. jsonHelp says what --json prints.
func Runs(cmd *cobra.Command, jsonHelp string, run func(j *Job, args []string) error) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, jsonHelp)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(&Job{cmd, cmd.Context(), *asJSON}, args) }
	return cmd
}

// Interruptible makes cmd run as a job that Ctrl-C ends.
func Interruptible(cmd *cobra.Command, jsonHelp string, run func(j *Job, args []string) error) *cobra.Command {
	return Runs(cmd, jsonHelp, func(j *Job, args []string) error {
		ctx, stop := CtrlC(j.Command)
		defer stop()
		j.Ctx = ctx
		return run(j, args)
	})
}

// CtrlC is the command's context, which also ends with Ctrl-C.
func CtrlC(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
}

// Answer answers with v as one JSON object, or with what a person reads, in columns.
func (j *Job) Answer(v any, person func(w io.Writer)) error {
	if j.JSON {
		return Encode(j.OutOrStdout(), v)
	}
	w := tabwriter.NewWriter(j.OutOrStdout(), 0, 4, 2, ' ', 0)
	person(w)
	return w.Flush()
}

// AnswerText answers with v as one JSON object, or with a text as it is.
func (j *Job) AnswerText(v any, text string) error {
	if j.JSON {
		return Encode(j.OutOrStdout(), v)
	}
	_, err := io.WriteString(j.OutOrStdout(), text)
	return err
}

// Done tells what a command has done that writes a file: on standard error for a person.
func (j *Job) Done(v any, format string, args ...any) error {
	if j.JSON {
		return Encode(j.OutOrStdout(), v)
	}
	fmt.Fprintf(j.ErrOrStderr(), format, args...)
	return nil
}

// Encode writes v as JSON in a line.
func Encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Group is a command that only holds others.
func Group(use, short, long, example string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	g.AddCommand(commands...)
	return g
}

// Complete says which values flags of cmd take.
func Complete(cmd *cobra.Command, values map[string][]string) {
	for flag, list := range values {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)) // a test presses Tab
	}
}

// Pairs reads names and values of a flag that may be repeated; nil when it was not given.
func Pairs(flag string, given []string) (all map[string]string, err error) {
	for _, v := range given {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, UsageError("--" + flag + ": as name=value")
		}
		if all == nil {
			all = map[string]string{}
		}
		all[name] = value
	}
	return all, nil
}

// Stamp shows a moment to a person; "never" when there is none.
func Stamp(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Local().Format(time.DateTime)
}

// OrNone shows an optional text; "none" when there is none.
func OrNone(s *string) string {
	if s == nil || strings.TrimSpace(*s) == "" {
		return "none"
	}
	return *s
}
