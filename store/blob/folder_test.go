package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"parley/store/blob"
	"parley/store/blob/blobtest"
)

func TestFolder(t *testing.T) {
	blobtest.Suite(t, func(t *testing.T) blob.Store {
		dir := filepath.Join(t.TempDir(), "made", "later")
		return blob.NewFolder(func() string { return dir })
	})
}

// otherDisk is a directory of another file system than that of temporary files.
func otherDisk(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "parley-blob-*")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	probe := filepath.Join(t.TempDir(), "probe")
	if err := errors.Join(os.WriteFile(probe, nil, 0o600), os.Link(probe, filepath.Join(dir, "probe"))); err == nil {
		t.Skip("temporary files are in /dev/shm, too")
	}
	return dir
}

// TestFolderElsewhere: in a directory of another file system it is the same.
func TestFolderElsewhere(t *testing.T) {
	blobtest.Suite(t, func(t *testing.T) blob.Store {
		dir := otherDisk(t)
		return blob.NewFolder(func() string { return dir })
	})
}

// TestFolderHalfWritten: what is being written is in no list, and no directory is a file.
func TestFolderHalfWritten(t *testing.T) {
	dir := t.TempDir()
	s := blob.NewFolder(func() string { return dir })
	blobtest.Put(t, s, "raw/a", []byte("x"))
	if err := os.WriteFile(filepath.Join(dir, "raw", "b.XYZ.part"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if keys := blobtest.Keys(t, s, ""); len(keys) != 1 || keys[0] != "raw/a" {
		t.Errorf("%q", keys)
	}
	if _, err := s.Stat(t.Context(), "raw"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory: %v", err)
	}
}
