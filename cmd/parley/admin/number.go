package admin

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/store/numbers"
)

func newNumberCommand() *cobra.Command {
	return command.Group("number", "Telephone numbers of accounts: add, list, remove",
		"Gives accounts numbers that reach this server over a trunk of your own, which cost them nothing, and lists those and the ones they have bought.", "  parley admin number list --account acc_…",
		newNumberAdd(), newNumberList(), newNumberRemove())
}

// numberView is a number as commands print it.
type numberView struct {
	ID          string  `json:"id"`
	PhoneNumber string  `json:"phone_number"`
	Country     string  `json:"country_code"`
	AgentID     *string `json:"agent_id"`
	Status      string  `json:"status"`            // a numbers.State
	Carrier     string  `json:"carrier,omitempty"` // who sold it; nobody: it costs nothing
	CarrierID   string  `json:"carrier_id,omitempty"`
	// NextChargeAt is when the next month begins, or the unpaid one began.
	NextChargeAt *time.Time `json:"next_charge_at,omitempty"`
	ReleaseAt    *time.Time `json:"release_at,omitempty"` // in grace: when it is lost
}

func viewNumber(n *numbers.Number) numberView {
	return numberView{n.ID, n.E164, n.Country, n.AgentID, string(n.State), n.Carrier, n.CarrierID, n.NextChargeAt, n.GraceUntil}
}

func (v numberView) show(w io.Writer) {
	state := v.Status
	if v.ReleaseAt != nil {
		state += " until " + v.ReleaseAt.Format(time.DateTime)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\tagent %s\n", v.ID, v.PhoneNumber, v.Country, state, command.OrNone(v.AgentID))
}

func newNumberAdd() *cobra.Command {
	cmd := &cobra.Command{Use: "add --account ID E164 --agent ID", Short: "Give an account a number that reaches this server",
		Long:    "Gives an account a number that a trunk sends to this server. With --agent that agent answers, otherwise nobody does.",
		Example: "  parley admin number add --account acc_… +34911234567 --agent ag_…", Args: cobra.ExactArgs(1)}
	agent := cmd.Flags().String("agent", "", "the agent that answers")
	return accountCommand(cmd, func(a *admin, account string, args []string) error {
		return shown(a, viewNumber)(numbers.New(a.db).Import(a.Ctx, account, args[0], *agent))
	})
}

func newNumberList() *cobra.Command {
	return accountCommand(&cobra.Command{Use: "list --account ID", Short: "List an account's numbers",
		Long: "Lists an account's numbers, those that are on their way too, their state, and who answers them.", Example: "  parley admin number list --account acc_… --json", Args: cobra.NoArgs},
		func(a *admin, account string, _ []string) error {
			return listOf(a, account, "numbers", numbers.New(a.db).Numbers, viewNumber, numberView.show)
		})
}

func newNumberRemove() *cobra.Command {
	return accountCommand(&cobra.Command{Use: "remove --account ID E164", Short: "Take a number from an account",
		Long:    "Takes a number from an account, for good. Calls to it are refused with 404 from now on; one that was bought goes back to its carrier.",
		Example: "  parley admin number remove --account acc_… +34911234567", Args: cobra.ExactArgs(1)}, func(a *admin, account string, args []string) error {
		n, err := numbers.New(a.db).ByE164(a.Ctx, account, args[0])
		if err != nil {
			return err
		}
		if err := numbers.New(a.db).Release(a.Ctx, account, n.ID); err != nil {
			return err
		}
		return a.Answer(map[string]any{"id": n.ID, "phone_number": n.E164, "released": true},
			func(w io.Writer) { fmt.Fprintf(w, "released\t%s\n", n.E164) })
	})
}
