package model

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
)

// final is an error that another attempt would meet again.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// matches reads the file below dir and says whether it is there and right.
func (f *File) matches(dir fs.FS, counted *meter) (bool, error) {
	sum := sha256.New()
	err := f.copyTo(io.MultiWriter(sum, counted), dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
		return false, nil
	}
	return err == nil && hex.EncodeToString(sum.Sum(nil)) == f.SHA256, err
}

// copyTo reads the file below dir, which must be one of the right size.
func (f *File) copyTo(w io.Writer, dir fs.FS) error {
	file, err := dir.Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() != f.Bytes) {
		err = fmt.Errorf("%w: it is no file of %d bytes", ErrDamaged, f.Bytes)
	}
	if err == nil {
		_, err = io.Copy(w, file)
	}
	return err
}

// part is a file that is being brought: NAME.part, until it is complete.
type part struct {
	File
	root    *os.Root
	file    *os.File
	sum     hash.Hash // of what is there
	have    int64     // bytes that are there
	counted *meter
}

// openPart opens a file to bring, with what an earlier attempt left of it.
func openPart(root *os.Root, f File, counted *meter) (*part, error) {
	if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
		return nil, err
	}
	file, err := root.OpenFile(f.Path+partSuffix, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	p := &part{f, root, file, sha256.New(), 0, counted}
	p.have, err = io.Copy(io.MultiWriter(p.sum, counted), file)
	if err == nil && p.have >= f.Bytes && !p.right() {
		err = p.reset()
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// Write adds to the file. It fails for good when that gets too long, or the disk is full.
func (p *part) Write(b []byte) (int, error) {
	if p.have+int64(len(b)) > p.Bytes {
		return 0, final{fmt.Errorf("%w: it has more than %d bytes", ErrDamaged, p.Bytes)}
	}
	n, err := p.file.Write(b)
	p.sum.Write(b[:n]) // never fails
	p.have += int64(n)
	if err != nil {
		return n, final{err}
	}
	return p.counted.Write(b)
}

// reset begins the file anew.
func (p *part) reset() error {
	p.counted.add(-p.have)
	p.have = 0
	p.sum.Reset()
	_, err := p.file.Seek(0, io.SeekStart)
	if err := errors.Join(err, p.file.Truncate(0)); err != nil {
		return final{err}
	}
	return nil
}

// right says whether all of the file is there.
func (p *part) right() bool {
	return p.have == p.Bytes && hex.EncodeToString(p.sum.Sum(nil)) == p.SHA256
}

// finish gives the file its name once it is on the disk.
func (p *part) finish() error {
	if !p.right() {
		return fmt.Errorf("%w: its SHA-256 is another", ErrDamaged)
	}
	if err := errors.Join(p.file.Sync(), p.file.Close()); err != nil {
		return err
	}
	_ = p.root.Remove(p.Path + partSuffix + tagSuffix) // not each has one
	return named(p.root, p.Path)
}

// close lets go of the file; after finish it does nothing.
func (p *part) close() { p.file.Close() }

// write writes a file and has the disk keep it.
func write(root *os.Root, name string, text []byte) error {
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}

// named takes .part off the name of a file that is complete, and has the disk keep that.
func named(root *os.Root, name string) error {
	if err := root.Rename(name+partSuffix, name); err != nil {
		return err
	}
	dir, err := root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
