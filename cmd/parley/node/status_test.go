package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestStorage(t *testing.T) {
	dir := t.TempDir()
	if err := storage(dir); err != nil {
		t.Error(err)
	}
	if storage(filepath.Join(dir, "nothing")) == nil {
		t.Error("a directory that is not there is good")
	}
	if os.Geteuid() == 0 {
		return // may write everywhere
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if storage(dir) == nil {
		t.Error("a directory that may not be written is good")
	}
}
