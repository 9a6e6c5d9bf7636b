package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Bounds of a stream. A token's event is some 300 bytes; the longest are those that repeat the request, with its prompt and tools.
const (
	maxLine   = 1 << 20
	maxStream = 32 << 20
)

// Faults of a stream of events.
var (
	ErrLine   = errors.New("a line longer than 1 MB")
	ErrStream = errors.New("a stream longer than 32 MB")
)

// Events reads the data of server-sent events (WHATWG HTML, section 9.2). Every
// event of the vendors is one line, so lines need not be joined.
type Events struct {
	in    *bufio.Reader
	line  []byte
	total int
}

// NewEvents reads what r streams.
func NewEvents(r io.Reader) *Events { return &Events{in: bufio.NewReaderSize(r, 16<<10)} }

// Next returns the next data, valid until the call after, or io.EOF. Comments,
// other fields and empty lines are passed over.
func (e *Events) Next() ([]byte, error) {
	for {
		line, err := e.readLine()
		if err != nil && err != io.EOF {
			return nil, err
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if data = bytes.TrimSpace(data); len(data) > 0 {
				return data, nil // an error comes again with the next call
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

func (e *Events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		part, err := e.in.ReadSlice('\n')
		e.line = append(e.line, part...)
		e.total += len(part)
		switch {
		case len(e.line) > maxLine:
			return nil, ErrLine
		case e.total > maxStream:
			return nil, ErrStream
		case err == bufio.ErrBufferFull:
			continue
		}
		return e.line, err
	}
}
