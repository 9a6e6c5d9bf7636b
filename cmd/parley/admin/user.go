package admin

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"parley/api/dashboard"
	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/cmd/parley/local"
	"parley/cmd/parley/node"
	"parley/store"
	"parley/store/people"
)

func newUserCommand() *cobra.Command {
	return command.Group("user", "People who sign in to the dashboard: create, reset, list, role, disable, enable, delete",
		"create and reset print a link with which the person chooses a password, once, within 30 minutes. Passwords are never typed here.",
		"  parley admin user create ana@example.com", newAdminCreate(), newAdminReset(), newAdminList(), newAdminRole(),
		newAdminDisable(), newAdminEnable(), newAdminDelete())
}

// userView is a user as commands print it.
type userView struct {
	ID         string     `json:"user_id"`
	Email      string     `json:"email"`
	Role       string     `json:"role"`
	CreatedAt  time.Time  `json:"created_at"`
	SignedInAt *time.Time `json:"signed_in_at"`
	DisabledAt *time.Time `json:"disabled_at"`
	Link       string     `json:"link,omitempty"` // opens once
	ExpiresAt  *time.Time `json:"link_expires_at,omitempty"`
}

func viewUser(u *people.User) userView {
	return userView{ID: u.ID, Email: u.Email, Role: u.Role, CreatedAt: u.CreatedAt, SignedInAt: u.SignedInAt, DisabledAt: u.DisabledAt}
}

// printLink makes a link for a user and prints it.
func (a *admin) printLink(u *people.User) error {
	cfg, _, err := local.Config(a.Command)
	if err != nil {
		return err
	}
	token, err := a.people.NewSignInLink(a.Ctx, u.ID)
	if err != nil {
		return err
	}
	v := viewUser(u)
	end := a.db.Now().Add(people.SignInLinkLife)
	v.Link, v.ExpiresAt = a.baseURL(cfg)+dashboard.PasswordLink(token), &end
	return a.Answer(v, func(w io.Writer) {
		fmt.Fprintf(w, "user\t%s\t%s\nrole\t%s\nlink\t%s\n\t(opens once, until %s)\n", v.Email, v.ID, v.Role, v.Link, command.Stamp(&end))
	})
}

// baseURL is where people reach the server: as the settings here say, else as the server says
// that runs with the same database. It may have been started on a port of its own.
func (a *admin) baseURL(cfg *config.Config) string {
	unset := func(s config.Shown) bool { return s.Key == "http_addr" && s.Source == "default" }
	if cfg.BaseURL == "" && slices.ContainsFunc(cfg.Shown(), unset) {
		addr, err := a.db.LiveAddr(a.Ctx)
		if _, port, wrong := net.SplitHostPort(addr); err == nil && wrong == nil && port != "0" {
			there := *cfg
			there.HTTPAddr = addr
			return node.BaseURL(&there)
		}
	}
	return node.BaseURL(cfg)
}

func newAdminCreate() *cobra.Command {
	cmd := &cobra.Command{Use: "create EMAIL", Short: "Let somebody sign in; prints a link to choose a password",
		Long: "Makes a user and prints a link with which they choose a password. An operator sees all accounts of the server; with --role member\n" +
			"the user sees only those that they belong to. With --account they own that account.",
		Example: "  parley admin user create ana@example.com\n  parley admin user create luis@example.com --role member --account acc_…", Args: cobra.ExactArgs(1)}
	role := cmd.Flags().String("role", people.RoleOperator, "operator or member")
	account := cmd.Flags().String("account", "", "an account to own")
	return adminCommand(cmd, func(a *admin, args []string) error {
		if *account != "" {
			if _, err := a.ledger.Account(a.Ctx, *account); err != nil {
				return err
			}
		}
		u, err := a.people.CreateUser(a.Ctx, args[0], *role)
		if err != nil {
			return err
		}
		if *account != "" {
			if err := a.people.AddMember(a.Ctx, *account, u.ID, people.RoleOwner); err != nil {
				return err
			}
		}
		return a.printLink(u)
	})
}

func newAdminReset() *cobra.Command {
	cmd := &cobra.Command{Use: "reset EMAIL", Short: "Print a link with which a user chooses another password",
		Long:    "The old password is good until the link is used; then all browsers that had signed in with it are signed out.",
		Example: "  parley admin user reset ana@example.com", Args: cobra.ExactArgs(1)}
	return userCommand(cmd, func(a *admin, u *people.User, _ []string) error { return a.printLink(u) })
}

