package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "development"

func newVersionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Prints the version of this program, of Go, and the platform.",
		Example: "  parley version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]string{
					"version": version, "go": runtime.Version(), "platform": platform,
				})
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "parley %s (%s, %s)\n", version, runtime.Version(), platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
