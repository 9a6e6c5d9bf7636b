package account

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newBalanceCommand() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "balance", Short: "Show the balance and what it is made of",
		Long: "Shows the prepaid balance of the account whose key is used, in US dollars rounded down to the cent; --json has all decimals.\n" +
			"What needs attention, such as a low balance or credit about to expire, is said on standard error.",
		Example: "  parley balance\n  parley balance --json | jq .balance", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		b, err := q.Balance(q.Ctx)
		if err != nil {
			return err
		}
		if !q.JSON {
			for _, w := range b.Warnings {
				fmt.Fprintf(q.ErrOrStderr(), "%s (%s%s)\n", w.Message, w.Kind, since(w.Since))
			}
		}
		return q.Answer(b, func(w io.Writer) { showBalance(w, b) })
	})
}

// since says from when on something is so.
func since(t *time.Time) string {
	if t == nil {
		return ""
	}
	return ", since " + command.Stamp(t)
}

func showBalance(w io.Writer, b *wire.Balance) {
	fmt.Fprintf(w, "balance\t%s USD\npaid\t%s USD\nbonus\t%s USD\n", server.Dollars(b.Balance), server.Dollars(b.Paid), server.Dollars(b.Bonus))
	for _, l := range b.BonusLots {
		fmt.Fprintf(w, "\t%s USD until %s\n", server.Dollars(l.Left), command.Stamp(&l.ExpiresAt))
	}
	if b.Accrued != 0 || b.Held != 0 {
		fmt.Fprintf(w, "in progress\t%s USD used, %s USD held\n", b.Accrued, b.Held)
	}
	fmt.Fprintf(w, "sessions\t%d of %d at once\nfirst top-up\t%s\n", b.Concurrency.Live, b.Concurrency.Limit, command.Stamp(b.FirstTopupAt))
}
