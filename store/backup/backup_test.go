package backup

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/private"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// monday is when these tests take place.
var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// fund makes an account with 20 dollars of its own.
func fund(t *testing.T, db *store.DB) string {
	t.Helper()
	card := billing.DefaultRateCard()
	ok(t, db.PutRateCard(storetest.At(t.Context(), monday), card))
	a, err := ledger.New(db).CreateAccount(storetest.At(t.Context(), monday), "Casa Lola", card)
	ok(t, err)
	_, _, err = ledger.New(db).Credit(storetest.At(t.Context(), monday), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "topup:1", Source: "sim"})
	ok(t, err)
	return a.ID
}

// source is a migrated database with an account, and files beside it.
func source(t *testing.T) Source {
	t.Helper()
	at := storetest.URL(t)
	fund(t, storetest.Open(t, at))
	dir := storetest.Dir(t)
	for name, text := range map[string]string{"secret": "0123456789012345678901234567890123", "demo-key": "sk_demo",
		"tasks/task_1.1.wav": "RIFF", "tasks/task_2.1.wav.part": "RI"} {
		ok(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		ok(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return Source{Database: Database{URL: at}, DataDir: dir, Secret: SecretIncluded, Program: "test", Now: monday}
}

// emptyDatabase is one beside that of src.
func emptyDatabase(t *testing.T, src Source) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), src.Database.URL)
	ok(t, err)
	defer conn.Close(context.Background())
	// The name makes quoting necessary.
	name := fmt.Sprintf("it's empty %d", os.Getpid())
	quoted := pgx.Identifier{name}.Sanitize()
	_, err = conn.Exec(t.Context(), "create database "+quoted+" template template0")
	ok(t, err)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), src.Database.URL)
		if err == nil {
			_, err = conn.Exec(context.Background(), "drop database "+quoted+" with (force)")
			conn.Close(context.Background())
		}
		if err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(src.Database.URL)
	ok(t, err)
	u.Path = "/" + name
	return u.String()
}

// names are the files below dir, with their modes and contents where those are short.
func names(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	ok(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			fmt.Fprintf(&b, "%s %o ", rel, info.Mode().Perm())
		}
		return err
	}))
	return strings.TrimSpace(b.String())
}

func TestThereAndBack(t *testing.T) {
	src := source(t)
	src.RateCard = filepath.Join(storetest.Dir(t), "prices.yaml")
	ok(t, os.WriteFile(src.RateCard, []byte("version: 1\n"), 0o644))
	dir := filepath.Join(storetest.Dir(t), "copy")
	ok(t, os.Mkdir(dir, 0o755)) // an empty one may be there
	m, err := Write(t.Context(), src, dir)
	ok(t, err)
	if got := names(t, dir); got != "database.dump 600 demo-key 600 manifest.json 600 rate-card.yaml 600 secret 600 tasks/task_1.1.wav 600" {
		t.Errorf("the backup has %s", got)
	}
	if m.Totals.Paid != "20" || m.Totals.Bonus != "5" || m.Totals.Rows["accounts"] != 1 || m.Schema != store.SchemaVersion() {
		t.Errorf("the manifest says %+v", m)
	}
	to := Target{DataDir: filepath.Join(storetest.Dir(t), "data"), URL: emptyDatabase(t, src), Mode: 0o700, Log: quiet()}
	r, err := Restore(t.Context(), dir, to)
	ok(t, err)
	if r.Report.Accounts != 1 || r.Report.Transfers != 2 {
		t.Errorf("restored %+v", r.Report)
	}
	if got := names(t, to.DataDir); got != "demo-key 600 rate-card.yaml 600 secret 600 tasks/task_1.1.wav 600" {
		t.Errorf("the data directory has %s", got)
	}
	// Results expire by their age.
	old, err := os.Stat(filepath.Join(src.DataDir, "tasks/task_1.1.wav"))
	ok(t, err)
	now, err := os.Stat(filepath.Join(to.DataDir, "tasks/task_1.1.wav"))
	ok(t, err)
	if !now.ModTime().Equal(old.ModTime()) {
		t.Errorf("a result of %s is one of %s", old.ModTime(), now.ModTime())
	}
	// Now the database is not empty, and neither is the directory.
	if _, err := Restore(t.Context(), dir, to); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("once more: %v", err)
	}
	to.DataDir = filepath.Join(storetest.Dir(t), "data")
	if _, err := Restore(t.Context(), dir, to); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("into the same database: %v", err)
	}
	nothing(t, filepath.Dir(to.DataDir))
}

