package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"parley/store"
	"parley/store/ledger/verify"
	"parley/store/private"
)

// dirCluster is the private database's place in a data directory.
const dirCluster = "postgres"

// newCluster is what a private database takes on the disk before anything is in it.
const newCluster = 120 << 20 // bytes

// cleanPatience is for taking back what a failed restore left in somebody's database.
const cleanPatience = time.Minute

// Target is where to restore.
type Target struct {
	DataDir string // must be missing or empty
	// URL is an empty database; empty: a private one is made in the data directory.
	URL string
	// Mode is the data directory's when it is not there yet.
	Mode     os.FileMode
	Log      *slog.Logger
	Progress Progress
}

// Restored is what a restore came to.
type Restored struct {
	Manifest *Manifest
	Report   *verify.Report // of the ledger's verification; it is in order
	Schema   int64
}

// Restore reads the backup in dir. It checks the files first, brings the schema up
// to date, verifies the ledger and compares its sums with those of the backup. When
// it fails, the data directory and the database are as they were.
func Restore(ctx context.Context, dir string, to Target) (*Restored, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	m, err := read(root)
	if err != nil {
		return nil, err
	}
	s, err := newStage(to.DataDir)
	if err != nil {
		return nil, err
	}
	defer s.discard()
	need := m.Bytes() - m.size(nameDump) + slack
	if to.URL == "" {
		need += m.DatabaseBytes + newCluster
	}
	if err := s.wantSpace(need); err != nil {
		return nil, err
	}
	if err := m.check(root, to.Progress, func() error { return because(ctx, ctx.Err()) }); err != nil {
		return nil, err
	}
	if s.mode == 0 {
		s.mode = to.Mode
	}
	// The database's account passes through to its own directory.
	if err := errors.Join(os.Chmod(s.path, s.mode), s.own(s.path)); err != nil {
		return nil, err
	}
	r := &restore{m: m, root: root, stage: s, to: to}
	if err := r.files(ctx); err != nil {
		return nil, because(ctx, err)
	}
	report, err := r.database(ctx)
	if err != nil {
		return nil, because(ctx, err)
	}
	return &Restored{m, report, store.SchemaVersion()}, nil
}

func (m *Manifest) size(name string) int64 {
	for _, f := range m.Files {
		if f.Name == name {
			return f.Bytes
		}
	}
	return 0
}

// restore is one in progress.
type restore struct {
	m     *Manifest
	root  *os.Root
	stage *stage
	to    Target
}

// files puts those beside the database into the stage.
func (r *restore) files(ctx context.Context) error {
	for _, f := range r.m.Files {
		if f.Name == nameDump {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		in, err := open(r.root, f)
		if err != nil {
			return err
		}
		info, err := in.Stat()
		if err == nil {
			var copied File
			if copied, err = copyTo(r.stage.path, f.Name, in, info.ModTime()); err == nil && copied != f {
				err = fmt.Errorf("%w: %s changes", ErrDamaged, f.Name)
			}
		}
		in.Close()
		path := filepath.Join(r.stage.path, filepath.FromSlash(f.Name))
		if err = errors.Join(err, r.stage.own(path), r.stage.own(filepath.Dir(path))); err != nil {
			return err
		}
	}
	return nil
}

// database fills a private cluster in the stage, or the one of the URL, and gives
// the stage its name when what it holds is right.
func (r *restore) database(ctx context.Context) (*verify.Report, error) {
	if r.to.URL != "" {
		d := Database{URL: r.to.URL}
		report, filled, err := r.fill(ctx, d)
		if err == nil {
			err = r.stage.commit()
		}
		if err != nil && filled {
			err = errors.Join(err, d.clean(ctx))
		}
		return report, err
	}
	account, err := r.account()
	if err != nil {
		return nil, err
	}
	cluster, err := private.Start(ctx, private.Options{Dir: filepath.Join(r.stage.path, dirCluster), Account: account, Log: r.to.Log})
	if err != nil {
		return nil, err
	}
	report, _, err := r.fill(ctx, Database{cluster.URL(), true})
	// Before it moves: its last checkpoint puts everything on the disk.
	if err = errors.Join(err, cluster.Stop()); err != nil {
		return nil, err
	}
	if err := because(ctx, ctx.Err()); err != nil {
		return nil, err
	}
	return report, r.stage.commit()
}

// account is who shall run the private database: the owner of a data directory that
// was prepared for somebody, when we are root; else whom private chooses.
func (r *restore) account() (string, error) {
	if os.Geteuid() != 0 || r.stage.owner == nil || r.stage.owner.Uid == 0 {
		return "", nil
	}
	u, err := user.LookupId(strconv.Itoa(int(r.stage.owner.Uid)))
	if err != nil {
		return "", fmt.Errorf("whose %s is: %w", r.stage.final, err)
	}
	return u.Username, nil
}

// fill restores into an empty database and checks what is there then. filled is set
// when the database is not empty any more.
func (r *restore) fill(ctx context.Context, d Database) (report *verify.Report, filled bool, err error) {
	db, err := store.Open(ctx, d.URL)
	if err != nil {
		return nil, false, err
	}
	defer db.Close()
	version, err := d.wantEmpty(ctx)
	if err != nil {
		return nil, false, err
	}
	if version < r.m.Postgres {
		return nil, false, fmt.Errorf("%w: of PostgreSQL, %d, and this one is %d", ErrNewer, r.m.Postgres, version)
	}
	if err := r.load(ctx, d, version); err != nil {
		return nil, false, err // in one transaction
	}
	got, err := db.Totals(ctx)
	if err == nil {
		err = r.compare(got, true)
	}
	if err != nil {
		return nil, true, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, true, err
	}
	r.to.Progress.tell("verifying", 0, 1)
	if report, err = verify.Whole(ctx, db); err != nil {
		return nil, true, err
	}
	// What the server that was backed up had left undone, the next one does.
	if wrong := slices.DeleteFunc(slices.Clone(report.Violations), verify.Violation.Overdue); len(wrong) > 0 {
		return nil, true, fmt.Errorf("%w: the ledger is not in order: %s, and %d more", ErrDiffers, wrong[0], len(wrong)-1)
	}
	if got, err = db.Totals(ctx); err == nil {
		err = r.compare(got, false)
	}
	return report, true, err
}

// compare compares what is there with the manifest; the rows only before migrations,
// which may add some.
func (r *restore) compare(got store.Totals, rows bool) error {
	want := r.m.Totals
	if rows && !maps.Equal(got.Rows, want.Rows) {
		for _, name := range slices.Sorted(maps.Keys(want.Rows)) {
			if got.Rows[name] != want.Rows[name] {
				return fmt.Errorf("%w: %s has %d rows, not %d", ErrDiffers, name, got.Rows[name], want.Rows[name])
			}
		}
		return fmt.Errorf("%w: there are %d tables, not %d", ErrDiffers, len(got.Rows), len(want.Rows))
	}
	got.Rows, want.Rows = nil, nil
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		return fmt.Errorf("%w: the wallets come to %s, not %s", ErrDiffers, g, w)
	}
	return nil
}

