package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
)

// version is set by the linker.
var version = "development"

func newVersionCommand() *cobra.Command {
	return command.Runs(&cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Prints the version of this program, of Go, and the platform.",
		Example: "  parley version --json",
		Args:    cobra.NoArgs,
	}, command.OneObject, func(j *command.Job, _ []string) error {
		return j.AnswerText(map[string]string{"version": version, "go": runtime.Version(), "platform": platform}, versionLine())
	})
}

// platform is what the program was built for.
const platform = runtime.GOOS + "/" + runtime.GOARCH

// versionLine is the version for people.
func versionLine() string {
	return fmt.Sprintf("parley %s (%s, %s)\n", version, runtime.Version(), platform)
}
