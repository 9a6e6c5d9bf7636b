package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// What the process's exit status says.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2 // wrong command line or configuration

	ExitRefused  = 3 // billing or policy
	ExitNotFound = 4
)

// UsageError is a command line that means nothing, which only the command could
// find out.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// Execute runs one command line of root and returns its exit status. A failure is one
// line on errOut. Each of statuses gives the exit status of the errors that it knows, 0 of
// others.
func Execute(root *cobra.Command, args []string, in io.Reader, out, errOut io.Writer, statuses ...func(error) int) int {
	understood := false // the command line was, and the command has begun
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
		understood = err == nil
		return err
	}
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.Execute()
	if err == nil {
		return ExitDone
	}
	// Some libraries' errors are paragraphs.
	fmt.Fprintln(errOut, "parley:", strings.Join(strings.Fields(err.Error()), " "))
	if _, usage := errors.AsType[UsageError](err); usage || !understood {
		return ExitUsage
	}
	for _, status := range statuses {
		if s := status(err); s != ExitDone {
			return s
		}
	}
	return ExitFailed
}
