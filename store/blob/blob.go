// Package blob keeps files under keys: in a folder, or in the bucket of a store that speaks S3.
//
// A file is put whole or not at all, and is not changed afterwards. Who may have which is decided
// before, by the rows that name them: a store asks nobody. Keys hold identifiers with 80 random
// bits, so nobody guesses one.
package blob

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrUnavailable is the error of a store that is away, refuses us, or has no such bucket. It says
// nothing of the file: that there is none is fs.ErrNotExist.
var ErrUnavailable = errors.New("the store of files cannot be used")

// Info is what is known of a file without reading it.
type Info struct {
	Key      string
	Size     int64     // bytes
	Modified time.Time // by the store's clock
}

// Store keeps files. Its methods may be called from several goroutines. A key is one or more
// names of letters, digits, ".", "_" and "-", with "/" between them, and does not end in ".part".
type Store interface {
	// Put keeps the file at path under key, in place of what was there. The file at path stays the
	// caller's, who may remove it, but changes it no more: it may be the same one.
	Put(ctx context.Context, key, path string) error
	// Get reads the file from a byte on; the caller closes it. fs.ErrNotExist: there is none.
	Get(ctx context.Context, key string, from int64) (io.ReadCloser, error)
	// Stat describes the file. fs.ErrNotExist: there is none.
	Stat(ctx context.Context, key string) (Info, error)
	// Delete removes the file; one that is not there is no error.
	Delete(ctx context.Context, key string) error
	// List describes all files whose keys begin with prefix, in the order of their keys. The
	// slice is the caller's.
	List(ctx context.Context, prefix string) ([]Info, error)
}

// DeleteAll deletes all files whose keys begin with prefix. It goes on after an error, which it
// returns.
func DeleteAll(ctx context.Context, s Store, prefix string) error {
	all, err := s.List(ctx, prefix)
	for _, f := range all {
		err = errors.Join(err, s.Delete(ctx, f.Key))
	}
	return err
}
