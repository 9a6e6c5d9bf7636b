// Package profile has the servers and accounts that a user of this machine has logged in to, and the commands that log in and out.
package profile

import "github.com/spf13/cobra"

// Commands are the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newLoginCommand(), newLogoutCommand(), newProfileCommand()}
}
