package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/api/manage"
	"parley/store"
	"parley/store/ledger"
)

func newAccountMembers() *cobra.Command {
	return adminCommand(&cobra.Command{Use: "members ACCOUNT_ID", Short: "List the people of an account",
		Long:    "Lists who signs in to an account, owners first, with when they did so last.",
		Example: "  parley account members acc_… --json", Args: cobra.ExactArgs(1)},
		func(a *admin, args []string) error {
			if _, err := ledger.New(a.db).Account(a.ctx, args[0]); err != nil { // else one that is unknown has nobody
				return err
			}
			list, err := a.people.Members(a.ctx, args[0], store.Page{})
			if err != nil {
				return err
			}
			people := manage.Members(list)
			return a.print(map[string]any{"members": people}, func(w io.Writer) {
				for _, m := range people {
					fmt.Fprintf(w, "%s\t%s\t%s\tsigned in %s\n", m.User, m.Email, m.Role, stamp(m.SignedInAt))
				}
			})
		})
}
