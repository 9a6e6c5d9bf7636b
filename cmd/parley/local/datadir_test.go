package local

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"parley/cmd/parley/config"
)

func TestDataDir(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root runs the database under another account")
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	open, err := os.MkdirTemp("", "parley-data-") // below a directory that the database's account reaches
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(open)
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, cwd, env, want string
	}{
		{"reachable", open, "", "./data"},
		{"closed home", closed, "", config.SystemDataDir},
		{"closed, but chosen", closed, "PARLEY_DATA_DIR=./here", "./here"},
		{"no private database", closed, "PARLEY_DATABASE_URL=postgres://db/x", "./data"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(tt.cwd)
			cfg, _, err := config.Load(config.Sources{Env: []string{tt.env}})
			if err != nil {
				t.Fatal(err)
			}
			dir, because := DataDir(cfg)
			if dir != tt.want || (because != "") != (dir == config.SystemDataDir) {
				t.Errorf("%s because %q", dir, because)
			}
		})
	}
}

// TestDataDirUnderAStrictUmask: the database's account gets through all that was made.
func TestDataDirUnderAStrictUmask(t *testing.T) {
	there := t.TempDir()
	if err := os.Chmod(there, 0o750); err != nil {
		t.Fatal(err)
	}
	before := syscall.Umask(0o077)
	err := makeDirs(filepath.Join(there, "a", "b", "data"), 0o711)
	syscall.Umask(before)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{".": 0o750, "a": 0o711, "a/b": 0o711, "a/b/data": 0o711} {
		if info, err := os.Stat(filepath.Join(there, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}
