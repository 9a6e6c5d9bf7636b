package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"parley/billing"
	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/cmd/parley/local"
	"parley/store"
	"parley/store/private"
)

// timeout bounds an administration command: people wait for it.
const timeout = time.Minute

// errNoDatabase: the data directory holds no database.
var errNoDatabase = errors.New("no database")

// database is one that a command has opened.
type database struct {
	*store.DB
	url    string
	schema int64 // that it has
	log    *slog.Logger
}

// withDatabase opens the database of the settings for as long as use takes. It must be there.
// ctx bounds the opening.
func withDatabase(ctx context.Context, j *command.Job, use func(d *database) error) error {
	cfg, _, err := local.Config(j.Command)
	if err != nil {
		return err
	}
	d := &database{log: local.Logger(j.ErrOrStderr(), cfg)}
	var stop func() error
	if d.url, stop, err = findDatabase(ctx, cfg, d.log); err != nil {
		return err
	}
	defer stop()
	if d.DB, err = store.Open(ctx, d.url); err != nil {
		return err
	}
	defer d.Close()
	if d.schema, err = d.Schema(ctx); err != nil {
		return err
	}
	d.LimitRecharges(billing.Money(cfg.RechargeMax) * billing.USD) // for what changes a balance
	return use(d)
}

// withStore opens the database of the settings, which must have the schema that this program knows.
func withStore(j *command.Job, use func(db *store.DB) error) error {
	ctx, cancel := context.WithTimeout(j.Ctx, timeout)
	defer cancel()
	return withDatabase(ctx, j, func(d *database) error {
		if err := fits(d.schema); err != nil {
			return err
		}
		return use(d.DB)
	})
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

// findDatabase returns the address of the database of the settings: the configured one, a
// running server's, or the private one, started until stop. It creates none: a command in
// a wrong directory would write where no server looks.
func findDatabase(ctx context.Context, cfg *config.Config, log *slog.Logger) (url string, stop func() error, err error) {
	none := func() error { return nil }
	if cfg.DatabaseURL != "" {
		return cfg.DatabaseURL, none, nil
	}
	dataDir, _ := local.DataDir(cfg)
	dir := private.Dir(dataDir)
	if url, err = private.Locate(dir); err == nil {
		return url, none, nil
	}
	there, lookErr := private.Exists(dir)
	if errors.Is(err, fs.ErrPermission) || lookErr != nil {
		return "", nil, fmt.Errorf("%s is not ours to read: run this as the account that runs the server, or as root", dir)
	}
	if !there {
		return "", nil, fmt.Errorf("%s has %w: PARLEY_DATA_DIR or PARLEY_DATABASE_URL says where one is, parley serve creates one", dataDir, errNoDatabase)
	}
	cluster, err := private.Start(ctx, private.Options{Dir: dir, Log: log})
	if err != nil {
		return "", nil, local.Advise(err)
	}
	return cluster.URL(), cluster.Stop, nil
}
