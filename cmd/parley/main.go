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

func main() { os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// execute runs one command line and returns its exit status. A failure is one
// line on errOut.
func execute(args []string, in io.Reader, out, errOut io.Writer) int {
	understood := false // the command line was, and the command has begun
	root := newRoot(&understood)
	root.SetArgs(args)
	root.SetIn(in)
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

// newRoot is the whole command line. It sets understood when it has been read
// without a fault.
func newRoot(understood *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "parley",
		Short: "A real-time voice server for AI agents",
		Long: "Parley answers calls over SIP, WebRTC and WebSockets with an AI agent, and turns text into speech, speech into text and noisy\n" +
			"recordings into clean ones. This program is the server and the tool to run, inspect and try it.",
		Example:       "  parley serve --demo\n  parley talk --agent ag_… --type\n  parley synth \"Good morning\" -o morning.wav",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
			*understood = err == nil
			return err
		},
	}
	root.AddCommand(newServeCommand(), newDemoCommand(), newDoctorCommand(), newAccountCommand(), newAdminUserCommand(), newKeyCommand(), newAgentCommand(), newNumberCommand(), newDoNotCallCommand(), newLedgerCommand(), newMigrateCommand(), newBackupCommand(), newRestoreCommand(),
		newTalkCommand(), newPhoneCommand(), newSynthCommand(), newTranscribeCommand(), newDenoiseCommand(), newBalanceCommand(), newUsageCommand(), newRatesCommand(), newDialCommand(), newBulkCommand(), newCallsCommand(), newTailCommand(), newReplayCommand(), newSimulateCommand(), newBenchCommand(),
		newConfigCommand(), newCompletionCommand(), newVersionCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Example = "  parley help agent create"
		}
	}
	return root
}
