package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/cmd/parley/local"
	"parley/store/backup"
	"parley/store/private"
)

func newBackupCommand(version string) *cobra.Command {
	c := &cobra.Command{Use: "backup DIR", Short: "Copy everything the server keeps into a directory",
		Long: "Copies the database as one consistent snapshot, the master secret, the results of tasks and the configured rate card into\n" +
			"DIR, which must be new or empty, with a manifest that has a checksum of each file. The server may run; calls go on. When\n" +
			"it does not run, its private database is started for as long as this takes, with the programs of its own version. DIR\n" +
			"appears when it is complete. Recordings of calls are not in it: copy recordings in the data directory, or\n" +
			"PARLEY_RECORDINGS_DIR, with what copies files.\n\n" +
			"Anyone who has the master secret can read stored secrets and make tickets: keep the backup as safe as the server, or leave\n" +
			"it out by --without-secret and keep it elsewhere. A secret set by PARLEY_SECRET is never in the backup.",
		Example: "  parley backup /srv/backups/parley-2026-11-20\n  parley backup --without-secret --json /mnt/usb/parley"}
	withoutSecret := c.Flags().Bool("without-secret", false, "leave out the master secret and the demonstration's key")
	return copyCommand(c, func(j *copying) error { return j.backup(version, *withoutSecret) })
}

// copying is one backup or restore.
type copying struct {
	*command.Job
	cfg *config.Config
	log *slog.Logger
	dir string // of the backup
}

// copyCommand makes c a command that copies to or from the directory of its
// argument. Ctrl-C ends it in good order, a second one at once.
func copyCommand(c *cobra.Command, run func(j *copying) error) *cobra.Command {
	local.ConfigFlag(c)
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return command.Runs(c, "print one JSON object, and progress as JSON lines on standard error", func(j *command.Job, args []string) error {
		cfg, _, err := local.Config(j.Command)
		if err != nil {
			return err
		}
		dir, err := filepath.Abs(args[0])
		if err != nil {
			return err
		}
		ctx, stop := command.CtrlC(j.Command)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		j.Ctx = ctx
		return run(&copying{j, cfg, local.Logger(j.ErrOrStderr(), cfg), dir})
	})
}

// progress shows the library's steps; end takes a bar away.
func (j *copying) progress() (tell backup.Progress, end func()) {
	p := command.NewProgress(j.Command, j.JSON)
	return p.Step, p.End
}

func (j *copying) backup(version string, withoutSecret bool) (err error) {
	dataDir, _ := local.DataDir(j.cfg)
	src := backup.Source{DataDir: dataDir, Secret: backup.SecretIncluded, RateCard: j.cfg.RateCard, Program: version, Now: time.Now()}
	switch {
	case withoutSecret:
		src.Secret = backup.SecretLeftOut
	case j.cfg.Secret != "":
		src.Secret = backup.SecretConfigured
	}
	var stop func() error
	if src.Database, stop, err = j.database(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var end func()
	src.Progress, end = j.progress()
	defer end()
	m, err := backup.Write(j.Ctx, src, j.dir)
	if errors.Is(err, backup.ErrNotEmpty) {
		return fmt.Errorf("%w: name a new directory", err)
	}
	if err != nil {
		return fmt.Errorf("no backup was made: %w", err)
	}
	end()
	secret := "The master secret is in it: keep it as safe as the server."
	switch {
	case m.Secret == backup.SecretConfigured:
		secret = "The master secret is not in it, for PARLEY_SECRET sets it: keep that yourself."
	case m.Secret == backup.SecretIncluded && !m.HasSecret():
		secret = "There is no master secret in " + dataDir + " that could be in it."
	case !m.HasSecret():
		secret = "The master secret is not in it: keep " + filepath.Join(dataDir, "secret") + " elsewhere."
	}
	return j.AnswerText(map[string]any{"dir": j.dir, "bytes": m.Bytes(), "has_secret": m.HasSecret(), "manifest": m},
		fmt.Sprintf("Backed up to %s: %d files, %s, PostgreSQL %d, schema %d.\n", j.dir, len(m.Files), size(m.Bytes()), m.Postgres, m.Schema)+
			fmt.Sprintf("%d accounts with %s USD paid and %s USD bonus.\n", m.Totals.Rows["accounts"], m.Totals.Paid, m.Totals.Bonus)+
			secret+"\n")
}

// database is the one to back up: the configured one, a running server's, or the
// private one, started until stop.
func (j *copying) database() (d backup.Database, stop func() error, err error) {
	url, stop, err := findDatabase(j.Ctx, j.cfg, j.log)
	if errors.Is(err, errNoDatabase) {
		err = fmt.Errorf("there is nothing to back up: %w", err)
	}
	return backup.Database{URL: url, Private: j.cfg.DatabaseURL == ""}, stop, err
}

// size is a number of bytes for a person.
func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d kB", (bytes+1023)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
}

