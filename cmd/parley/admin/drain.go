package admin

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"parley/store"
)

// drainLook is how often it is looked whether a node has calls.
const drainLook = 500 * time.Millisecond

// drainView is a node that drains.
type drainView struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}

func (v *drainView) show(w io.Writer) {
	fmt.Fprintf(w, "%s drains, with %d calls in progress\n", v.Name, v.Calls)
}

func newDrainCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "drain NODE", Short: "Have a node of the server take nothing new",
		Long: "Has a node, by its name in parley nodes, refuse new calls, within 2 s. The other nodes go on with telephone calls that can move; what is left\n" +
			"ends by itself, however long that takes. The node then waits to be stopped, and takes calls again when it is started anew.",
		Example: "  parley drain node-1\n  parley drain node-1 --wait", Args: cobra.ExactArgs(1)}
	wait := cmd.Flags().Bool("wait", false, "return when the node has no call left")
	return patientCommand(cmd, func(a *admin, args []string) error {
		name := args[0]
		err := a.db.AskDrain(a.Ctx, name)
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("no node called %s runs; see parley nodes", name)
		}
		if err != nil {
			return err
		}
		return a.awaitDrain(name, *wait)
	})
}

// awaitDrain shows a node that drains, at once or when it has no call left. Until its next heartbeat it may have taken one.
func (a *admin) awaitDrain(name string, wait bool) error {
	var first time.Time
	for {
		nodes, err := a.db.Nodes(a.Ctx)
		if err != nil {
			return err
		}
		v := drainView{Name: name}
		i := slices.IndexFunc(nodes, func(n store.SeenNode) bool { return n.ID == name })
		if i < 0 { // it was stopped
			return a.show(&v)
		}
		if v.Calls = nodes[i].Calls; first.IsZero() {
			first = nodes[i].HeartbeatAt
		}
		if !wait || v.Calls == 0 && nodes[i].HeartbeatAt.After(first) {
			return a.show(&v)
		}
		select {
		case <-a.Ctx.Done():
			return a.Ctx.Err()
		case <-time.After(drainLook):
		}
	}
}
