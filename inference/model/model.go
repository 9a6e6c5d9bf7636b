// Package model keeps the files of neural models: it knows what a model is, brings its files, and says where they lie.
//
// A manifest says what a model is and names each of its files with its size and SHA-256. A store has them in
// DIR/ID/VERSION, beside the manifest, which gets its name there when all files are complete: a directory whose manifest
// still ends in .part was left by something that was interrupted, and a later attempt goes on with it.
//
// What brings files is not trusted, be it a server, a mirror, an archive or a directory. A file gets its name when its size
// and SHA-256 are those of the manifest, and nothing is written outside of the model's directory.
package model

import (
	"context"
	"errors"
)

// Why something was not done.
var (
	ErrManifest = errors.New("the manifest is wrong")
	ErrUnknown  = errors.New("there is no such model")
	ErrDiffers  = errors.New("another model has that name and version")
	ErrLicence  = errors.New("the licence was not accepted")
	ErrSpace    = errors.New("there is too little space")
	ErrBusy     = errors.New("another command works on this model")
	ErrDamaged  = errors.New("this is not what the manifest names")
)

// State says how much of a model is there.
type State string

// The states of a model.
const (
	Embedded  State = "embedded"  // it is part of the program
	Absent    State = "absent"    // the catalogue has it, and nothing else
	Partial   State = "partial"   // some of it is there, and an installation goes on with that
	Installed State = "installed" // all files are there, in their sizes
	Broken    State = "broken"    // it was installed and is no longer, or nobody knows what it is
)

// Model is a model and how much of it is there.
type Model struct {
	*Manifest
	State State
	Have  int64  // bytes of its files on the disk
	Dir   string // where its files are, or will be; empty: in the program
}

// Progress gets how many of all bytes of a step are done. The same goroutine calls it that began the work. It may be nil.
type Progress func(step string, done, all int64)

// meter counts the bytes of one step, shows them, and ends it with its context.
type meter struct {
	ctx       context.Context
	show      Progress
	step      string
	done, all int64
}

// Write counts b.
func (m *meter) Write(b []byte) (int, error) {
	m.add(int64(len(b)))
	return len(b), context.Cause(m.ctx)
}

func (m *meter) add(n int64) {
	if m.done += n; m.show != nil {
		m.show(m.step, m.done, m.all)
	}
}