// publicSchema matches the entries of a dump's list that make the schema public or
// speak of it. It is there already, in databases that began before PostgreSQL 15 as
// somebody's own, which the dump would make again.
var publicSchema = regexp.MustCompile(`(?m)^\d+; \d+ \d+ (SCHEMA|ACL|COMMENT) - (SCHEMA )?public .*\n`)

// load runs pg_restore: all of it, or nothing.
func (r *restore) load(ctx context.Context, d Database, version int) error {
	program, _, err := private.Client("pg_restore", version)
	if err != nil {
		return err
	}
	dump, err := open(r.root, File{Name: nameDump, Bytes: r.m.size(nameDump)})
	if err != nil {
		return err
	}
	defer dump.Close()
	var list bytes.Buffer
	if err := d.run(ctx, program, []string{"--list", "--file=-"}, dump, &list); err != nil {
		return err
	}
	// pg_restore reads it as we would; it goes before the stage gets its name.
	entries := filepath.Join(r.stage.path, "database.list")
	defer os.Remove(entries)
	if err := os.WriteFile(entries, publicSchema.ReplaceAll(list.Bytes(), nil), 0o600); err != nil {
		return err
	}
	if _, err := dump.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var done int64
	in := reader{dump, func(n int) error {
		done += int64(n)
		r.to.Progress.tell("restoring", done, r.m.size(nameDump))
		return nil
	}}
	cfg, err := pgx.ParseConfig(d.URL)
	if err != nil {
		return fmt.Errorf("database URL: %w", err) // pgx blanks the password
	}
	args := []string{"--use-list=" + entries, "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-password",
		"--dbname=dbname='" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(cfg.Database) + "'"}
	return d.run(ctx, program, args, in, nil)
}

// connect is for questions that the store has no words for.
func (d Database) connect(ctx context.Context) (*pgx.Conn, error) {
	cfg, err := pgxpool.ParseConfig(d.URL) // it knows the pool's parameters
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err) // pgx blanks the password
	}
	return pgx.ConnectConfig(ctx, cfg.ConnConfig)
}

// ourOwn are the schemas that are not PostgreSQL's.
const ourOwn = `n.nspname not like 'pg\_%' and n.nspname <> 'information_schema'`

// wantEmpty refuses a database in which anything is, and returns its server's
// major version.
func (d Database) wantEmpty(ctx context.Context) (version int, err error) {
	conn, err := d.connect(ctx)
	if err != nil {
		return 0, err // pgx shows no password
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var things int
	err = conn.QueryRow(ctx, `select current_setting('server_version_num')::int / 10000,
		(select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace where `+ourOwn+`
			and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e'))
		+ (select count(*) from pg_namespace n where `+ourOwn+` and n.nspname <> 'public')`).Scan(&version, &things)
	if err == nil && things > 0 {
		err = fmt.Errorf("the database %s %w", conn.Config().Database, ErrNotEmpty)
	}
	return version, err
}

// clean takes everything out of a database again that was empty before.
func (d Database) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanPatience)
	defer cancel()
	conn, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `do $$ declare it record; begin
		for it in select n.nspname from pg_namespace n where `+ourOwn+` and n.nspname <> 'public' loop
			execute format('drop schema %I cascade', it.nspname);
		end loop;
		for it in select c.oid::regclass as name, case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end as what
			from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
				and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('e', 'a', 'i')) loop
			execute format('drop %s if exists %s cascade', it.what, it.name);
		end loop;
		for it in select p.oid::regprocedure as name from pg_proc p where p.pronamespace = 'public'::regnamespace
				and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') loop
			execute format('drop function if exists %s cascade', it.name);
		end loop;
	end $$`)
	if err != nil {
		return fmt.Errorf("take back what was restored: %w", err)
	}
	return nil
}
