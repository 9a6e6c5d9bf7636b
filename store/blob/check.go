package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Check tries everything that a server does with a store, with a file of its own that it removes
// again. The error says which of it failed.
func Check(ctx context.Context, s Store) (err error) {
	f, err := os.CreateTemp("", "parley-check-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	const text = "written by a check, and removed by it"
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	key := "check/" + rand.Text()
	if err := s.Put(ctx, key, f.Name()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := reads(ctx, s, key, text); err != nil {
		return errors.Join(fmt.Errorf("read: %w", err), s.Delete(ctx, key))
	}
	if all, err := s.List(ctx, key); err != nil || len(all) != 1 {
		return errors.Join(fmt.Errorf("list: %d files of one, %w", len(all), err), s.Delete(ctx, key))
	}
	if err := s.Delete(ctx, key); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if _, err := s.Stat(ctx, key); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete: the file is there still, %w", err)
	}
	return nil
}

// reads checks that a file holds a text.
func reads(ctx context.Context, s Store, key, text string) error {
	r, err := s.Get(ctx, key, 1)
	if err != nil {
		return err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, int64(len(text))))
	if err == nil && string(b) != text[1:] {
		err = errors.New("it is not what was written")
	}
	return err
}
