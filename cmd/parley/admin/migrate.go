package admin

import (
	"fmt"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/local"
	"parley/store"
	"parley/store/jobs"
)

func newMigrateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "migrate", Short: "Bring the database's schema up to date",
		Long: "Brings the schema up to the version that this program knows, in an empty database too, as every start of the server does. Servers\n" +
			"may be at work meanwhile, of this version and of the one before. The other commands leave the schema alone, and refuse one\n" +
			"that they do not know. It does not create a database: parley serve creates the one in the data directory.",
		Example: "  parley migrate\n  PARLEY_DATABASE_URL=postgres://owner@db/parley parley migrate --json", Args: cobra.NoArgs}
	local.ConfigFlag(cmd)
	return command.Interruptible(cmd, command.OneObject, func(j *command.Job, _ []string) error {
		return withDatabase(j.Ctx, j, func(d *database) error {
			known := store.SchemaVersion()
			if d.schema > known {
				return fits(d.schema)
			}
			if err := d.Migrate(j.Ctx); err != nil {
				return err
			}
			if err := jobs.Migrate(j.Ctx, d.url, d.log); err != nil {
				return err
			}
			return j.AnswerText(map[string]any{"schema": known, "schema_before": d.schema},
				fmt.Sprintf("The database has schema %d; it had %d.\n", known, d.schema))
		})
	})
}
