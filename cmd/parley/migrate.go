package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"parley/store"
	"parley/store/jobs"
)

func newMigrateCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "migrate", Short: "Bring the database's schema up to date",
		Long: "Brings the schema up to the version that this program knows, in an empty database too, as every start of the server does. Servers\n" +
			"may be at work meanwhile, of this version and of the one before. The other commands leave the schema alone, and refuse one\n" +
			"that they do not know. It does not create a database: parley serve creates the one in the data directory.",
		Example: "  parley migrate\n  PARLEY_DATABASE_URL=postgres://owner@db/parley parley migrate --json", Args: cobra.NoArgs}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := interruptible(cmd)
		defer stop()
		cfg, _, err := loadConfig(cmd)
		if err != nil {
			return err
		}
		log := newLogger(cmd.ErrOrStderr(), cfg)
		url, stopDB, err := findDatabase(ctx, cfg, log)
		if err != nil {
			return err
		}
		defer stopDB()
		db, err := store.Open(ctx, url)
		if err != nil {
			return err
		}
		defer db.Close()
		before, err := db.Schema(ctx)
		if err != nil {
			return err
		}
		if before > store.SchemaVersion() {
			return fits(before)
		}
		if err := db.Migrate(ctx); err != nil {
			return err
		}
		if err := jobs.Migrate(ctx, url, log); err != nil {
			return err
		}
		known := store.SchemaVersion()
		if asJSON {
			return result(cmd, true, map[string]any{"schema": known, "schema_before": before})
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "The database has schema %d; it had %d.\n", known, before)
		return err
	}
	cmd.Flags().String("config", "", "YAML file with settings (PARLEY_CONFIG)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
