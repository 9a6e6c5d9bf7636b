// Command parley is a real-time voice server: callers on SIP or a WebSocket talk
// with an agent. It is also the tool to run, inspect and try that server.
//
// This package is the only one that names concrete types and wires them: serve.go
// lists what a server is made of, in the order in which it starts.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"parley/cmd/parley/config"
)

// What the process's exit status says.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2 // wrong command line or configuration

	exitRefused  = 3 // billing or policy
	exitNotFound = 4
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs one command line and returns its exit status. A failure is one
// line on errOut.
func execute(args []string, out, errOut io.Writer) int {
	understood := false // the command line was, and the command has begun
	root := &cobra.Command{
		Use:           "parley",
		Short:         "A real-time voice server for AI agents",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
			understood = err == nil
			return err
		},
	}
	root.AddCommand(newServeCommand(), newAccountCommand(), newKeyCommand(), newAgentCommand(), newNumberCommand(), newLedgerCommand(),
		newTalkCommand(), newPhoneCommand(), newBenchCommand(),
		newConfigCommand(), newVersionCommand())
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	// Some libraries' errors are paragraphs.
	fmt.Fprintln(errOut, "parley:", strings.Join(strings.Fields(err.Error()), " "))
	var wrong *config.Error
	if !understood || errors.As(err, &wrong) {
		return exitUsage
	}
	return exitStatus(err)
}
