package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// stageSuffix ends the hidden name of what is not complete.
const stageSuffix = ".parley-partial"

// stage is a directory that gets its name when it is complete.
type stage struct {
	final string // absolute
	path  string // where the work is done
	// inside is set when final is the root of a mounted file system: it cannot be
	// replaced, so the stage is in it and its contents move up.
	inside bool
	owner  *syscall.Stat_t // of final, when it exists
	mode   fs.FileMode     // of final, when it exists; else 0
	lock   *os.File        // the stage, locked: what is not locked was left by a killed process
}

// newStage makes a stage for final, which must be missing or empty.
func newStage(final string) (*stage, error) {
	final, err := filepath.Abs(final)
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(final)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	s := &stage{final: final}
	if err := s.look(parent); err != nil {
		return nil, err
	}
	s.path = filepath.Join(parent, "."+filepath.Base(final)+stageSuffix)
	if s.inside {
		s.path = filepath.Join(final, stageSuffix)
	}
	if err := os.Mkdir(s.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if s.lock, err = os.Open(s.path); err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		s.lock.Close()
		return nil, fmt.Errorf("%w: %s", ErrBusy, s.path)
	}
	left, err := os.ReadDir(s.path)
	for _, e := range left {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.path, e.Name())))
	}
	if err != nil {
		s.lock.Close()
		return nil, err
	}
	return s, nil
}

// look finds out about final.
func (s *stage) look(parent string) error {
	info, err := os.Stat(s.final)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", s.final)
	}
	above, err := os.Stat(parent)
	if err != nil {
		return err
	}
	s.owner, s.mode = info.Sys().(*syscall.Stat_t), info.Mode().Perm()
	s.inside = s.owner.Dev != above.Sys().(*syscall.Stat_t).Dev
	entries, err := os.ReadDir(s.final)
	for _, e := range entries {
		if s.inside && (e.Name() == "lost+found" || e.Name() == stageSuffix) {
			continue
		}
		return fmt.Errorf("%s %w", s.final, ErrNotEmpty)
	}
	return err
}

// wantSpace refuses when the disk has fewer bytes left.
func (s *stage) wantSpace(bytes int64) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(s.path, &disk); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); free < bytes {
		return fmt.Errorf("%w: %s has %d MB left, %d MB are needed", ErrSpace, filepath.Dir(s.path), free>>20, bytes>>20+1)
	}
	return nil
}

// commit gives the stage its name. What is in it has been written to the disk.
func (s *stage) commit() error {
	if s.mode != 0 && !s.inside {
		if err := errors.Join(os.Chmod(s.path, s.mode), s.own(s.path)); err != nil {
			return err
		}
	}
	if err := s.lock.Sync(); err != nil {
		return err
	}
	above := filepath.Dir(s.final)
	if s.inside {
		above = s.final
		if err := s.moveUp(); err != nil {
			return err
		}
	} else {
		// os.Rename replaces no directory, not even an empty one.
		if err := syscall.Rename(s.path, s.final); err != nil {
			return fmt.Errorf("%s: %w", s.final, err)
		}
		s.path = ""
	}
	// It is done; a disk that loses the name after this is beyond us.
	if dir, err := os.Open(above); err == nil {
		_ = dir.Sync()
		dir.Close()
	}
	return nil
}

// moveUp moves everything out of a stage that is inside; the database last, for a
// server makes a new one where none is. What fails is moved back.
func (s *stage) moveUp() (err error) {
	entries, err := os.ReadDir(s.path)
	if err != nil {
		return err
	}
	var moved []string
	move := func(name string) {
		if err == nil {
			if err = os.Rename(filepath.Join(s.path, name), filepath.Join(s.final, name)); err == nil {
				moved = append(moved, name)
			}
		}
	}
	for _, e := range entries {
		if e.Name() != dirCluster {
			move(e.Name())
		}
	}
	for _, e := range entries {
		if e.Name() == dirCluster {
			move(dirCluster)
		}
	}
	if err != nil {
		for _, name := range moved {
			err = errors.Join(err, os.Rename(filepath.Join(s.final, name), filepath.Join(s.path, name)))
		}
	}
	return err
}

// own gives path to whom the final directory belongs, which only root can do.
func (s *stage) own(path string) error {
	if s.owner == nil || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(s.owner.Uid), int(s.owner.Gid))
}

// discard removes the stage; after commit there is none left, or an empty one.
func (s *stage) discard() {
	if s.path != "" {
		_ = os.RemoveAll(s.path) // the next one tries again
	}
	s.lock.Close()
}
