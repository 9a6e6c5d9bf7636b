// Package document reads documents that people wrote: PDF, DOCX, HTML, Markdown and plain text. What a document is,
// its content says, and where it cannot, its name and media type do.
//
// Everything is parsed in a child process (media/sandbox): this program, started again, without environment, files,
// sockets and privileges, with 600 MB of memory and a minute. A document that brings its parser down, or unpacks to
// more than there is room for, fails by itself. The child's input is the document, its output JSON.
package document

import (
	"bytes"
	"encoding/binary"
	"errors"
	"mime"
	"path"
	"strings"
	"unicode/utf8"
)

// Format is a kind of document.
type Format string

// The formats.
const (
	PDF      Format = "pdf"
	DOCX     Format = "docx"
	HTML     Format = "html"
	Markdown Format = "markdown"
	Text     Format = "text"
)

// mediaTypes are the formats' names on the Internet.
var mediaTypes = map[Format]string{
	PDF: "application/pdf", DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	HTML: "text/html", Markdown: "text/markdown", Text: "text/plain",
}

// MediaType is the format's name on the Internet.
func (f Format) MediaType() string { return mediaTypes[f] }

const (
	// MaxBytes is the largest document.
	MaxBytes = 20 << 20
	// MaxText bounds what is read of one, in bytes of its text.
	MaxText = 10 << 20
	// maxPages bounds those of a PDF.
	maxPages = 5000
)

// Document is what a document says.
type Document struct {
	Format Format  `json:"format"`
	Title  string  `json:"title"` // its own, in one line; empty: it has none
	Pages  int     `json:"pages"` // 0: the format has none
	Blocks []Block `json:"blocks"`
}

// Block is a paragraph, a heading, an item of a list, or a cell of a table, in the order of the document.
type Block struct {
	Page      int    `json:"page,omitempty"`    // from 1; 0: the format has none
	Heading   string `json:"heading,omitempty"` // the last one before it; a heading's is itself
	IsHeading bool   `json:"is_heading,omitempty"`
	Text      string `json:"text"` // not empty; lines where the document has them
}

// Why a document cannot be read.
var (
	ErrUnknownFormat = errors.New("it is no PDF, DOCX, HTML, Markdown or text")
	ErrDamaged       = errors.New("it is damaged")
	ErrEncrypted     = errors.New("a password protects it")
	ErrNoText        = errors.New("there is no text in it; pictures of text are not read")
	ErrTooLarge      = errors.New("it is larger than 20 MB")
	ErrTooMuchText   = errors.New("it has more than 10 MB of text, or more than 5,000 pages")
	ErrTooCostly     = errors.New("reading it takes more than a minute, or more memory than a document may have")
)

// Unreadable says whether an error is one of those above, which its owner may be shown, and not a fault of the machine.
func Unreadable(err error) bool {
	for _, fault := range faults {
		if errors.Is(err, fault) {
			return true
		}
	}
	return errors.Is(err, ErrTooLarge) || errors.Is(err, ErrTooCostly)
}

// faults are the errors that a child reports, by name.
var faults = map[string]error{
	"format": ErrUnknownFormat, "damaged": ErrDamaged, "encrypted": ErrEncrypted, "empty": ErrNoText, "long": ErrTooMuchText,
}

// Sniff finds out what a document is; name and mediaType, which may be empty, decide between formats of plain text.
func Sniff(body []byte, name, mediaType string) (Format, error) {
	head := body[:min(len(body), 1024)]
	switch {
	case bytes.Contains(head, []byte("%PDF-")):
		return PDF, nil
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return DOCX, nil // else its reader says that it is none
	}
	if !plain(head) {
		return "", ErrUnknownFormat
	}
	kind, _, _ := mime.ParseMediaType(mediaType) // what is none is empty
	start := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(string(head), "\ufeff")))
	switch ext := strings.ToLower(path.Ext(name)); {
	case kind == "text/html" || kind == "application/xhtml+xml" || strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html"):
		return HTML, nil
	case ext == ".html" || ext == ".htm" || ext == ".xhtml":
		return HTML, nil
	case kind == "text/markdown" || ext == ".md" || ext == ".markdown":
		return Markdown, nil
	}
	return Text, nil
}

// plain says whether bytes look like text: in UTF-8, in UTF-16 with its mark, or in a set of one byte a letter.
func plain(head []byte) bool {
	if wide(head) != nil {
		return true
	}
	for _, b := range head {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 0x1b {
			return false
		}
	}
	return true
}

// wide is the order of bytes of a text in UTF-16, by its byte order mark, or nil.
func wide(head []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return binary.BigEndian
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return binary.LittleEndian
	}
	return nil
}

// writer collects what a document says, within its bounds.
type writer struct {
	doc     Document
	left    int // bytes
	heading string
}

func newWriter(f Format) *writer { return &writer{doc: Document{Format: f}, left: MaxText} }

// maxHeading is what of a heading stands with its paragraphs, in bytes.
const maxHeading = 200

// head adds a heading.
func (w *writer) head(page int, text string) error {
	text = line(text)
	if text == "" {
		return nil
	}
	w.heading = text
	for len(w.heading) > maxHeading {
		_, last := utf8.DecodeLastRuneInString(w.heading)
		w.heading = w.heading[:len(w.heading)-last]
	}
	return w.add(Block{Page: page, Heading: w.heading, IsHeading: true, Text: text})
}

// paragraph adds text, whose lines stay.
func (w *writer) paragraph(page int, text string) error {
	var lines []string
	for l := range strings.Lines(text) {
		if l = line(l); l != "" {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return w.add(Block{Page: page, Heading: w.heading, Text: strings.Join(lines, "\n")})
}

func (w *writer) add(b Block) error {
	if w.left -= len(b.Text) + len(b.Heading)/8 + 1; w.left < 0 {
		return ErrTooMuchText
	}
	w.doc.Blocks = append(w.doc.Blocks, b)
	return nil
}

// line is a text in one line: valid, without control characters, with single spaces.
func line(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u00a0':
			return ' '
		case r < ' ' || r == 0x7f || r == '\u00ad' || r == '\ufeff' || r == utf8.RuneError:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(text), " ")
}
