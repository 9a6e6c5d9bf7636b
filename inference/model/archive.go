package model

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// Directory is a directory that has the files of a model by their paths. They may be links to files elsewhere.
type Directory string

// Manifest is the one in the directory; nil when there is none.
func (d Directory) Manifest() (*Manifest, error) {
	f, err := os.DirFS(string(d)).Open(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadManifest(f)
}

func (d Directory) bring(_ context.Context, in *installation, missing []File) error {
	for _, f := range missing {
		if err := in.receive(f, func(p *part) error { return f.copyTo(p, os.DirFS(string(d))) }); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// Pack writes a model as an archive: a tar with the manifest first, then the files. It fails with ErrDamaged after a file
// that is damaged; then the archive is worth nothing.
func (s *Store) Pack(ctx context.Context, m *Model, w io.Writer, show Progress) error {
	if m.State != Installed {
		return fmt.Errorf("%s is %s, not %s", m.Ref(), m.State, Installed)
	}
	text, err := m.Encode()
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	add := func(name string, bytes int64, copyTo func(io.Writer) error) error {
		if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: bytes}); err != nil {
			return err
		}
		return copyTo(out)
	}
	if err := add(manifestName, int64(len(text)), func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	counted := &meter{ctx, show, "packing", 0, m.Bytes()}
	for _, f := range m.Files {
		sum := sha256.New()
		err := add(f.Path, f.Bytes, func(w io.Writer) error { return f.copyTo(io.MultiWriter(w, sum, counted), os.DirFS(m.Dir)) })
		if err == nil && hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
			err = fmt.Errorf("%w: its SHA-256 is another", ErrDamaged)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return out.Close()
}

// Archive is what Pack wrote, while it is read. That happens once.
type Archive struct {
	Manifest *Manifest
	tar      *tar.Reader
}

// OpenArchive begins to read an archive.
func OpenArchive(r io.Reader) (*Archive, error) {
	a := &Archive{tar: tar.NewReader(r)}
	h, err := a.tar.Next()
	if err != nil || h.Typeflag != tar.TypeReg || h.Name != manifestName {
		return nil, fmt.Errorf("this is no archive of a model: it does not begin with a tar's %s", manifestName)
	}
	a.Manifest, err = ReadManifest(a.tar)
	return a, err
}

// bring takes what is missing out of the archive. What is in it is a file of the model, once, or ends the installation.
func (a *Archive) bring(_ context.Context, in *installation, missing []File) error {
	left := slices.Clone(in.Files)
	for {
		h, err := a.tar.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		i := slices.IndexFunc(left, func(f File) bool { return f.Path == h.Name })
		if i < 0 || h.Typeflag != tar.TypeReg || h.Size != left[i].Bytes {
			return fmt.Errorf("%w: the archive has %.80q", ErrDamaged, h.Name)
		}
		f := left[i]
		left = slices.Delete(left, i, i+1)
		if !slices.ContainsFunc(missing, func(m File) bool { return m.Path == f.Path }) {
			continue
		}
		copied := func(p *part) error { _, err := io.Copy(p, a.tar); return err }
		if err := in.receive(f, copied); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: the archive has no %s", ErrDamaged, left[0].Path)
	}
	return nil
}
