// Package remote has the commands that are clients of a running server, or of any telephone: they know it by its
// address alone. Those of one subject have a package of their own, and share parley/cmd/parley/remote/server.
package remote

import (
	"slices"

	"github.com/spf13/cobra"

	"parley/cmd/parley/remote/account"
	"parley/cmd/parley/remote/agents"
	"parley/cmd/parley/remote/calls"
	"parley/cmd/parley/remote/events"
	"parley/cmd/parley/remote/numbers"
	"parley/cmd/parley/remote/profile"
	"parley/cmd/parley/remote/server"
	"parley/cmd/parley/remote/speech"
)

// Commands are the commands of this package, but for DemoLink.
func Commands() []*cobra.Command {
	all := slices.Concat(account.Commands(), agents.Commands(), calls.Commands(), events.Commands(), numbers.Commands(), profile.Commands(), speech.Commands())
	for _, c := range all {
		server.Showing(c)
	}
	return all
}
