package model

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Store is a directory of models. Several processes may use it; those that change the same model exclude each other.
type Store struct {
	Dir       string
	Catalogue []*Manifest // what is known besides what is there
	// Free says how many bytes the disk of a directory has left; nil: asks the system.
	Free func(dir string) (int64, error)
}

// List lists the models of the store and of its catalogue, by their names and versions. It looks at the sizes of files and
// not into them; Verify does.
func (s *Store) List() (all []Model, err error) {
	ids, err := names(s.Dir, idName.MatchString)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		versions, err := names(filepath.Join(s.Dir, id), versionName.MatchString)
		if err != nil {
			return nil, err
		}
		for _, version := range versions {
			all = append(all, s.look(id, version))
		}
	}
	for _, m := range s.Catalogue {
		switch i := slices.IndexFunc(all, func(there Model) bool { return there.Ref() == m.Ref() }); {
		case i >= 0 && (len(all[i].Files) == 0 || all[i].sum() == m.sum()):
			all[i].Manifest = m // its addresses are newer
		case i >= 0:
		case m.Embedded:
			all = append(all, Model{Manifest: m, State: Embedded})
		default:
			all = append(all, Model{Manifest: m, State: Absent, Dir: s.dir(m)})
		}
	}
	slices.SortFunc(all, func(a, b Model) int { return strings.Compare(a.Ref(), b.Ref()) })
	return all, nil
}

// Installed is the model of a name, ID or ID@VERSION, all of whose files are there. Its error is ErrUnknown where there is none,
// and names the versions where there are several.
func (s *Store) Installed(name string) (*Model, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	var found []Model
	var refs []string
	for _, m := range all {
		if m.State == Installed && (m.ID == name || m.Ref() == name) {
			found, refs = append(found, m), append(refs, m.Ref())
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w as %.80s, or it is not installed: see parley models list", ErrUnknown, name)
	case 1:
		return &found[0], nil
	}
	return nil, fmt.Errorf("there is %s: one of them has to be named", strings.Join(refs, " and "))
}

// names lists the directories in dir that are named so; none when there is no dir.
func names(dir string, named func(string) bool) (list []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && named(e.Name()) {
			list = append(list, e.Name())
		}
	}
	return list, err
}

func (s *Store) dir(m *Manifest) string { return filepath.Join(s.Dir, m.ID, m.Version) }

// look finds out how much of a model is there.
func (s *Store) look(id, version string) Model {
	m := Model{Manifest: &Manifest{ID: id, Version: version}, State: Broken}
	m.Dir = s.dir(m.Manifest)
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return m
	}
	defer root.Close()
	kept, complete, err := keptManifest(root)
	if err != nil || kept.ID != id || kept.Version != version {
		return m
	}
	m.Manifest = kept
	if !complete {
		m.State = Partial
	}
	whole := true
	for _, f := range kept.Files {
		if size(root, f.Path) == f.Bytes {
			m.Have += f.Bytes
			continue
		}
		m.Have += min(f.Bytes, size(root, f.Path+partSuffix))
		whole = false
	}
	if complete && whole {
		m.State = Installed
	}
	return m
}

// keptManifest reads the manifest in a model's directory. complete says that all files were there once.
func keptManifest(root *os.Root) (m *Manifest, complete bool, err error) {
	f, err := root.Open(manifestName)
	if complete = err == nil; errors.Is(err, fs.ErrNotExist) {
		f, err = root.Open(manifestName + partSuffix)
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	m, err = ReadManifest(f)
	return m, complete && err == nil, err
}

// size is that of a regular file, else 0.
func size(root *os.Root, name string) int64 {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// Find returns the model that ref names: ID, or ID@VERSION where there are several versions and the catalogue has none of
// them. It fails with ErrUnknown.
func (s *Store) Find(ref string) (*Model, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m Model) bool { return m.ID != ref && m.Ref() != ref })
	switch i := slices.IndexFunc(all, func(m Model) bool { return s.known(m.Ref()) != nil }); {
	case len(all) == 0:
		return nil, fmt.Errorf("%w: %q", ErrUnknown, ref)
	case len(all) == 1:
		return &all[0], nil
	case i >= 0:
		return &all[i], nil
	}
	return nil, fmt.Errorf("%w: there is %s as well as %s", ErrUnknown, all[0].Ref(), all[1].Ref())
}

// known is the catalogue's model of that name and version; nil: it has none.
func (s *Store) known(ref string) *Manifest {
	if i := slices.IndexFunc(s.Catalogue, func(m *Manifest) bool { return m.Ref() == ref }); i >= 0 {
		return s.Catalogue[i]
	}
	return nil
}

// Resolve returns what is installed for a manifest: the catalogue's own where that has the model, so that nobody else says on
// which terms. It fails with ErrDiffers where the catalogue's has other files, and with ErrUnknown without files.
func (s *Store) Resolve(m *Manifest) (*Manifest, error) {
	known := s.known(m.Ref())
	switch {
	case len(m.Files) == 0:
		return nil, fmt.Errorf("%w: %s has lost its manifest; remove it and bring it again", ErrUnknown, m.Ref())
	case known == nil:
		return m, nil
	case known.sum() != m.sum():
		return nil, fmt.Errorf("%w: %s of the catalogue has other files; give yours another version", ErrDiffers, m.Ref())
	}
	return known, nil
}

// lock keeps other processes from changing a model until unlock, or fails with ErrBusy. The file stays: removing it would
// leave its lock with one process and its name with the next.
func (s *Store) lock(id string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.Dir, "."+id+".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s", ErrBusy, id)
	}
	return func() { f.Close() }, nil
}

// Remove deletes what there is of a model.
func (s *Store) Remove(m *Model) error {
	if m.State == Embedded || m.State == Absent {
		return fmt.Errorf("%w in %s: %s is %s", ErrUnknown, s.Dir, m.Ref(), m.State)
	}
	unlock, err := s.lock(m.ID)
	if err != nil {
		return err
	}
	defer unlock()
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(path.Join(m.ID, m.Version)); err != nil {
		return err
	}
	_ = root.Remove(m.ID) // which fails while there are other versions
	return nil
}

// Verify reads all files of a model and returns the paths of those that are missing or damaged.
func (s *Store) Verify(ctx context.Context, m *Model, show Progress) (damaged []string, err error) {
	counted := &meter{ctx, show, "checking", 0, m.Bytes()}
	for _, f := range m.Files {
		ok, err := f.matches(os.DirFS(m.Dir), counted)
		if err != nil {
			return nil, err
		}
		if !ok {
			damaged = append(damaged, f.Path)
		}
	}
	return damaged, nil
}

// free is how many bytes the store's disk has left.
func (s *Store) free() (int64, error) {
	if s.Free != nil {
		return s.Free(s.Dir)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(s.Dir, &disk); err != nil {
		return 0, fmt.Errorf("%s: %w", s.Dir, err)
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}
