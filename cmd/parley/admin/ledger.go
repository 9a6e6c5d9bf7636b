package admin

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/store/ledger/verify"
)

func newLedgerCommand() *cobra.Command {
	return command.Group("ledger", "The books: verify",
		"Money is kept in a double-entry ledger to which is only ever added. This checks that it adds up.", "  parley admin ledger verify", newLedgerVerify())
}

var errViolated = errors.New("the ledger is not in order")

func newLedgerVerify() *cobra.Command {
	cmd := &cobra.Command{Use: "verify", Short: "Recompute every balance and check every invariant",
		Long: `Recomputes every balance from the ledger's entries, every closed session from its counters and rate card, compares the
counters with how long calls lasted and what their models took, and checks every invariant. It looks at what is new since an
account was last found in order, as servers do by themselves each night; --full looks at all history.
Exit status 1 and a report when anything differs, or something that was due is not done.`,
		Example: "  parley admin ledger verify --json\n  parley admin ledger verify --full", Args: cobra.NoArgs}
	full := cmd.Flags().Bool("full", false, "look at all history, not at what is new alone")
	return patientCommand(cmd, func(a *admin, _ []string) error {
		check := verify.Recent
		if *full {
			check = verify.Whole
		}
		report, err := check(a.Ctx, a.db)
		if err != nil {
			return err
		}
		found := each(report.Violations, (*verify.Violation).String)
		answer := map[string]any{"ok": report.OK(), "full": report.Whole, "accounts": report.Accounts, "sessions": report.Sessions,
			"transfers": report.Transfers, "violations": found}
		err = a.Answer(answer, func(w io.Writer) {
			for _, v := range found {
				fmt.Fprintln(w, v)
			}
			fmt.Fprintf(w, "%d accounts, %d sessions, %d transfers checked, %d violations\n",
				report.Accounts, report.Sessions, report.Transfers, len(found))
		})
		if err == nil && !report.OK() {
			err = errViolated
		}
		return err
	})
}
