package main

import (
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"parley/api/dashboard"
	"parley/cmd/parley/config"
	"parley/cmd/parley/node"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

func newAdminUserCommand() *cobra.Command {
	return group("admin", "People who sign in to the dashboard: create, reset, list, role, disable, enable, delete",
		"create and reset print a link with which the person chooses a password, once, within 30 minutes. Passwords are never typed here.",
		"  parley admin create ana@example.com", newAdminCreate(), newAdminReset(), newAdminList(), newAdminRole(),
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
func (a *admin) printLink(cmd *cobra.Command, u *people.User) error {
	cfg, _, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	token, err := a.people.NewSignInLink(a.ctx, u.ID)
	if err != nil {
		return err
	}
	v := viewUser(u)
	end := a.now.Add(people.SignInLinkLife)
	v.Link, v.ExpiresAt = a.baseURL(cfg)+dashboard.PasswordLink(token), &end
	return a.print(v, func(w io.Writer) {
		fmt.Fprintf(w, "user\t%s\t%s\nrole\t%s\nlink\t%s\n\t(opens once, until %s)\n", v.Email, v.ID, v.Role, v.Link, stamp(&end))
	})
}

// baseURL is where people reach the server: as the settings here say, else as the server says
// that runs with the same database. It may have been started on a port of its own.
func (a *admin) baseURL(cfg *config.Config) string {
	unset := func(s config.Shown) bool { return s.Key == "http_addr" && s.Source == "default" }
	if cfg.BaseURL == "" && slices.ContainsFunc(cfg.Shown(), unset) {
		addr, err := a.db.LiveAddr(a.ctx)
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
		Example: "  parley admin create ana@example.com\n  parley admin create luis@example.com --role member --account acc_…", Args: cobra.ExactArgs(1)}
	role := cmd.Flags().String("role", people.RoleOperator, "operator or member")
	account := cmd.Flags().String("account", "", "an account to own")
	return adminCommand(cmd, func(a *admin, args []string) error {
		if *account != "" {
			if _, err := ledger.New(a.db).Account(a.ctx, *account); err != nil {
				return err
			}
		}
		u, err := a.people.CreateUser(a.ctx, args[0], *role)
		if err != nil {
			return err
		}
		if *account != "" {
			if err := a.people.AddMember(a.ctx, *account, u.ID, people.RoleOwner); err != nil {
				return err
			}
		}
		return a.printLink(cmd, u)
	})
}

func newAdminReset() *cobra.Command {
	cmd := &cobra.Command{Use: "reset EMAIL", Short: "Print a link with which a user chooses another password",
		Long:    "The old password is good until the link is used; then all browsers that had signed in with it are signed out.",
		Example: "  parley admin reset ana@example.com", Args: cobra.ExactArgs(1)}
	return adminCommand(cmd, func(a *admin, args []string) error {
		u, _, err := a.people.UserByEmail(a.ctx, args[0])
		if err != nil {
			return err
		}
		return a.printLink(cmd, u)
	})
}

func newAdminList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List users", Long: "Lists all users of the server, the newest first.", Example: "  parley admin list --json", Args: cobra.NoArgs}
	return adminCommand(cmd, func(a *admin, _ []string) error {
		users, err := a.people.Users(a.ctx, store.Page{})
		if err != nil {
			return err
		}
		views := make([]userView, len(users))
		for i := range users {
			views[i] = viewUser(&users[i])
		}
		return a.print(map[string]any{"users": views}, func(w io.Writer) {
			for _, v := range views {
				state := "signed in " + stamp(v.SignedInAt)
				if v.DisabledAt != nil {
					state = "disabled " + stamp(v.DisabledAt)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.ID, v.Email, v.Role, state)
			}
		})
	})
}