func newRestoreCommand() *cobra.Command {
	return copyCommand(&cobra.Command{Use: "restore DIR", Short: "Put a backup into an empty data directory",
		Long: "Puts the backup in DIR into the data directory, which must be missing or empty, and into a new private database, or the\n" +
			"empty one of PARLEY_DATABASE_URL. It checks every checksum first, then restores, brings the schema up to date, verifies\n" +
			"the ledger and compares its sums with the backup's. Only then the data directory appears; when anything fails, nothing\n" +
			"is left behind. The next start closes the calls that were in progress, at what they had been charged.\n\n" +
			"To go on with a newer PostgreSQL: stop the server, install the new version beside the old one, parley backup DIR, move\n" +
			"the data directory aside, parley restore DIR, parley serve.",
		Example: "  mv data data.old\n  parley restore /srv/backups/parley-2026-11-20\n  PARLEY_DATA_DIR=/var/lib/parley parley restore --json /mnt/usb/parley"},
		(*copying).restore)
}

func (j *copying) restore() error {
	dataDir, _ := local.DataDir(j.cfg)
	to := backup.Target{DataDir: dataDir, URL: j.cfg.DatabaseURL, Mode: local.DataDirMode(), Log: j.log}
	var end func()
	to.Progress, end = j.progress()
	defer end()
	r, err := backup.Restore(j.Ctx, j.dir, to)
	switch {
	case errors.Is(err, backup.ErrNotEmpty):
		return fmt.Errorf("%w: a backup is restored into an empty place only: move what is there aside, or set PARLEY_DATA_DIR or PARLEY_DATABASE_URL to another", err)
	case errors.Is(err, private.ErrNotInstalled), errors.Is(err, private.ErrUnreachable):
		return local.Advise(err)
	case err != nil:
		return fmt.Errorf("nothing was restored: %w", err)
	}
	end()
	var secret, card string
	if r.Manifest.Secret != backup.SecretIncluded && j.cfg.Secret == "" {
		secret = "The master secret was not in it: put it into " + filepath.Join(dataDir, "secret") + ", or set PARLEY_SECRET, before the server starts.\n"
	}
	if r.Manifest.HasRateCard() {
		card = "The rate card is in it: PARLEY_RATE_CARD=" + filepath.Join(dataDir, "rate-card.yaml") + " uses it.\n"
	}
	return j.AnswerText(map[string]any{"data_dir": dataDir, "schema": r.Schema, "schema_before": r.Manifest.Schema, "has_secret": r.Manifest.HasSecret(),
		"accounts": r.Report.Accounts, "sessions": r.Report.Sessions, "transfers": r.Report.Transfers, "totals": r.Manifest.Totals},
		fmt.Sprintf("Restored into %s: the state of %s, schema %d.\n", dataDir, r.Manifest.CreatedAt.Local().Format(time.DateTime), r.Schema)+
			fmt.Sprintf("%d accounts with %s USD paid and %s USD bonus; %d sessions and %d transfers are in order.\n",
				r.Report.Accounts, r.Manifest.Totals.Paid, r.Manifest.Totals.Bonus, r.Report.Sessions, r.Report.Transfers)+
			secret+card)
}
