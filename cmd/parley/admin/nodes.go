package admin

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/api/operator"
	"parley/api/wire"
	"parley/cmd/parley/command"
)

func newNodesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "nodes", Short: "List the nodes of a server",
		Long: "Lists the processes that share the server's database, by name: state, calls in progress, address for the others (PARLEY_ADVERTISE), version, and\n" +
			"since when it runs, or is silent. A silent node has not been heard for 15 s; the others have closed its calls. It is listed for a week. One that\n" +
			"was stopped in good order is not. Times are by the database's clock.",
		Example: "  parley nodes\n  parley nodes --json", Args: cobra.NoArgs}
	return adminCommand(cmd, func(a *admin, _ []string) error {
		return listed(a, "nodes", operator.NodeView, showNode)(a.db.Nodes(a.Ctx))
	})
}

// showNode is a node on one line.
func showNode(v wire.Node, w io.Writer) {
	what, since := "up", &v.StartedAt
	if v.SilentSince != nil {
		what, since = "silent", v.SilentSince
	}
	fmt.Fprintf(w, "%s\t%s\t%d calls\t%s\t%s\t%s since %s\n", v.Name, v.State, v.Calls, command.OrNone(&v.Address), command.OrNone(&v.Version), what, command.Stamp(since))
}
