package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"parley/store"
)

// format is the number of the manifest's form. A reader refuses higher ones.
const format = 1

// Names of the files of a backup, and in a data directory.
const (
	nameManifest = "manifest.json"
	nameDump     = "database.dump" // pg_dump's custom format
	nameSecret   = "secret"
	nameDemoKey  = "demo-key"
	nameRateCard = "rate-card.yaml"
	dirTasks     = "tasks"
)

// maxManifest bounds what is read as a manifest: a line for each result of a task.
const maxManifest = 64 << 20 // bytes

// Secret says how the master key's file is kept.
type Secret string

// How it is kept.
const (
	SecretIncluded   Secret = "included"   // it is in the backup, if there is one
	SecretLeftOut    Secret = "left_out"   // it was to be left out
	SecretConfigured Secret = "configured" // the key is a setting and not the data directory's
)

// Manifest is what a backup says of itself.
type Manifest struct {
	Format        int          `json:"format"`
	Program       string       `json:"program"` // version that made it
	CreatedAt     time.Time    `json:"created_at"`
	Postgres      int          `json:"postgres"` // major version of the server
	Schema        int64        `json:"schema"`   // number of the last migration
	DatabaseBytes int64        `json:"database_bytes"`
	Totals        store.Totals `json:"totals"` // at the snapshot
	Secret        Secret       `json:"secret"`
	Files         []File       `json:"files"`
}

// File is one file of a backup.
type File struct {
	Name   string `json:"name"` // in the backup, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// Bytes is the size of all files.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// HasSecret says whether the master key is in the backup.
func (m *Manifest) HasSecret() bool { return m.has(nameSecret) }

// HasRateCard says whether a rate card is in the backup, as rate-card.yaml.
func (m *Manifest) HasRateCard() bool { return m.has(nameRateCard) }

func (m *Manifest) has(name string) bool {
	for _, f := range m.Files {
		if f.Name == name {
			return true
		}
	}
	return false
}

func (m *Manifest) save(dir string) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	_, err = copyTo(dir, nameManifest, strings.NewReader(string(b)+"\n"), time.Time{})
	return err
}

// read reads the manifest of a backup. It may be anybody's: nothing in it is
// trusted to stay within the backup's directory.
func read(root *os.Root) (*Manifest, error) {
	f, err := root.Open(nameManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a backup: it has no %s", root.Name(), nameManifest)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &Manifest{}
	if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(m); err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrDamaged, nameManifest, err)
	}
	switch {
	case m.Format > format:
		return nil, fmt.Errorf("%w: its format is %d, this program reads %d", ErrNewer, m.Format, format)
	case m.Format < 1 || m.DatabaseBytes < 0 || !m.has(nameDump):
		return nil, fmt.Errorf("%w: %s is not complete", ErrDamaged, nameManifest)
	case m.Schema > store.SchemaVersion():
		return nil, fmt.Errorf("%w: its schema is %d, this program's %d: use parley %s or later", ErrNewer, m.Schema, store.SchemaVersion(), m.Program)
	}
	seen := map[string]bool{}
	for _, f := range m.Files {
		if !known(f.Name) || seen[f.Name] || f.Bytes < 0 {
			return nil, fmt.Errorf("%w: %s names %q", ErrDamaged, nameManifest, f.Name)
		}
		seen[f.Name] = true
	}
	return m, nil
}

func known(name string) bool {
	switch name {
	case nameDump, nameSecret, nameDemoKey, nameRateCard:
		return true
	}
	base, ok := strings.CutPrefix(name, dirTasks+"/")
	return ok && fs.ValidPath(base) && base != "." && !strings.Contains(base, "/")
}

// check compares every file with the manifest.
func (m *Manifest) check(root *os.Root, p Progress, stop func() error) error {
	var done int64
	all := m.Bytes()
	for _, f := range m.Files {
		in, err := open(root, f)
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, reader{in, func(n int) error {
			done += int64(n)
			p.tell("checking", done, all)
			return stop()
		}})
		in.Close()
		if err != nil {
			return err
		}
		if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
			return fmt.Errorf("%w: %s has another checksum", ErrDamaged, f.Name)
		}
	}
	return nil
}

// open opens a regular file of the size that the manifest says.
func open(root *os.Root, f File) (*os.File, error) {
	info, err := root.Stat(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing", ErrDamaged, f.Name)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != f.Bytes {
		return nil, fmt.Errorf("%w: %s has another size", ErrDamaged, f.Name)
	}
	return root.Open(f.Name)
}

// reader calls after each read, which may end the reading.
type reader struct {
	io.Reader
	after func(n int) error
}

func (r reader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if stop := r.after(n); stop != nil {
		return n, stop
	}
	return n, err
}
