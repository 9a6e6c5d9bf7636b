// Package backup copies everything a server keeps into a directory, and back: the
// database as one consistent snapshot, and the files beside it that its rows speak
// of. A manifest says what is there, with a checksum of each file and what the
// database held, so that a restore can tell whether it got all of it.
//
// Both directions work in a directory of another name beside the one that was asked
// for and rename it when everything is complete; whatever goes wrong before leaves
// nothing. PostgreSQL's own programs read and write the database. A password goes to
// them by their environment, never by arguments.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"parley/store"
	"parley/store/private"
)

// Why there is no backup, or nothing is restored.
var (
	ErrNothing  = errors.New("there are no accounts in the database")
	ErrNotEmpty = errors.New("is not empty")
	ErrDamaged  = errors.New("the backup is damaged")
	ErrSpace    = errors.New("there is too little space")
	ErrNewer    = errors.New("the backup is from a newer version")
	ErrBusy     = errors.New("another backup or restore works there")
	ErrDiffers  = errors.New("what was restored is not what was backed up")
)

// Database is where a database is.
type Database struct {
	URL string
	// Private is the one that private runs: no PG* variable of ours reaches it.
	Private bool
}

// Source is what to back up.
type Source struct {
	Database Database
	DataDir  string // for the files beside the database; need not exist
	// Secret is how the master key's file is kept.
	Secret Secret
	// RateCard is the path of the configured card; empty: the built-in one.
	RateCard string
	Program  string // version of this program
	Now      time.Time
	// Progress gets how much of all bytes of a step is done. It may be nil.
	Progress Progress
}

// Progress says how much of a step's bytes is done.
type Progress func(step string, done, all int64)

func (p Progress) tell(step string, done, all int64) {
	if p != nil {
		p(step, done, all)
	}
}

// slack is for what is not counted: directories, the manifest, rounding to blocks.
const slack = 16 << 20 // bytes

// Write makes a backup in dir, which must not exist or be empty. Servers may go on
// working. When it fails, dir is as it was.
func Write(ctx context.Context, src Source, dir string) (*Manifest, error) {
	s, err := newStage(dir)
	if err != nil {
		return nil, err
	}
	defer s.discard()
	if s.inside {
		return nil, fmt.Errorf("%s is where a file system is mounted: name a directory in it", dir)
	}
	db, err := store.Open(ctx, src.Database.URL)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	m := &Manifest{Format: format, Program: src.Program, CreatedAt: src.Now.UTC().Truncate(time.Second), Secret: src.Secret}
	err = db.Snapshot(ctx, func(snap store.Snapshot) error {
		m.Postgres, m.Schema, m.DatabaseBytes, m.Totals = snap.Postgres, snap.Schema, snap.Bytes, snap.Totals
		beside, err := besides(src)
		if err != nil {
			return err
		}
		// A dump is compressed and has no indexes: it is smaller than its database.
		need := snap.Bytes + slack
		for _, f := range beside {
			need += f.size
		}
		if err := s.wantSpace(need); err != nil {
			return err
		}
		if err := m.dump(ctx, src, s, snap); err != nil {
			return err
		}
		// After the snapshot began, so that whatever it speaks of has been written.
		return m.copyAll(ctx, src, s, beside)
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNothing
	}
	if err != nil {
		return nil, because(ctx, err)
	}
	if err := m.save(s.path); err != nil {
		return nil, err
	}
	if err := because(ctx, ctx.Err()); err != nil {
		return nil, err
	}
	return m, s.commit()
}

// because is err, or what ended ctx when that is why.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (m *Manifest) dump(ctx context.Context, src Source, s *stage, snap store.Snapshot) error {
	program, _, err := private.Client("pg_dump", snap.Postgres)
	if err != nil {
		return err
	}
	out, err := create(s.path, nameDump, time.Time{})
	if err != nil {
		return err
	}
	defer out.close()
	out.progress = func(done int64) { src.Progress.tell("database", done, snap.Bytes) }
	args := []string{"--format=custom", "--snapshot=" + snap.ID, "--no-owner", "--no-privileges", "--no-password", "--lock-wait-timeout=60000",
		"--no-unlogged-table-data"} // it is worth nothing after the moment
	if err := src.Database.run(ctx, program, args, nil, out); err != nil {
		return err
	}
	f, err := out.finish()
	m.Files = append(m.Files, f)
	return err
}

// besides are the files that belong to the database. One that goes away while we
// look has expired.
func besides(src Source) (list []beside, err error) {
	add := func(name, path string) error {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) && path != src.RateCard {
			return nil
		}
		if err == nil && info.Mode().IsRegular() {
			list = append(list, beside{name, path, info.Size(), info.ModTime()})
		}
		return err
	}
	if src.Secret == SecretIncluded {
		err = add(nameSecret, filepath.Join(src.DataDir, nameSecret))
	}
	if src.Secret != SecretLeftOut {
		err = errors.Join(err, add(nameDemoKey, filepath.Join(src.DataDir, nameDemoKey)))
	}
	if src.RateCard != "" {
		err = errors.Join(err, add(nameRateCard, src.RateCard))
	}
	tasks, readErr := os.ReadDir(filepath.Join(src.DataDir, dirTasks))
	if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
		err = errors.Join(err, readErr)
	}
	for _, e := range tasks {
		if !strings.HasSuffix(e.Name(), partSuffix) {
			err = errors.Join(err, add(dirTasks+"/"+e.Name(), filepath.Join(src.DataDir, dirTasks, e.Name())))
		}
	}
	return list, err
}

// partSuffix marks results that are still being written.
const partSuffix = ".part"

// beside is a file to copy.
type beside struct {
	name, path string
	size       int64
	changed    time.Time
}

func (m *Manifest) copyAll(ctx context.Context, src Source, s *stage, list []beside) error {
	var done, all int64
	for _, f := range list {
		all += f.size
	}
	for _, f := range list {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		in, err := os.Open(f.path)
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(f.name, dirTasks+"/") {
			continue
		}
		if err != nil {
			return err
		}
		copied, err := copyTo(s.path, f.name, in, f.changed)
		in.Close()
		if err != nil {
			return err
		}
		m.Files = append(m.Files, copied)
		done += f.size
		src.Progress.tell("files", done, all)
	}
	return nil
}

// copyTo writes a file below dir that only its owner can read.
func copyTo(dir, name string, in io.Reader, changed time.Time) (File, error) {
	out, err := create(dir, name, changed)
	if err != nil {
		return File{}, err
	}
	defer out.close()
	if _, err := io.Copy(out, in); err != nil {
		return File{}, err
	}
	return out.finish()
}

// output is a file that is being written, its checksum and its size.
type output struct {
	f        *os.File
	name     string
	changed  time.Time // to set when it is complete; zero: now
	sum      hash.Hash
	size     int64
	err      error // of the first write that failed
	progress func(done int64)
}

func create(dir, name string, changed time.Time) (*output, error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return &output{f: f, name: name, changed: changed, sum: sha256.New(), progress: func(int64) {}}, err
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.f.Write(b)
	if err != nil {
		o.err = err
	}
	o.sum.Write(b[:n]) // never fails
	o.size += int64(n)
	o.progress(o.size)
	return n, err
}

// finish puts it on the disk.
func (o *output) finish() (File, error) {
	err := errors.Join(o.err, o.f.Sync())
	if err == nil && !o.changed.IsZero() {
		err = os.Chtimes(o.f.Name(), o.changed, o.changed)
	}
	return File{o.name, o.size, hex.EncodeToString(o.sum.Sum(nil))}, err
}

func (o *output) close() { o.f.Close() }
