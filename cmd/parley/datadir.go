package main

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parley/cmd/parley/config"
)

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
