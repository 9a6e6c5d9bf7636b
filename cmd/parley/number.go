package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/store"
)

func newNumberCommand() *cobra.Command {
	return group("number", "Telephone numbers of a plain trunk: add, list, remove", newNumberAdd(), newNumberList(), newNumberRemove())
}

// numberView is a number as commands print it.
type numberView struct {
	ID          string  `json:"id"`
	PhoneNumber string  `json:"phone_number"`
	Country     string  `json:"country_code"`
	AgentID     *string `json:"agent_id"`
	Status      string  `json:"status"`
}

func viewNumber(n *store.Number) numberView {
	return numberView{n.ID, n.E164, n.Country, n.AgentID, string(n.State)}
}

func (v numberView) show(w io.Writer) {
	fmt.Fprintf(w, "%s\t%s\t%s\tagent %s\n", v.ID, v.PhoneNumber, v.Country, word(v.AgentID))
}

func newNumberAdd() *cobra.Command {
	cmd := &cobra.Command{Use: "add --account ID E164 --agent ID", Short: "Give an account a number that reaches this server",
		Example: "  parley number add --account acc_… +34911234567 --agent ag_…", Args: cobra.ExactArgs(1)}
	account, agent := accountFlag(cmd), cmd.Flags().String("agent", "", "the agent that answers")
	return adminCommand(cmd, func(a *admin, args []string) error {
		n, err := a.db.ImportNumber(a.ctx, *account, args[0], *agent, a.now)
		if err != nil {
			return err
		}
		v := viewNumber(n)
		return a.print(v, v.show)
	})
}

func newNumberList() *cobra.Command {
	cmd := &cobra.Command{Use: "list --account ID", Short: "List an account's numbers", Args: cobra.NoArgs}
	account := accountFlag(cmd)
	return adminCommand(cmd, func(a *admin, _ []string) error {
		if _, err := a.db.Account(a.ctx, *account); err != nil {
			return err
		}
		numbers, err := a.db.Numbers(a.ctx, *account, store.Page{})
		if err != nil {
			return err
		}
		views := make([]numberView, len(numbers))
		for i := range numbers {
			views[i] = viewNumber(&numbers[i])
		}
		return a.print(map[string]any{"numbers": views}, func(w io.Writer) {
			for _, v := range views {
				v.show(w)
			}
		})
	})
}

func newNumberRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove --account ID E164", Short: "Take a number from an account", Args: cobra.ExactArgs(1)}
	account := accountFlag(cmd)
	return adminCommand(cmd, func(a *admin, args []string) error {
		n, err := a.db.NumberByE164(a.ctx, *account, args[0])
		if err != nil {
			return err
		}
		if err := a.db.ReleaseNumber(a.ctx, *account, n.ID, a.now); err != nil {
			return err
		}
		return a.print(map[string]any{"id": n.ID, "phone_number": n.E164, "released": true},
			func(w io.Writer) { fmt.Fprintf(w, "released\t%s\n", n.E164) })
	})
}
