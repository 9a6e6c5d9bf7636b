// Package account has the commands about the account itself: what it may do and has, what that costs, its keys and secrets.
package account

import "github.com/spf13/cobra"

// Commands are the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newAccountCommand(), newBalanceCommand(), newUsageCommand(), newRatesCommand(), newKeyCommand(), newSecretCommand(), newEngineKeyCommand()}
}
