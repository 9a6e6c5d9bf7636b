package store

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Milliseconds reads a duration from a column that counts them.
type Milliseconds time.Duration

// ScanInt64 implements pgtype.Int64Scanner.
func (d *Milliseconds) ScanInt64(v pgtype.Int8) error {
	*d = Milliseconds(time.Duration(v.Int64) * time.Millisecond)
	return nil
}
