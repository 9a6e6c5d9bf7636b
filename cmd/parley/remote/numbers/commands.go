// Package numbers has the commands about telephone numbers: those of the account, their text messages, the trunks that they come in by, and those that are not called.
package numbers

import "github.com/spf13/cobra"

// Commands are the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newNumberCommand(), newTrunkCommand(), newMessageCommand(), newDoNotCallCommand()}
}
