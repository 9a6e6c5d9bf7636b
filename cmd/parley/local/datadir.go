package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/cmd/parley/config"
	"parley/store/private"
)

// DataDir picks the data directory and says why when it is not the one
// that was to be expected. A directory that somebody chose is never replaced.
func DataDir(cfg *config.Config) (dir, because string) {
	if cfg.DatabaseURL == "" && !cfg.DataDirSet && os.Geteuid() == 0 {
		if err := private.Check(private.Dir(cfg.DataDir), ""); errors.Is(err, private.ErrUnreachable) {
			return config.SystemDataDir, err.Error()
		}
	}
	return cfg.DataDir, ""
}

// DataDirMode lets others pass through but not look around when we are root: the
// database's account has its own directory inside.
func DataDirMode() fs.FileMode {
	if os.Geteuid() == 0 {
		return 0o711
	}
	return 0o700
}

// MakeDataDir makes dir unless it is there.
func MakeDataDir(dir string) error { return makeDirs(dir, DataDirMode()) }

// makeDirs makes dir, and what is missing above it, with a mode that no umask takes from:
// the database's account must get through all of them.
func makeDirs(dir string, mode fs.FileMode) error {
	var missing []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	if len(missing) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return fmt.Errorf("the data directory: %w", err)
	}
	for _, at := range missing {
		if err := os.Chmod(at, mode); err != nil {
			return fmt.Errorf("the data directory: %w", err)
		}
	}
	return nil
}

// Advise adds the way out that only this program knows.
func Advise(err error) error {
	switch {
	case errors.Is(err, private.ErrNotInstalled):
		return fmt.Errorf("%w (or set PARLEY_DATABASE_URL)", err)
	case errors.Is(err, private.ErrVersion):
		return fmt.Errorf("%w (to go on with a newer PostgreSQL: parley backup DIR with the old one still installed, move the data directory aside, parley restore DIR)", err)
	case errors.Is(err, private.ErrUnreachable):
		return fmt.Errorf("%w (name a directory that it can reach: PARLEY_DATA_DIR=%s parley serve)", err, config.SystemDataDir)
	}
	return fmt.Errorf("start the private database: %w", err)
}
