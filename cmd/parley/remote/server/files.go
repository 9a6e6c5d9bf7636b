package server

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/cmd/parley/command"
)

// Output is where a command writes sound: a file that appears when it is complete,
// or standard output.
type Output struct {
	io.Writer
	Path string   // "-": standard output
	file *os.File // nil: not ours
}

// OpenOutput opens path, "-" for standard output. An empty path is standard output
// too, unless that is a terminal: sound is not for reading. What is wrong with path
// is found out here, before anything was paid for.
func OpenOutput(cmd *cobra.Command, path string, asJSON bool) (*Output, error) {
	if path == "" || path == "-" {
		switch {
		case asJSON:
			return nil, command.UsageError("--json and the sound cannot both go to standard output: use --out FILE")
		case command.IsTerminal(cmd.OutOrStdout()):
			return nil, command.UsageError("sound is not written to a terminal: use --out FILE, or a pipe")
		}
		return &Output{Writer: cmd.OutOrStdout(), Path: "-"}, nil
	}
	info, err := os.Stat(path)
	name, flags := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".partial"), os.O_RDWR|os.O_CREATE|os.O_TRUNC
	if err == nil && !info.Mode().IsRegular() { // a device or a pipe takes things as they come
		name, flags = path, os.O_WRONLY
	}
	f, err := os.OpenFile(name, flags, 0o666)
	if err != nil {
		return nil, err
	}
	return &Output{f, path, f}, nil
}

// Finish closes the output; with no fault it gets its name, else it is gone. It
// returns the fault, or that of closing. After the first time it does nothing more.
func (o *Output) Finish(fault error) error {
	f := o.file
	o.file = nil
	if f == nil {
		return fault
	}
	err := errors.Join(fault, f.Close())
	if f.Name() == o.Path {
		return err
	}
	if err == nil {
		return os.Rename(f.Name(), o.Path)
	}
	os.Remove(f.Name()) // what is left of it is hidden, and overwritten the next time
	return err
}

// Abandon drops an output that was not finished.
func (o *Output) Abandon() { _ = o.Finish(context.Canceled) }

// OpenInput opens a file, "-" for standard input.
func OpenInput(cmd *cobra.Command, path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	return os.Open(path)
}

// maxDocument bounds a file that is sent as a document, in bytes: the server takes no larger one.
const maxDocument = 1 << 20

// ReadText reads a file that is sent as a document, "-" for standard input.
func ReadText(cmd *cobra.Command, path string) (string, error) {
	in, err := OpenInput(cmd, path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
	if err == nil && len(text) > maxDocument {
		err = command.UsageError(path + ": the file is larger than a document may be, which is 1 MB")
	}
	return string(text), err
}

// WriteText writes a file, all or nothing.
func (q *Request) WriteText(path, text string) error {
	to, err := OpenOutput(q.Command, path, false)
	if err != nil {
		return err
	}
	if info, fault := os.Stat(path); fault == nil && to.file != nil && info.Mode().IsRegular() {
		err = to.file.Chmod(info.Mode().Perm())
	}
	if err == nil {
		_, err = io.WriteString(to, text)
	}
	return to.Finish(err)
}

var errNoSound = errors.New("the server sent no sound")

// Save writes sound that comes as a whole, and says how many bytes it has.
func Save(show *command.Progress, audio *client.Audio, to io.Writer) (int64, error) {
	defer audio.Close()
	n, err := io.Copy(to, show.Reader("downloading", audio, audio.Size))
	if err == nil && n == 0 {
		err = errNoSound
	}
	return n, err
}