// nothing wants an empty directory.
func nothing(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	ok(t, err)
	if len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestSecretIsLeftOut(t *testing.T) {
	src := source(t)
	for secret, want := range map[Secret]string{
		SecretLeftOut:    "database.dump 600 manifest.json 600 tasks/task_1.1.wav 600",
		SecretConfigured: "database.dump 600 demo-key 600 manifest.json 600 tasks/task_1.1.wav 600",
	} {
		src.Secret = secret
		dir := filepath.Join(storetest.Dir(t), "copy")
		m, err := Write(t.Context(), src, dir)
		ok(t, err)
		if got := names(t, dir); got != want || m.HasSecret() {
			t.Errorf("%s: the backup has %s", secret, got)
		}
	}
}

// TestRefusedBackups changes a good backup and wants it refused, and nothing left.
func TestRefusedBackups(t *testing.T) {
	src := source(t)
	good := filepath.Join(storetest.Dir(t), "copy")
	_, err := Write(t.Context(), src, good)
	ok(t, err)
	edit := func(old, new string) func(dir string) error {
		return func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, nameManifest))
			if err != nil || !strings.Contains(string(b), old) {
				return fmt.Errorf("no %s: %v", old, err)
			}
			return os.WriteFile(filepath.Join(dir, nameManifest), []byte(strings.Replace(string(b), old, new, 1)), 0o600)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(dir string) error
		want   error
	}{
		{"another byte", func(dir string) error {
			f, err := os.OpenFile(filepath.Join(dir, nameDump), os.O_RDWR, 0)
			if err == nil {
				_, err = f.WriteAt([]byte("!"), 5000)
				f.Close()
			}
			return err
		}, ErrDamaged},
		{"another secret", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, nameSecret), []byte("9123456789012345678901234567890123"), 0o600)
		}, ErrDamaged},
		{"cut off", func(dir string) error { return os.Truncate(filepath.Join(dir, nameDump), 5000) }, ErrDamaged},
		{"missing file", func(dir string) error { return os.Remove(filepath.Join(dir, "tasks/task_1.1.wav")) }, ErrDamaged},
		{"half a manifest", func(dir string) error { return os.Truncate(filepath.Join(dir, nameManifest), 100) }, ErrDamaged},
		{"a file elsewhere", edit("tasks/task_1.1.wav", "tasks/../../secret"), ErrDamaged},
		{"a file of our own names", edit(`"demo-key"`, `"postgres"`), ErrDamaged},
		{"a newer format", edit(`"format": 1`, `"format": 2`), ErrNewer},
		{"a newer schema", edit(fmt.Sprintf(`"schema": %d`, store.SchemaVersion()), `"schema": 9999`), ErrNewer},
		{"a newer PostgreSQL", edit(`"postgres": `, `"postgres": 9`), ErrNewer},
		{"larger than any disk", edit(`"name": "secret",
      "bytes": `, `"name": "secret",
      "bytes": 99999999999`), ErrSpace},
		{"other sums", edit(`"paid": "20"`, `"paid": "21"`), ErrDiffers},
		{"other rows", edit(`"accounts": 1`, `"accounts": 2`), ErrDiffers},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(storetest.Dir(t), "copy")
			ok(t, os.CopyFS(dir, os.DirFS(good)))
			ok(t, tt.change(dir))
			to := Target{DataDir: filepath.Join(storetest.Dir(t), "data"), Mode: 0o700, Log: quiet()}
			if tt.want == ErrDiffers || strings.Contains(tt.name, "PostgreSQL") { // others do not get as far as the database
				to.URL = emptyDatabase(t, src)
			}
			if _, err := Restore(t.Context(), dir, to); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			nothing(t, filepath.Dir(to.DataDir))
			if to.URL == "" {
				return
			}
			if _, err := (Database{URL: to.URL}).wantEmpty(t.Context()); err != nil {
				t.Errorf("the database: %v", err)
			}
		})
	}
}

