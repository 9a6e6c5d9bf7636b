// Package admin has the commands that work on a server's database, whether the server runs or not, and those that
// try agents and calls without one.
package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/billing"
	"parley/cmd/parley/command"
	"parley/cmd/parley/local"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

// Commands are the commands of this package. version is that of the program, which backups name.
func Commands(version string) []*cobra.Command {
	ledger := newLedgerCommand() // under the name that it had: timers call it
	ledger.Hidden = true
	return []*cobra.Command{newAdminCommand(), ledger, newMigrateCommand(), newNodesCommand(), newDrainCommand(), newBackupCommand(version), newRestoreCommand(), newReplayCommand(), newSimulateCommand()}
}

// newAdminCommand is what an operator does on the server's own machine.
func newAdminCommand() *cobra.Command {
	g := command.Group("admin", "Accounts of a server, by its database: account, user, key, agent, number, do-not-call, ledger",
		"These commands work on the database of the server whose settings they find, whether it runs or not, and for any account of it. What\n"+
			"an account does for itself goes over HTTP with a key of its own, without admin.",
		"  parley admin account create --name 'Casa Lola'\n  parley admin user create ana@example.com",
		newAccountCommand(), newUserCommand(), newKeyCommand(), newAgentCommand(), newNumberCommand(), newDoNotCallCommand(), newLedgerCommand())
	for _, c := range newUserCommand().Commands() { // under the names that they had
		c.Hidden = true
		g.AddCommand(c)
	}
	return g
}

// Spelled is a command line in which admin may be left out, where no command of an account with its key is meant:
// parley account create, or parley agent list --account. Scripts and timers may leave it out.
func Spelled(root *cobra.Command, args []string) []string {
	if len(args) < 2 {
		return args
	}
	here, _, err := newAdminCommand().Find(args[:2])
	if err != nil || here.CommandPath() != "admin "+args[0]+" "+args[1] {
		return args
	}
	there, _, err := root.Find(args[:2])
	known := err == nil && there.Name() == args[1]
	operator := func(arg string) bool {
		flag, _, _ := strings.Cut(arg, "=")
		return flag == "--account" || flag == "--operator"
	}
	if known && !slices.ContainsFunc(args[2:], operator) {
		return args
	}
	return append([]string{"admin"}, args...)
}

// admin is an administration command at work: it has the server's database, whether the server
// runs or not.
type admin struct {
	*command.Job
	db     *store.DB
	ledger *ledger.Ledger
	people *people.Store
}

// adminCommand makes c an administration command. It reads the settings as serve
// does, so it finds the same database.
func adminCommand(c *cobra.Command, run func(a *admin, args []string) error) *cobra.Command {
	return patientCommand(c, func(a *admin, args []string) error {
		ctx, cancel := context.WithTimeout(a.Ctx, timeout)
		defer cancel()
		a.Ctx = ctx
		return run(a, args)
	})
}

// accountCommand makes c an administration command on something of the account that --account names.
func accountCommand(c *cobra.Command, run func(a *admin, account string, args []string) error) *cobra.Command {
	account := c.Flags().String("account", "", "the account's identifier")
	_ = c.MarkFlagRequired("account")
	return adminCommand(c, func(a *admin, args []string) error { return run(a, *account, args) })
}

// patientCommand is an administration command that takes as long as it takes.
func patientCommand(c *cobra.Command, run func(a *admin, args []string) error) *cobra.Command {
	local.ConfigFlag(c)
	return command.Runs(c, command.OneObject, func(j *command.Job, args []string) error {
		return withStore(j, func(db *store.DB) error {
			err := run(&admin{j, db, ledger.New(db), people.New(db)}, args)
			if errors.Is(err, store.ErrNotFound) {
				err = fmt.Errorf("%s: %w", strings.Join(append([]string{j.Parent().Name()}, args...), " "), err)
			}
			return err
		})
	})
}

// listed answers with all that a store found: as JSON under a name, or a line each for a person.
func listed[T, V any](a *admin, name string, view func(*T) V, line func(V, io.Writer)) func([]T, error) error {
	return func(found []T, err error) error {
		if err != nil {
			return err
		}
		views := each(found, view)
		return a.Answer(map[string]any{name: views}, func(w io.Writer) {
			for _, v := range views {
				line(v, w)
			}
		})
	}
}

// each views all that was found.
func each[T, V any](found []T, view func(*T) V) []V {
	views := make([]V, len(found))
	for i := range found {
		views[i] = view(&found[i])
	}
	return views
}

// listOf is listed for what an account has; store.ErrNotFound when there is no such account.
func listOf[T, V any](a *admin, account, name string, find func(ctx context.Context, account string, p store.Page) ([]T, error), view func(*T) V, line func(V, io.Writer)) error {
	if _, err := a.ledger.Account(a.Ctx, account); err != nil {
		return err
	}
	return listed(a, name, view, line)(find(a.Ctx, account, store.Page{}))
}

// view is an answer that shows itself to a person.
type view interface{ show(w io.Writer) }

func (a *admin) show(v view) error { return a.Answer(v, v.show) }

// shown answers with what a store returned.
func shown[T any, V view](a *admin, of func(T) V) func(T, error) error {
	return func(found T, err error) error {
		if err != nil {
			return err
		}
		return a.show(of(found))
	}
}

// did answers with what has happened to a thing, such as "deleted" to an identifier, unless err says that it has not.
func (a *admin) did(key, thing, what string, err error) error {
	if err != nil {
		return err
	}
	return a.Answer(map[string]any{key: thing, what: true}, func(w io.Writer) { fmt.Fprintf(w, "%s\t%s\n", what, thing) })
}

// card is the rate card to give a new account its welcome by: the one in force. Only
// where no server has been yet, it is the configured one.
func (a *admin) card() (*billing.RateCard, error) {
	err := a.db.FollowRateCard(a.Ctx)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return a.db.RateCard(), err
	}
	cfg, _, err := local.Config(a.Command)
	if err != nil {
		return nil, err
	}
	card, err := billing.ReadRateCard(cfg.RateCard)
	if err != nil {
		return nil, err
	}
	return card, a.db.PutRateCard(a.Ctx, card)
}

// ExitStatus is the exit status for what the store refuses, 0 for other errors.
func ExitStatus(err error) int {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return command.ExitNotFound
	case errors.Is(err, store.ErrInvalid):
		return command.ExitUsage
	case errors.Is(err, store.ErrInsufficientBalance), errors.Is(err, store.ErrTopupRequired),
		errors.Is(err, store.ErrDisputed), errors.Is(err, store.ErrSuspended), errors.Is(err, store.ErrSpending):
		return command.ExitRefused
	}
	return command.ExitDone
}
