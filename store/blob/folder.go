package blob

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Folder is a store in a directory, which several nodes may share. Its files lie in it by their
// keys, so what copies files moves them into a bucket.
type Folder struct{ root func() string }

// NewFolder returns the store in the directory that root returns, which is made when it is not there.
func NewFolder(root func() string) *Folder { return &Folder{root} }

// partSuffix marks files that are being written.
const partSuffix = ".part"

func (f *Folder) path(key string) string { return filepath.Join(f.root(), filepath.FromSlash(key)) }

// Put implements Store. Within one file system it makes a link, which writes nothing twice.
func (f *Folder) Put(_ context.Context, key, from string) (err error) {
	to := f.path(key)
	for range 100 { // Delete may remove the directory that was just made
		if err = os.MkdirAll(filepath.Dir(to), 0o700); err == nil {
			err = place(from, to)
		}
		gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)
		if _, missing := os.Stat(from); missing != nil || !gone {
			return err
		}
	}
	return err
}

// place gives a file another name, by which it is there whole or not at all.
func place(from, to string) error {
	part := to + "." + rand.Text() + partSuffix
	defer os.Remove(part) // it is there still after an error, and when both were one file already
	if err := os.Link(from, part); err != nil {
		if err := copyFile(from, part); err != nil {
			return err
		}
	}
	return os.Rename(part, to)
}

// copyFile copies to another file system.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync() // who gave us the file may remove it now
	}
	return errors.Join(err, out.Close())
}

// Get implements Store.
func (f *Folder) Get(_ context.Context, key string, from int64) (io.ReadCloser, error) {
	file, err := os.Open(f.path(key))
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		_ = file.Close() // the first error says more
		return nil, err
	}
	return file, nil
}

// Stat implements Store.
func (f *Folder) Stat(_ context.Context, key string) (Info, error) {
	info, err := os.Stat(f.path(key))
	if err != nil {
		return Info{}, err
	}
	if !info.Mode().IsRegular() {
		return Info{}, &fs.PathError{Op: "stat", Path: key, Err: fs.ErrNotExist}
	}
	return Info{key, info.Size(), info.ModTime()}, nil
}

// Delete implements Store. Directories that are empty then go, too.
func (f *Folder) Delete(_ context.Context, key string) error {
	err := os.Remove(f.path(key))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(key); dir != "." && os.Remove(f.path(dir)) == nil; dir = path.Dir(dir) {
	}
	return nil
}

// List implements Store.
func (f *Folder) List(_ context.Context, prefix string) (all []Info, err error) {
	under := prefix[:strings.LastIndex(prefix, "/")+1]
	err = filepath.WalkDir(f.path(under), func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // nothing was put yet, or it was just deleted
		}
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(at, partSuffix) {
			return err
		}
		rel, err := filepath.Rel(f.root(), at)
		key := filepath.ToSlash(rel)
		if err != nil || !strings.HasPrefix(key, prefix) {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			all = append(all, Info{key, info.Size(), info.ModTime()})
		}
		return err
	})
	slices.SortFunc(all, func(a, b Info) int { return cmp.Compare(a.Key, b.Key) })
	return all, err
}
