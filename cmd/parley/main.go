// Command parley is a real-time voice server: callers on SIP or a WebSocket talk
// with an agent. It is also the tool to run, inspect and try that server.
//
// This package is the only one that names concrete types and wires them: serve.go
// lists what a server is made of, in the order in which it starts.
package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"parley/cmd/parley/admin"
	"parley/cmd/parley/bench"
	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/cmd/parley/models"
	"parley/cmd/parley/remote"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// execute runs one command line and returns its exit status. A failure is one
// line on errOut.
func execute(args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	return command.Execute(root, admin.Spelled(root, args), in, out, errOut, settingsStatus, admin.ExitStatus, remote.ExitStatus, models.ExitStatus)
}

// settingsStatus is the exit status for wrong settings, 0 for other errors.
func settingsStatus(err error) int {
	if _, wrong := errors.AsType[*config.Error](err); wrong {
		return command.ExitUsage
	}
	return command.ExitDone
}

// newRoot is the whole command line.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "parley",
		Short: "A real-time voice server for AI agents",
		Long: "Parley answers calls over SIP, WebRTC and WebSockets with an AI agent, and turns text into speech, speech into text and noisy\n" +
			"recordings into clean ones. This program is the server and the tool to run, inspect and try it.",
		Version: version,
		Example: "  parley serve --demo\n  parley talk --agent ag_… --type\n  parley synth \"Good morning\" -o morning.wav",
	}
	root.AddCommand(newServeCommand(), newDemoCommand(), newDoctorCommand(), newHealthCommand(), newEngineCommand(), models.Command(), newConfigCommand(), newCompletionCommand(), newVersionCommand(), bench.Command())
	root.AddCommand(admin.Commands(version)...)
	root.AddCommand(remote.Commands()...)
	root.CompletionOptions.DisableDefaultCmd = true
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Example = "  parley help agent push"
		}
	}
	root.SetVersionTemplate(versionLine())
	grouped(root)
	return root
}