// oldBooks are an account's as that version kept them: 5 USD of welcome and 20 paid.
const oldBooks = `
	insert into accounts values ('acc_old', 'Casa Lola', '2026-03-02');
	insert into wallets (account_id, paid_nano, bonus_nano, first_topup_at, bonus_expires_at, last_seq)
		values ('acc_old', 20000000000, 5000000000, '2026-03-02', '2036-03-02', 2);
	insert into ledger_transfers (account_id, seq, idem, leg, debit, credit, amount_nano, kind, balance_after_nano, created_at) values
		('acc_old', 1, 'welcome:acc_old', 0, 'promo', 'bonus', 5000000000, 'welcome', 5000000000, '2026-03-02'),
		('acc_old', 2, 'topup:1', 0, 'sim', 'paid', 20000000000, 'topup', 25000000000, '2026-03-02');
	insert into credit_lots values ('lot_old', 'acc_old', 'welcome:acc_old', 5000000000, 5000000000, '2036-03-02', '2026-03-02')`

// TestOldSchema backs up a database as an earlier version made it and restores it
// into this one.
func TestOldSchema(t *testing.T) {
	old := filepath.Join(storetest.Dir(t), "data")
	ok(t, os.MkdirAll(old, 0o755))
	cluster, err := private.Start(t.Context(), private.Options{Dir: filepath.Join(old, "postgres"), Log: quiet(), Volatile: true})
	ok(t, err)
	defer cluster.Stop()
	conn, err := pgx.ParseConfig(cluster.URL())
	ok(t, err)
	sql := stdlib.OpenDB(*conn)
	p, err := goose.NewProvider(goose.DialectPostgres, sql, os.DirFS("../migrations"))
	ok(t, err)
	_, err = p.UpTo(t.Context(), 3)
	ok(t, err)
	_, err = sql.ExecContext(t.Context(), oldBooks)
	ok(t, errors.Join(err, sql.Close()))

	dir := filepath.Join(storetest.Dir(t), "copy")
	m, err := Write(t.Context(), Source{Database: Database{cluster.URL(), true}, DataDir: old, Secret: SecretIncluded, Now: monday}, dir)
	ok(t, err)
	if m.Schema != 3 || store.SchemaVersion() <= 3 {
		t.Fatalf("schema %d of %d", m.Schema, store.SchemaVersion())
	}
	to := filepath.Join(storetest.Dir(t), "data")
	if _, err := Restore(t.Context(), dir, Target{DataDir: to, Mode: 0o711, Log: quiet()}); err != nil {
		t.Fatal(err)
	}
	again, err := private.Start(t.Context(), private.Options{Dir: filepath.Join(to, "postgres"), Log: quiet(), Volatile: true})
	ok(t, err)
	defer again.Stop()
	db := storetest.Open(t, again.URL())
	a, err := ledger.New(db).Account(t.Context(), "acc_old")
	ok(t, err)
	if a.Name != "Casa Lola" || a.Balance() != 25*billing.USD {
		t.Errorf("restored %+v", a)
	}
	ok(t, db.Snapshot(t.Context(), func(s store.Snapshot) error {
		if s.Schema != store.SchemaVersion() {
			t.Errorf("the schema is %d", s.Schema)
		}
		return nil
	}))
}

// TestInterruptedRestore ends it at each of its steps.
func TestInterruptedRestore(t *testing.T) {
	src := source(t)
	dir := filepath.Join(storetest.Dir(t), "copy")
	_, err := Write(t.Context(), src, dir)
	ok(t, err)
	enough := errors.New("changed our mind")
	for _, at := range []string{"checking", "restoring", "verifying", "verifying in a private one"} {
		t.Run(at, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			to := Target{DataDir: filepath.Join(storetest.Dir(t), "data"), Mode: 0o711, Log: quiet(), Progress: func(step string, _, _ int64) {
				if strings.HasPrefix(at, step) {
					cancel(enough)
				}
			}}
			if !strings.HasSuffix(at, "private one") {
				to.URL = emptyDatabase(t, src)
			}
			if _, err := Restore(ctx, dir, to); !errors.Is(err, enough) {
				t.Errorf("got %v", err)
			}
			nothing(t, filepath.Dir(to.DataDir))
			if to.URL != "" {
				if _, err := (Database{URL: to.URL}).wantEmpty(t.Context()); err != nil {
					t.Errorf("the database: %v", err)
				}
			}
		})
	}
}

