package store

import (
	"context"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// SchemaVersion is the number of the last migration that this program knows.
func SchemaVersion() int64 {
	names, _ := fs.Glob(migrations, "migrations/*.sql") // the pattern is in order
	last, _, _ := strings.Cut(strings.TrimPrefix(names[len(names)-1], "migrations/"), "_")
	n, _ := strconv.ParseInt(last, 10, 64) // of our own files
	return n
}

// Schema is the number of the last migration that the database has had; 0: it has no
// schema.
func (db *DB) Schema(ctx context.Context) (version int64, err error) {
	err = db.Frozen(ctx, func(tx pgx.Tx) error {
		version, err = schemaOf(ctx, tx)
		return err
	})
	return version, Fail("read the schema's version", err)
}

// schemaOf is Schema within a transaction.
func schemaOf(ctx context.Context, tx pgx.Tx) (version int64, err error) {
	ours, err := Scalar[bool](ctx, tx, "select to_regclass('wallets') is not null and to_regclass('goose_db_version') is not null")
	if err != nil || !ours {
		return 0, err
	}
	return Scalar[int64](ctx, tx, "select coalesce(max(version_id), 0) from goose_db_version where is_applied")
}
