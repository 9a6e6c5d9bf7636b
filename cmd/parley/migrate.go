package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"parley/store"
	"parley/store/jobs"
)

func newMigrateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "migrate", Short: "Bring the database's schema up to date",
		Long: "Brings the schema up to the version that this program knows, in an empty database too, as every start of the server does. Servers\n" +
			"may be at work meanwhile, of this version and of the one before. The other commands leave the schema alone, and refuse one\n" +
			"that they do not know. It does not create a database: parley serve creates the one in the data directory.",
		Example: "  parley migrate\n  PARLEY_DATABASE_URL=postgres://owner@db/parley parley migrate --json", Args: cobra.NoArgs}
	configFlag(cmd)
	return interruptible(cmd, oneObject, func(j *job, _ []string) error {
		cfg, _, err := loadConfig(j.Command)
		if err != nil {
			return err
		}
		log := newLogger(j.ErrOrStderr(), cfg)
		url, stopDB, err := findDatabase(j.ctx, cfg, log)
		if err != nil {
			return err
		}
		defer stopDB()
		db, err := store.Open(j.ctx, url)
		if err != nil {
			return err
		}
		defer db.Close()
		before, err := db.Schema(j.ctx)
		if err != nil {
			return err
		}
		if before > store.SchemaVersion() {
			return fits(before)
		}
		if err := db.Migrate(j.ctx); err != nil {
			return err
		}
		if err := jobs.Migrate(j.ctx, url, log); err != nil {
			return err
		}
		known := store.SchemaVersion()
		return j.printText(map[string]any{"schema": known, "schema_before": before},
			fmt.Sprintf("The database has schema %d; it had %d.\n", known, before))
	})
}
