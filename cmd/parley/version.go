package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "development"

func newVersionCommand() *cobra.Command {
	return runs(&cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Prints the version of this program, of Go, and the platform.",
		Example: "  parley version --json",
		Args:    cobra.NoArgs,
	}, oneObject, func(j *job, _ []string) error {
		platform := runtime.GOOS + "/" + runtime.GOARCH
		return j.printText(map[string]string{"version": version, "go": runtime.Version(), "platform": platform},
			fmt.Sprintf("parley %s (%s, %s)\n", version, runtime.Version(), platform))
	})
}
