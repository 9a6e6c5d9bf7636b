package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"go.yaml.in/yaml/v3"
)

// slack is what the disk must have left besides the files: their directories, the manifest.
const slack = 1 << 20 // bytes

// Source is where the files of a model come from: a Web, a directory or an archive.
type Source interface {
	// bring puts the files that are missing into a model's directory.
	bring(ctx context.Context, in *installation, missing []File) error
}

// Request is a model to install.
type Request struct {
	*Manifest
	From Source
	// Accept says who accepts the licence, or fails. It is called when the licence wants that and nobody has yet.
	Accept func() (by string, err error)
	Show   Progress
}

// installation is one in progress.
type installation struct {
	*Manifest
	root    *os.Root // of the model's directory
	counted *meter
}

// acceptance is who accepted a licence, and when.
type acceptance struct {
	Licence string    `yaml:"licence"`
	SHA256  string    `yaml:"sha256"` // of its text
	By      string    `yaml:"by"`
	At      time.Time `yaml:"at"`
}

// Install brings what is missing of a model, or damaged, and returns how many bytes that was. What it has brought stays
// when it fails, and the next attempt goes on with it.
func (s *Store) Install(ctx context.Context, r Request) (brought int64, err error) {
	if r.Manifest, err = s.Resolve(r.Manifest); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return 0, err
	}
	unlock, err := s.lock(r.ID)
	if err != nil {
		return 0, err
	}
	defer unlock()
	top, err := os.OpenRoot(s.Dir)
	if err != nil {
		return 0, err
	}
	defer top.Close()
	dir := path.Join(r.ID, r.Version)
	if err := top.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	// What is still empty goes away again.
	defer func() { _, _ = top.Remove(dir), top.Remove(r.ID) }()
	root, err := top.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	in := &installation{r.Manifest, root, &meter{ctx, r.Show, "checking", 0, r.Bytes()}}
	return in.run(r, s.free)
}

// run is the installation once it has the model's directory for itself.
func (in *installation) run(r Request, free func() (int64, error)) (brought int64, err error) {
	old, complete, _ := keptManifest(in.root)
	complete = complete && old.Ref() == in.Ref()
	if complete && old.sum() != in.sum() {
		return 0, fmt.Errorf("%w: %s is there with other files; give this one another version", ErrDiffers, in.Ref())
	}
	if err := in.accept(r.Accept); err != nil {
		return 0, err
	}
	var missing []File
	for _, f := range in.Files {
		ok, err := f.matches(in.root.FS(), in.counted)
		if err != nil {
			return 0, err
		}
		if !ok {
			missing = append(missing, f)
			brought += f.Bytes - min(f.Bytes, size(in.root, f.Path+partSuffix))
		}
	}
	if complete && len(missing) == 0 {
		return 0, nil
	}
	if left, err := free(); err != nil {
		return 0, err
	} else if left < brought+slack {
		return 0, fmt.Errorf("%w: the disk has %d MB left, %d MB are needed", ErrSpace, left>>20, (brought+slack)>>20+1)
	}
	text, err := in.Encode()
	if err == nil {
		err = write(in.root, manifestName+partSuffix, text)
	}
	if err != nil {
		return 0, err
	}
	in.counted = &meter{ctx: in.counted.ctx, show: r.Show, step: "fetching", all: total(missing)}
	if err := r.From.bring(in.counted.ctx, in, missing); err != nil {
		return 0, err
	}
	return brought, named(in.root, manifestName)
}

// accept has the licence accepted that wants it, once.
func (in *installation) accept(ask func() (by string, err error)) error {
	if !in.Licence.Accept {
		return nil
	}
	var was acceptance
	text, err := in.root.ReadFile(acceptanceName)
	if err == nil && yaml.Unmarshal(text, &was) == nil && was.SHA256 == in.Licence.SHA256 {
		return nil
	}
	by, err := ask()
	if err != nil {
		return err
	}
	text, err = yaml.Marshal(acceptance{in.Licence.Name, in.Licence.SHA256, by, time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		err = write(in.root, acceptanceName+partSuffix, text)
	}
	if err == nil {
		err = named(in.root, acceptanceName)
	}
	return err
}

// receive takes one whole file from a place that has all of it at once.
func (in *installation) receive(f File, copyTo func(*part) error) error {
	p, err := openPart(in.root, f, in.counted)
	if err != nil {
		return err
	}
	defer p.close()
	if err = p.reset(); err == nil {
		err = copyTo(p)
	}
	if err == nil {
		err = p.finish()
	}
	if errors.Is(err, ErrDamaged) {
		_ = p.root.Remove(f.Path + partSuffix) // it is of no use to the next attempt
	}
	return err
}
