package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	rest "parley/api/client"
	"parley/api/wsagent/client"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

// adminTimeout bounds an administration command: people wait for it.
const adminTimeout = time.Minute

// admin is an administration command at work: it has the server's database, whether the server
// runs or not.
type admin struct {
	*job
	db     *store.DB
	ledger *ledger.Ledger
	people *people.Store
	now    time.Time
}

// adminCommand makes c an administration command. It reads the settings as serve
// does, so it finds the same database.
func adminCommand(c *cobra.Command, run func(a *admin, args []string) error) *cobra.Command {
	return patientCommand(c, func(a *admin, args []string) error {
		ctx, cancel := context.WithTimeout(a.ctx, adminTimeout)
		defer cancel()
		a.ctx = ctx
		return run(a, args)
	})
}

// patientCommand is an administration command that takes as long as it takes.
func patientCommand(c *cobra.Command, run func(a *admin, args []string) error) *cobra.Command {
	configFlag(c)
	return runs(c, oneObject, func(j *job, args []string) error {
		return j.withStore(func(db *store.DB) error {
			err := run(&admin{j, db, ledger.New(db), people.New(db), db.Now()}, args)
			if errors.Is(err, store.ErrNotFound) {
				err = fmt.Errorf("%s: %w", strings.Join(append([]string{j.Parent().Name()}, args...), " "), err)
			}
			return err
		})
	})
}

// withStore opens the database of the settings for as long as use takes.
func (j *job) withStore(use func(db *store.DB) error) error {
	cfg, _, err := loadConfig(j.Command)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(j.ctx, adminTimeout)
	defer cancel()
	db, closeDB, err := openStore(ctx, cfg, newLogger(j.ErrOrStderr(), cfg))
	if err != nil {
		return err
	}
	defer closeDB()
	return use(db)
}

// openStore connects to the database of the settings, which must be there and have the
// schema that this program knows.
func openStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (*store.DB, func(), error) {
	url, stop, err := findDatabase(ctx, cfg, log)
	if err != nil {
		return nil, nil, err
	}
	db, err := store.Open(ctx, url)
	if err != nil {
		stop()
		return nil, nil, err
	}
	closeDB := func() { db.Close(); _ = stop() }
	is, err := db.Schema(ctx)
	if err == nil {
		err = fits(is)
	}
	if err != nil {
		closeDB()
		return nil, nil, err
	}
	db.LimitRecharges(billing.Money(cfg.RechargeMax) * billing.USD) // for what changes a balance
	return db, closeDB, nil
}

// fits says what to do about a schema that is not the one this program knows. Servers of
// another version may work on it, so a command does not change it.
func fits(is int64) error {
	switch known := store.SchemaVersion(); {
	case is == 0:
		return errors.New("the database has no accounts yet: parley migrate prepares it, or the first parley serve")
	case is < known:
		return fmt.Errorf("the database has schema %d and this program knows %d: parley migrate brings it up to date, while servers are at work", is, known)
	case is > known:
		return fmt.Errorf("the database has schema %d and this program knows %d: use the program of a newer server (parley version)", is, known)
	}
	return nil
}

// list answers with what was found: as JSON under a name, or a line each for a person.
func list[T, V any](a *admin, name string, found []T, view func(*T) V, line func(V, io.Writer)) error {
	views := make([]V, len(found))
	for i := range found {
		views[i] = view(&found[i])
	}
	return a.print(map[string]any{name: views}, func(w io.Writer) {
		for _, v := range views {
			line(v, w)
		}
	})
}

// listOf is list for what an account has; store.ErrNotFound when there is no such account.
func listOf[T, V any](a *admin, account, name string, find func(ctx context.Context, account string, p store.Page) ([]T, error), view func(*T) V, line func(V, io.Writer)) error {
	if _, err := a.ledger.Account(a.ctx, account); err != nil {
		return err
	}
	found, err := find(a.ctx, account, store.Page{})
	if err != nil {
		return err
	}
	return list(a, name, found, view, line)
}

// did answers with what has happened to a thing, such as "deleted" to an identifier.
func (j *job) did(key, thing, what string) error {
	return j.print(map[string]any{key: thing, what: true}, func(w io.Writer) { fmt.Fprintf(w, "%s\t%s\n", what, thing) })
}

// card is the rate card to give a new account its welcome by: the one in force. Only
// where no server has been yet, it is the configured one.
func (a *admin) card() (*billing.RateCard, error) {
	err := a.db.FollowRateCard(a.ctx, a.now)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return a.db.RateCard(), err
	}
	cfg, _, err := loadConfig(a.Command)
	if err != nil {
		return nil, err
	}
	card, err := billing.ReadRateCard(cfg.RateCard)
	if err != nil {
		return nil, err
	}
	return card, a.db.PutRateCard(a.ctx, card, a.now)
}

// exitStatus is the process's exit status for a command that failed.
func exitStatus(err error) int {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return exitNotFound
	case errors.Is(err, store.ErrInvalid):
		return exitUsage
	case errors.Is(err, store.ErrInsufficientBalance), errors.Is(err, store.ErrTopupRequired),
		errors.Is(err, store.ErrDisputed), errors.Is(err, store.ErrSuspended), errors.Is(err, store.ErrSpending):
		return exitRefused
	}
	if e, ok := errors.AsType[*endError](err); ok {
		return answerStatus(0, e.code)
	}
	if e, ok := errors.AsType[*client.Refused](err); ok {
		return answerStatus(e.Status, e.Code)
	}
	if e, ok := errors.AsType[*rest.Error](err); ok {
		return answerStatus(e.Status, e.Code)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// answerStatus is the same for what a server answered: the status of HTTP, 0 on a
// socket, and the code.
func answerStatus(status int, code string) int {
	switch family, what, _ := strings.Cut(code, "."); {
	case status == http.StatusPaymentRequired, status == http.StatusForbidden, status == http.StatusTooManyRequests,
		family == "billing", family == "limit", code == "tts.session_limit_reached", code == "auth.rate_limited",
		code == "callcenter.consent_required", code == "callcenter.destination_not_allowed",
		code == "callcenter.do_not_call":
		return exitRefused
	case status == http.StatusNotFound, what == "not_found":
		return exitNotFound
	}
	return exitFailed
}

// stamp shows a moment to a person; "never" when there is none.
func stamp(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Local().Format(time.DateTime)
}

// word shows an optional text; "none" when there is none.
func word(s *string) string {
	if s == nil || strings.TrimSpace(*s) == "" {
		return "none"
	}
	return *s
}