func newAdminList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List users", Long: "Lists all users of the server, the newest first.", Example: "  parley admin user list --json", Args: cobra.NoArgs}
	line := func(v userView, w io.Writer) {
		state := "signed in " + command.Stamp(v.SignedInAt)
		if v.DisabledAt != nil {
			state = "disabled " + command.Stamp(v.DisabledAt)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.ID, v.Email, v.Role, state)
	}
	return adminCommand(cmd, func(a *admin, _ []string) error {
		return listed(a, "users", viewUser, line)(a.people.Users(a.Ctx, store.Page{}))
	})
}

func newAdminRole() *cobra.Command {
	cmd := &cobra.Command{Use: "role EMAIL operator|member", Short: "Make a user an operator, or no longer; with --account: owner or member of it",
		Long: "An operator sees all accounts of the server; a member only those that they belong to. It counts from their next request on, and an\n" +
			"operator's keys are good for as long as their user is one. With --account it changes, or gives, the user's role in that account:\n" +
			"owner or member. The last owner of an account stays one.",
		Example: "  parley admin user role ana@example.com member\n  parley admin user role luis@example.com owner --account acc_…", Args: cobra.ExactArgs(2)}
	account := cmd.Flags().String("account", "", "an account in which the role counts")
	return userCommand(cmd, func(a *admin, u *people.User, args []string) error {
		if *account == "" {
			if err := a.people.ChangeRole(a.Ctx, u.ID, args[1]); err != nil {
				return err
			}
			return a.printUser(u.ID)
		}
		if err := a.people.SetMember(a.Ctx, *account, u.ID, args[1]); err != nil {
			return err
		}
		return a.Answer(map[string]any{"account_id": *account, "user_id": u.ID, "role": args[1]}, func(w io.Writer) {
			fmt.Fprintf(w, "user\t%s\naccount\t%s\nrole\t%s\n", u.Email, *account, args[1])
		})
	})
}

func newAdminDisable() *cobra.Command {
	cmd := &cobra.Command{Use: "disable EMAIL", Short: "Keep a user from signing in",
		Long: "Ends the user's sign-ins, links and invitations at once, and stops their operator's keys, until they are enabled again. Keys of\n" +
			"accounts that they made, also by a key of theirs, are listed; they stay good unless --revoke-keys ends them.",
		Example: "  parley admin user disable luis@example.com --revoke-keys", Args: cobra.ExactArgs(1)}
	return leavingCommand(cmd, "disabled", (*people.Store).DisableUser)
}

func newAdminDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete EMAIL", Short: "Delete a user, with their sign-ins, operator's keys and memberships",
		Long: "Deletes the user for good. The last owner of an account that has other people cannot go: make somebody else its owner first. Keys\n" +
			"of accounts that they made, also by a key of theirs, are listed; they stay good unless --revoke-keys ends them.",
		Example: "  parley admin user delete luis@example.com", Args: cobra.ExactArgs(1)}
	return leavingCommand(cmd, "deleted", (*people.Store).DeleteUser)
}

func newAdminEnable() *cobra.Command {
	cmd := &cobra.Command{Use: "enable EMAIL", Short: "Let a disabled user sign in again", Long: "The password that they had is good again; keys that were revoked are not.",
		Example: "  parley admin user enable luis@example.com", Args: cobra.ExactArgs(1)}
	return userCommand(cmd, func(a *admin, u *people.User, _ []string) error {
		if err := a.people.EnableUser(a.Ctx, u.ID); err != nil {
			return err
		}
		return a.printUser(u.ID)
	})
}

// userCommand makes cmd an administration command about the user whose address is its
// first argument.
func userCommand(cmd *cobra.Command, run func(a *admin, u *people.User, args []string) error) *cobra.Command {
	return adminCommand(cmd, func(a *admin, args []string) error {
		u, _, err := a.people.UserByEmail(a.Ctx, args[0])
		if err != nil {
			return err
		}
		return run(a, u, args)
	})
}

// printUser answers with a user as they are now.
func (a *admin) printUser(id string) error {
	u, err := a.people.User(a.Ctx, id)
	if err != nil {
		return err
	}
	return a.Answer(viewUser(u), func(w io.Writer) {
		fmt.Fprintf(w, "user\t%s\t%s\nrole\t%s\n", u.Email, u.ID, u.Role)
		if u.DisabledAt != nil {
			fmt.Fprintf(w, "disabled\t%s\n", command.Stamp(u.DisabledAt))
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
		keys, err := leave(a.people, a.Ctx, u.ID, *end)
		if err != nil {
			return err
		}
		views := each(keys, viewKey)
		return a.Answer(map[string]any{"user_id": u.ID, "email": u.Email, "state": done, "keys": views}, func(w io.Writer) {
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
