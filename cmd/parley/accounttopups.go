package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/store"
	"parley/store/ledger"
)

// topUpView is a top-up as commands print it.
type topUpView struct {
	ID        string     `json:"topup_id"`
	State     string     `json:"state"`
	Amount    money      `json:"amount"` // asked for
	Paid      money      `json:"paid"`
	Refunded  money      `json:"refunded"`
	Provider  string     `json:"provider"`
	Payment   string     `json:"payment"` // the provider's name of it; empty before it succeeded, and where nobody paid
	Automatic bool       `json:"automatic"`
	CreatedAt time.Time  `json:"created_at"`
	SettledAt *time.Time `json:"settled_at"` // null while it is open
}

func viewTopUp(t *ledger.TopUp) topUpView {
	v := topUpView{ID: t.ID, State: string(t.State), Amount: t.Amount, Paid: t.Paid, Refunded: t.Refunded, Provider: t.Provider,
		Payment: t.Payment, Automatic: t.Automatic, CreatedAt: t.CreatedAt, SettledAt: t.SettledAt}
	if t.Demonstration() {
		v.Payment = ""
	}
	return v
}

func (v *topUpView) show(w io.Writer) {
	note := ""
	if v.Refunded > 0 {
		note = fmt.Sprintf(", %s USD refunded", v.Refunded)
	}
	if v.Automatic {
		note += ", automatic"
	}
	if v.State == string(ledger.TopUpSucceeded) && v.Payment == "" {
		note += ", came with the demonstration"
	}
	fmt.Fprintf(w, "%s\t%s\t%s USD\t%s%s\t%s\n", v.ID, stamp(&v.CreatedAt), v.Amount, v.State, note, v.Payment)
}

func newAccountTopups() *cobra.Command {
	var limit int
	cmd := &cobra.Command{Use: "topups ACCOUNT_ID", Short: "List an account's payments, newest first",
		Long: "Lists the account's top-ups, those that were begun and not paid too, newest first: when, how much in US dollars, its state\n" +
			"it, and the payment provider's name of the payment. What an operator has credited by hand is none of them. What a demonstration began with\n" +
			"is one that nobody paid.",
		Example: "  parley account topups acc_… --json", Args: cobra.ExactArgs(1)}
	adminCommand(cmd, func(a *admin, args []string) error {
		if limit < 0 {
			return fmt.Errorf("%w: --limit must not be negative", store.ErrInvalid)
		}
		if _, err := ledger.New(a.db).Account(a.ctx, args[0]); err != nil { // else one that is unknown has none
			return err
		}
		list, err := ledger.New(a.db).TopUps(a.ctx, args[0], store.Page{Limit: limit})
		if err != nil {
			return err
		}
		views := make([]topUpView, len(list))
		for i := range list {
			views[i] = viewTopUp(&list[i])
		}
		return a.print(map[string]any{"topups": views}, func(w io.Writer) {
			for _, v := range views {
				v.show(w)
			}
		})
	})
	cmd.Flags().IntVar(&limit, "limit", 0, "how many at most; 0: all")
	return cmd
}
