// Package events has the commands about what happens to an account, as it happens and afterwards: calls and requests as they come, webhooks
// and their deliveries.
package events

import "github.com/spf13/cobra"

// Commands are the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newLogsCommand(), newRequestsCommand(), newWebhookCommand(), newListenCommand()}
}
