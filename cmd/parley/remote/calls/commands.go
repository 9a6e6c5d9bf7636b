// Package calls has the commands that place calls, alone and in batches, and those that show them.
package calls

import "github.com/spf13/cobra"

// Commands are the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newCallsCommand(), newDialCommand(), newTailCommand(), newBulkCommand(), newConsentsCommand(), newLatencyCommand()}
}
