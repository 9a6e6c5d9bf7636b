package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newLedgerCommand() *cobra.Command {
	return group("ledger", "The books: verify",
		"Money is kept in a double-entry ledger to which is only ever added. This checks that it adds up.", "  parley ledger verify", newLedgerVerify())
}

var errViolated = errors.New("the ledger is not in order")

func newLedgerVerify() *cobra.Command {
	return adminCommand(&cobra.Command{Use: "verify", Short: "Recompute every balance and check every invariant",
		Long:    "Recomputes every balance from the ledger's entries, every closed session from its counters and rate card,\nand checks every invariant. Exit status 1 and a report when anything differs.",
		Example: "  parley ledger verify --json", Args: cobra.NoArgs},
		func(a *admin, _ []string) error {
			report, err := a.db.Verify(a.ctx)
			if err != nil {
				return err
			}
			found := make([]string, len(report.Violations))
			for i, v := range report.Violations {
				found[i] = v.String()
			}
			answer := map[string]any{"ok": report.OK(), "accounts": report.Accounts, "sessions": report.Sessions,
				"transfers": report.Transfers, "violations": found}
			err = a.print(answer, func(w io.Writer) {
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
