package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/store/people"
)

func newAdminRole() *cobra.Command {
	cmd := &cobra.Command{Use: "role EMAIL operator|member", Short: "Make a user an operator, or no longer; with --account: owner or member of it",
		Long: "An operator sees all accounts of the server; a member only those that they belong to. It counts from their next request on, and an\n" +
			"operator's keys are good for as long as their user is one. With --account it changes, or gives, the user's role in that account:\n" +
			"owner or member. The last owner of an account stays one.",
		Example: "  parley admin role ana@example.com member\n  parley admin role luis@example.com owner --account acc_…", Args: cobra.ExactArgs(2)}
	account := cmd.Flags().String("account", "", "an account in which the role counts")
	return userCommand(cmd, func(a *admin, u *people.User, args []string) error {
		if *account == "" {
			if err := a.people.ChangeRole(a.ctx, u.ID, args[1]); err != nil {
				return err
			}
			return a.printUser(u.ID)
		}
		if err := a.people.SetMember(a.ctx, *account, u.ID, args[1]); err != nil {
			return err
		}
		return a.print(map[string]any{"account_id": *account, "user_id": u.ID, "role": args[1]}, func(w io.Writer) {
			fmt.Fprintf(w, "user\t%s\naccount\t%s\nrole\t%s\n", u.Email, *account, args[1])
		})
	})
}

func newAdminDisable() *cobra.Command {
	cmd := &cobra.Command{Use: "disable EMAIL", Short: "Keep a user from signing in",
		Long: "Ends the user's sign-ins, links and invitations at once, and stops their operator's keys, until they are enabled again. Keys of\n" +
			"accounts that they made, also by a key of theirs, are listed; they stay good unless --revoke-keys ends them.",
		Example: "  parley admin disable luis@example.com --revoke-keys", Args: cobra.ExactArgs(1)}
	return leavingCommand(cmd, "disabled", (*people.Store).DisableUser)
}

func newAdminDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete EMAIL", Short: "Delete a user, with their sign-ins, operator's keys and memberships",
		Long: "Deletes the user for good. The last owner of an account that has other people cannot go: make somebody else its owner first. Keys\n" +
			"of accounts that they made, also by a key of theirs, are listed; they stay good unless --revoke-keys ends them.",
		Example: "  parley admin delete luis@example.com", Args: cobra.ExactArgs(1)}
	return leavingCommand(cmd, "deleted", (*people.Store).DeleteUser)
}

func newAdminEnable() *cobra.Command {
	cmd := &cobra.Command{Use: "enable EMAIL", Short: "Let a disabled user sign in again", Long: "The password that they had is good again; keys that were revoked are not.",
		Example: "  parley admin enable luis@example.com", Args: cobra.ExactArgs(1)}
	return userCommand(cmd, func(a *admin, u *people.User, _ []string) error {
		if err := a.people.EnableUser(a.ctx, u.ID); err != nil {
			return err
		}
		return a.printUser(u.ID)
	})
}

// userCommand makes cmd an administration command about the user whose address is its
// first argument.
func userCommand(cmd *cobra.Command, run func(a *admin, u *people.User, args []string) error) *cobra.Command {
	return adminCommand(cmd, func(a *admin, args []string) error {
		u, _, err := a.people.UserByEmail(a.ctx, args[0])
		if err != nil {
			return err
		}
		return run(a, u, args)
	})
}

// printUser answers with a user as they are now.
func (a *admin) printUser(id string) error {
	u, err := a.people.User(a.ctx, id)
	if err != nil {
		return err
	}
	return a.print(viewUser(u), func(w io.Writer) {
		fmt.Fprintf(w, "user\t%s\t%s\nrole\t%s\n", u.Email, u.ID, u.Role)
		if u.DisabledAt != nil {
			fmt.Fprintf(w, "disabled\t%s\n", stamp(u.DisabledAt))
		}
	})
}

// leave takes a user's access away and returns the keys of accounts that they made.
type leave = func(p *people.Store, ctx context.Context, user string, endKeys bool) ([]people.Key, error)

// leavingCommand makes cmd a command after which a user has no access, and that lists the
// keys that they leave behind.
func leavingCommand(cmd *cobra.Command, done string, leave leave) *cobra.Command {
	end := cmd.Flags().Bool("revoke-keys", false, "end the keys of accounts that they made")
	return userCommand(cmd, func(a *admin, u *people.User, _ []string) error {
		keys, err := leave(a.people, a.ctx, u.ID, *end)
		if err != nil {
			return err
		}
		views := make([]keyView, len(keys))
		for i, k := range keys {
			views[i] = viewKey(k)
		}
		return a.print(map[string]any{"user_id": u.ID, "email": u.Email, "state": done, "keys": views}, func(w io.Writer) {
			fmt.Fprintf(w, "%s\t%s\t%s\n", done, u.Email, u.ID)
			for _, v := range views {
				state := "stays good"
				if v.RevokedAt != nil {
					state = "revoked"
				}
				fmt.Fprintf(w, "key\t%s\t%s\t%s\t%s\n", v.ID, v.Name, v.rights(), state)
			}
		})
	})
}