func TestNoDatabaseOfOurs(t *testing.T) {
	src := source(t)
	src.Database.URL = emptyDatabase(t, src)
	dir := storetest.Dir(t)
	if _, err := Write(t.Context(), src, filepath.Join(dir, "copy")); !errors.Is(err, ErrNothing) {
		t.Errorf("got %v", err)
	}
	nothing(t, dir)
}

func TestStage(t *testing.T) {
	dir := storetest.Dir(t)
	final := filepath.Join(dir, "copy")
	// What a killed process left is in nobody's way.
	ok(t, os.MkdirAll(filepath.Join(dir, ".copy"+stageSuffix, "tasks"), 0o700))
	s, err := newStage(final)
	ok(t, err)
	nothing(t, s.path)
	if _, err := newStage(final); !errors.Is(err, ErrBusy) {
		t.Errorf("two at once: %v", err)
	}
	if err := s.wantSpace(1 << 60); !errors.Is(err, ErrSpace) {
		t.Errorf("an exabyte: %v", err)
	}
	s.discard()
	nothing(t, dir)
	ok(t, os.WriteFile(final, nil, 0o600))
	if _, err := newStage(final); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file: %v", err)
	}
}

// TestMovesUp is what happens in a mounted file system.
func TestMovesUp(t *testing.T) {
	dir := storetest.Dir(t)
	s, err := newStage(filepath.Join(dir, "data"))
	ok(t, err)
	defer s.discard()
	s.inside, s.final = true, filepath.Join(dir, "mounted")
	ok(t, os.MkdirAll(s.final, 0o700))
	for _, name := range []string{"postgres/data", "tasks"} {
		ok(t, os.MkdirAll(filepath.Join(s.path, name), 0o700))
	}
	_, err = copyTo(s.path, "secret", strings.NewReader("x"), monday)
	ok(t, err)
	ok(t, s.commit())
	for _, name := range []string{"postgres/data", "tasks", "secret"} {
		if _, err := os.Stat(filepath.Join(s.final, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestFullDisk wants the disk's reason, not that of the program that wrote into a
// pipe nobody reads.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	ok(t, err)
	out := &output{f: full, sum: sha256.New(), progress: func(int64) {}}
	defer out.close()
	err = Database{URL: "postgres://u@localhost/x"}.run(t.Context(), "/usr/bin/yes", nil, nil, out)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("PARLEY_DATABASE_URL", "postgres://u:hunter2@h/x")
	t.Setenv("PGHOST", "elsewhere")
	for _, private := range []bool{true, false} {
		d := Database{"postgres://lola:hunter2@db.example,two.example:5433/books?sslmode=require&pool_max_conns=3", private}
		env, err := d.environment()
		ok(t, err)
		last := map[string]string{}
		for _, e := range env {
			k, v, _ := strings.Cut(e, "=")
			last[k] = v
		}
		for k, want := range map[string]string{"PGHOST": "db.example,two.example", "PGPORT": "5432,5433", "PGUSER": "lola", "PGDATABASE": "books",
			"PGPASSWORD": "hunter2", "PGSSLMODE": "require", "LC_ALL": "C.UTF-8", "PARLEY_DATABASE_URL": ""} {
			if last[k] != want {
				t.Errorf("%s is %q, want %q", k, last[k], want)
			}
		}
	}
	_, err := Database{URL: "postgres://u:hunter2@h:port/x"}.environment()
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestLastWords(t *testing.T) {
	for said, want := range map[string]string{
		"": "it gave no reason",
		"pg_dump: error: query failed\npg_dump: detail: Query was: LOCK\n": "pg_dump: error: query failed",
		"one\ntwo\n": "two",
		strings.Repeat("x", 3*maxComplaint) + "\nend": "end",
	} {
		w := &tail{}
		_, err := io.WriteString(w, said)
		ok(t, err)
		if w.String() != want || len(w.b) > maxComplaint {
			t.Errorf("%.40q: %q", said, w.String())
		}
	}
}
