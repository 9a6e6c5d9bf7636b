package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parley/cmd/parley/config"
	"parley/cmd/parley/local"
)

// makeDataDir makes dir unless it is there.
func makeDataDir(dir string) error { return makeDirs(dir, local.DataDirMode()) }

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

// loadSecret returns the master key: the configured one, else the one that the
// first start left in the data directory.
func loadSecret(cfg *config.Config, dir string) (string, error) {
	if cfg.Secret != "" {
		return cfg.Secret, nil
	}
	path := filepath.Join(dir, "secret")
	b, err := os.ReadFile(path)
	if secret := strings.TrimSpace(string(b)); err == nil && secret != "" {
		return secret, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	secret := rand.Text() + rand.Text() // 130 bits each
	// Complete before it has its name: a crash must not leave half a key.
	if err := os.WriteFile(path+".new", []byte(secret+"\n"), 0o600); err != nil {
		return "", err
	}
	return secret, os.Rename(path+".new", path)
}
