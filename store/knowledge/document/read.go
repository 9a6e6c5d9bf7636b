package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"parley/media/sandbox"
)

// marker is the argument with which this program starts again to read a document.
const marker = "parley-read-document"

// patience bounds a child, in time that passes and in processor time. Tests have less.
var patience = time.Minute

const (
	// niceness keeps documents, which can wait, from delaying the audio of calls.
	niceness = 10
	// collectAt has the child collect garbage well before it is over the limit of its memory.
	collectAt = 400 << 20
	// maxAnswer bounds what a child may say: all text that it may read, with quotes and marks of paragraphs.
	maxAnswer = 6 * MaxText
	// pipesClose is how long the pipes of a child that has ended may stay open.
	pipesClose = 5 * time.Second
)

// answer is what a child says.
type answer struct {
	Document *Document `json:"document,omitempty"`
	Fault    string    `json:"fault,omitempty"` // a name of faults
}

// Read reads a document in a child process. Name and mediaType, which may be empty, decide between formats of plain
// text. An error is one of this package's, unless the machine or ctx is at fault. The caller bounds how many
// documents are read at once.
func Read(ctx context.Context, body []byte, name, mediaType string) (*Document, error) {
	if len(body) > MaxBytes {
		return nil, ErrTooLarge
	}
	format, err := Sniff(body, name, mediaType)
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, body, format, mediaType)
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		return nil, fmt.Errorf("document: the answer of a child: %w", err)
	}
	switch fault, known := faults[a.Fault]; {
	case known:
		return nil, fault
	case a.Document == nil:
		return nil, errors.New("document: a child has no answer")
	}
	return a.Document, nil
}

// run has a child read a document and returns its answer.
func run(ctx context.Context, body []byte, format Format, mediaType string) ([]byte, error) {
	// The kernel ends the child with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, ErrTooCostly)
	defer cancel()
	cmd, err := sandbox.Command(ctx, sandbox.Config{Path: path, Args: []string{marker, string(format), mediaType}, Nice: niceness,
		Limits: sandbox.Limits{Memory: maxMemory, CPU: patience}})
	if err != nil {
		return nil, err
	}
	cmd.WaitDelay = pipesClose
	cmd.Stdin = bytes.NewReader(body)
	out, said := &bounded{left: maxAnswer}, &bounded{left: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, said
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		if e.ExitCode() == sandbox.NotStarted {
			return nil, fmt.Errorf("document: %s", strings.TrimSpace(said.String()))
		}
		return nil, ErrTooCostly // the kernel, or the runtime without memory, ended it
	}
	return out.Bytes(), err
}

// bounded keeps the first bytes that are written to it and drops the rest, so that its writer does not wait.
type bounded struct {
	bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	b.Buffer.Write(p[:n])
	return len(p), nil
}

// init is where a child ends: it reads the document that is its input.
func init() {
	if len(os.Args) != 4 || os.Args[1] != marker {
		return
	}
	runtime.GOMAXPROCS(1)
	debug.SetMemoryLimit(collectAt)
	var a answer
	doc, err := parse(Format(os.Args[2]), os.Args[3])
	for name, fault := range faults {
		if errors.Is(err, fault) {
			a.Fault = name
		}
	}
	if err == nil {
		a.Document = doc
	} else if a.Fault == "" {
		a.Fault = "damaged"
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func parse(format Format, mediaType string) (*Document, error) {
	body, err := io.ReadAll(io.LimitReader(os.Stdin, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	return Parse(body, format, mediaType)
}

// Parse reads a document in this process. It is for documents that are trusted; a library that panics is ErrDamaged.
func Parse(body []byte, format Format, mediaType string) (doc *Document, err error) {
	defer func() {
		if recover() != nil {
			doc, err = nil, ErrDamaged
		}
	}()
	w := newWriter(format)
	switch format {
	case PDF:
		err = readPDF(body, w)
	case DOCX:
		err = readDOCX(body, w)
	case HTML:
		err = readHTML(body, mediaType, w)
	case Markdown:
		err = readMarkdown(decode(body), w)
	case Text:
		err = readText(decode(body), w)
	default:
		err = ErrUnknownFormat
	}
	if err != nil {
		return nil, err
	}
	if len(w.doc.Blocks) == 0 {
		return nil, ErrNoText
	}
	w.doc.Title = line(w.doc.Title)
	return &w.doc, nil
}
