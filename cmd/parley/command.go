package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// usageError is a command line that means nothing, which only the command could
// find out.
type usageError string

func (e usageError) Error() string { return string(e) }

// oneObject is what --json prints where there is nothing to add.
const oneObject = "print one JSON object"

// job is one run of a command: its command line, what ends it, and the form of its answer.
type job struct {
	*cobra.Command
	ctx  context.Context
	json bool
}

// runs makes cmd a command that runs as a job. jsonHelp says what --json prints.
func runs(cmd *cobra.Command, jsonHelp string, run func(j *job, args []string) error) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, jsonHelp)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(&job{cmd, cmd.Context(), *asJSON}, args) }
	return cmd
}

// interruptible makes cmd run as a job that Ctrl-C ends.
func interruptible(cmd *cobra.Command, jsonHelp string, run func(j *job, args []string) error) *cobra.Command {
	return runs(cmd, jsonHelp, func(j *job, args []string) error {
		ctx, stop := ctrlC(j.Command)
		defer stop()
		j.ctx = ctx
		return run(j, args)
	})
}

// ctrlC is the command's context, which also ends with Ctrl-C.
func ctrlC(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
}

// configFlag adds the flag that names the file with settings.
func configFlag(cmd *cobra.Command) {
	cmd.Flags().String("config", "", "YAML file with settings (PARLEY_CONFIG)")
}

// print answers with v as one JSON object, or with what a person reads, in columns.
func (j *job) print(v any, person func(w io.Writer)) error {
	if j.json {
		return encode(j.OutOrStdout(), v)
	}
	w := tabwriter.NewWriter(j.OutOrStdout(), 0, 4, 2, ' ', 0)
	person(w)
	return w.Flush()
}

// printText answers with v as one JSON object, or with a text as it is.
func (j *job) printText(v any, text string) error {
	if j.json {
		return encode(j.OutOrStdout(), v)
	}
	_, err := io.WriteString(j.OutOrStdout(), text)
	return err
}

// done tells what a command has done that writes a file: on standard error for a person.
func (j *job) done(v any, format string, args ...any) error {
	if j.json {
		return encode(j.OutOrStdout(), v)
	}
	fmt.Fprintf(j.ErrOrStderr(), format, args...)
	return nil
}

// view is an answer that shows itself to a person.
type view interface{ show(w io.Writer) }

func (j *job) show(v view) error { return j.print(v, v.show) }

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// group is a command that only holds others.
func group(use, short, long, example string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	g.AddCommand(commands...)
	return g
}
