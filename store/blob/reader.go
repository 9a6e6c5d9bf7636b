package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// Reader reads one file of a store, from any place on. It belongs to one goroutine.
type Reader struct {
	Info
	ctx   context.Context
	store Store
	at    int64
	open  io.ReadCloser // at at; nil: the next Read opens it
}

// Open returns a reader at the beginning of a file, which uses the store until ctx ends. The caller closes it. fs.ErrNotExist: there is none.
func Open(ctx context.Context, s Store, key string) (*Reader, error) {
	info, err := s.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	return &Reader{Info: info, ctx: ctx, store: s}, nil
}

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (n int, err error) {
	if r.at >= r.Size {
		return 0, io.EOF
	}
	if r.open == nil {
		if r.open, err = r.store.Get(r.ctx, r.Key, r.at); err != nil {
			return 0, err
		}
	}
	n, err = r.open.Read(b)
	r.at += int64(n)
	if errors.Is(err, io.EOF) && r.at < r.Size {
		err = io.ErrUnexpectedEOF // it was cut off
	}
	return n, err
}

// Seek implements io.Seeker. It asks nothing of the store.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.Size
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	if offset == r.at {
		return offset, nil
	}
	err := r.Close()
	r.at = offset
	return offset, err
}

// Close ends what is being read. A Read after it begins anew.
func (r *Reader) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}
