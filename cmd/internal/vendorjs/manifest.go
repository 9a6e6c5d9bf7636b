package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// pinned is a package in a manifest.
type pinned struct {
	Name      string            `json:"name"`
	Version   string            `json:"version"`
	Licence   string            `json:"licence"`
	Integrity string            `json:"integrity"` // of the tarball; empty: what the registry says is taken
	Files     map[string]string `json:"files"`     // that are taken, name to SHA-256
}

const manifestName = "vendor.json"

// fetch brings the files of a directory. All are there before the first is written.
func fetch(ctx context.Context, from *source, dir string, out io.Writer) error {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return err
	}
	var list []pinned
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	got := map[string][]byte{}
	for i := range list {
		if err := list[i].take(ctx, from, got); err != nil {
			return fmt.Errorf("%s %s: %w", list[i].Name, list[i].Version, err)
		}
		fmt.Fprintf(out, "%s %s: %d files, %s\n", list[i].Name, list[i].Version, len(list[i].Files), list[i].Integrity)
	}
	if text, err = json.MarshalIndent(list, "", "  "); err != nil {
		return err
	}
	for name, text := range got {
		if err := replace(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return replace(filepath.Join(dir, manifestName), append(text, '\n')) // last: it says that the files are those
}

// take adds the package's files to got and notes their sums.
func (p *pinned) take(ctx context.Context, from *source, got map[string][]byte) error {
	if p.Integrity == "" {
		var err error
		if p.Integrity, err = from.integrity(ctx, p.Name, p.Version); err != nil {
			return err
		}
	}
	tarball, err := from.tarball(ctx, p.Name, p.Version)
	if err != nil {
		return err
	}
	if err := check(tarball, p.Integrity); err != nil {
		return err
	}
	files, err := unpack(tarball)
	if err != nil {
		return err
	}
	for name := range p.Files {
		if filepath.Base(name) != name || name == manifestName {
			return fmt.Errorf("%q is no name of a file to keep", name)
		}
		if got[name] != nil {
			return fmt.Errorf("another package has a %s, too", name)
		}
		text, err := pick(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		got[name], p.Files[name] = text, hex.EncodeToString(sum[:])
	}
	return nil
}

// replace writes a file that has its name when it is complete.
func replace(path string, text []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, text, 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}
