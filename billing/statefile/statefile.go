// Package statefile keeps the state of a simulated provider in a file, so that it
// survives a restart. The state is one JSON document, written whole at each
// change: for tools that try things out, not for what a business depends on.
package statefile

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Load reads the state into v, which stays as it is when there is no file yet.
// An empty name means no file at all.
func Load(file string, v any) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// Instance is what a state's ids have in common: the state's own, else the configured one, else a
// random one, so that ids never repeat those of a state that was lost.
func Instance(own, configured string) string {
	return cmp.Or(own, configured, strings.ToLower(rand.Text()[:12]))
}

// Save writes the state to a new file of mode 0600 and renames it, so that a crash
// leaves the old or the new one. With an empty name it does nothing.
func Save(file string, v any) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
