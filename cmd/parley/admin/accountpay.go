package admin

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/billing"
	"parley/cmd/parley/command"
	"parley/store"
	"parley/store/payments"
)

// operatorDispute is the name of a dispute that an operator opens without another.
const operatorDispute = "operator"

func newAccountDispute() *cobra.Command {
	cmd := &cobra.Command{Use: "dispute ACCOUNT_ID --open|--resolve", Short: "Mark a disputed payment, or resolve it",
		Long: "While a payment of an account is disputed nothing starts, calls are not answered, and sessions in progress say goodbye within\n" +
			"5 seconds. Disputes that the payment provider reports are marked by themselves; one that was lost stays until it is resolved\n" +
			"here. --resolve ends all of the account's disputes, or the one that --ref names.",
		Example: "  parley admin account dispute acc_… --open\n  parley admin account dispute acc_… --resolve --ref dp_…", Args: cobra.ExactArgs(1)}
	open := cmd.Flags().Bool("open", false, "a payment is disputed")
	cmd.Flags().Bool("resolve", false, "it is not any more")
	ref := cmd.Flags().String("ref", "", "the provider's name of the dispute")
	cmd.MarkFlagsOneRequired("open", "resolve")
	cmd.MarkFlagsMutuallyExclusive("open", "resolve")
	return adminCommand(cmd, func(a *admin, args []string) (err error) {
		if *open {
			err = a.ledger.OpenDispute(a.Ctx, args[0], cmp.Or(*ref, operatorDispute))
		} else {
			err = a.ledger.ResolveDispute(a.Ctx, args[0], *ref)
		}
		if err != nil {
			return err
		}
		return showAccount(a, args)
	})
}

// How long a command waits for a running server to make a refund, and how often it
// looks.
const (
	refundPatience = 10 * time.Second
	refundLook     = 200 * time.Millisecond
)

func newAccountRefund() *cobra.Command {
	return adminCommand(&cobra.Command{Use: "refund ACCOUNT_ID TOPUP_ID AMOUNT", Short: "Give a part of a top-up back to the card",
		Long: "Takes the amount, in US dollars, out of the balance at once and has the server give it back through the payment provider; if that\n" +
			"fails the amount returns. Never more than is left of the top-up, and of what was paid and not spent. A refund that was made at the\n" +
			"provider's own page is taken out of the balance by itself. What the demonstration began with was paid by nobody and is refused.\n" +
			"The command waits 10 seconds for the server; without one the refund is made when it runs again.",
		Example: "  parley admin account refund acc_… top_… 12.50", Args: cobra.ExactArgs(3)},
		func(a *admin, args []string) error {
			amount, err := billing.ParseMoney(args[2])
			if err != nil {
				return fmt.Errorf("%w: amount: %w", store.ErrInvalid, err)
			}
			r, err := payments.New(a.db).RequestRefund(a.Ctx, args[0], args[1], amount)
			if err != nil {
				return err
			}
			for end := time.Now().Add(refundPatience); r.State == payments.RefundAsked && time.Now().Before(end); time.Sleep(refundLook) {
				if r, err = payments.New(a.db).Refund(a.Ctx, r.Account, r.ID); err != nil {
					return err
				}
			}
			account, err := a.ledger.Account(a.Ctx, r.Account)
			if err != nil {
				return err
			}
			answer := map[string]any{"refund_id": r.ID, "topup_id": r.TopUp, "amount": r.Amount, "state": r.State, "code": r.Code, "balance": account.Balance()}
			err = a.Answer(answer, func(w io.Writer) {
				fmt.Fprintf(w, "refund\t%s\namount\t%s USD\nstate\t%s\nbalance\t%s USD\n", r.ID, r.Amount, refundText(r), account.Balance())
			})
			if err == nil && r.State == payments.RefundFailed {
				err = fmt.Errorf("the payment provider made no refund: %s", r.Code)
			}
			return err
		})
}

// refundText is a refund's state for people.
func refundText(r *payments.Refund) string {
	switch r.State {
	case payments.RefundAsked:
		return "asked: the server makes it when it runs"
	case payments.RefundFailed:
		return "failed: " + r.Code + "; the amount is back in the balance"
	}
	return "done: the provider gives it back"
}

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

func viewTopUp(t *payments.TopUp) topUpView {
	v := topUpView{ID: t.ID, State: string(t.State), Amount: t.Amount, Paid: t.Paid, Refunded: t.Refunded, Provider: t.Provider,
		Payment: t.Payment, Automatic: t.Automatic, CreatedAt: t.CreatedAt, SettledAt: t.SettledAt}
	if t.Demonstration() {
		v.Payment = ""
	}
	return v
}

func (v topUpView) show(w io.Writer) {
	note := ""
	if v.Refunded > 0 {
		note = fmt.Sprintf(", %s USD refunded", v.Refunded)
	}
	if v.Automatic {
		note += ", automatic"
	}
	if v.State == string(payments.TopUpSucceeded) && v.Payment == "" {
		note += ", came with the demonstration"
	}
	fmt.Fprintf(w, "%s\t%s\t%s USD\t%s%s\t%s\n", v.ID, command.Stamp(&v.CreatedAt), v.Amount, v.State, note, v.Payment)
}

func newAccountTopups() *cobra.Command {
	cmd := &cobra.Command{Use: "topups ACCOUNT_ID", Short: "List an account's payments, newest first",
		Long: "Lists the account's top-ups, newest first, those too that were begun and not paid: when, how much in US dollars, the state,\n" +
			"and the payment provider's name for the payment. Credit that an operator gave is not among them; that with which a demonstration\n" +
			"begins is one that nobody paid.",
		Example: "  parley admin account topups acc_… --json", Args: cobra.ExactArgs(1)}
	limit := cmd.Flags().Int("limit", 0, "how many at most; 0: all")
	return adminCommand(cmd, func(a *admin, args []string) error {
		if *limit < 0 {
			return fmt.Errorf("%w: --limit must not be negative", store.ErrInvalid)
		}
		newest := func(ctx context.Context, account string, _ store.Page) ([]payments.TopUp, error) {
			return payments.New(a.db).TopUps(ctx, account, store.Page{Limit: *limit})
		}
		return listOf(a, args[0], "topups", newest, viewTopUp, topUpView.show)
	})
}
