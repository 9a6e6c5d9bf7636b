package document

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// maxUnpacked bounds what is read of one file of a DOCX; what is longer is no text of 10 MB.
const maxUnpacked = 100 << 20

// readDOCX reads the paragraphs of a document in WordprocessingML (ECMA-376, part 1, 17).
func readDOCX(body []byte, w *writer) error {
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return ErrDamaged
	}
	styles := map[string]bool{}
	if f, err := z.Open("word/styles.xml"); err == nil {
		headings(f, styles) // without them headings are paragraphs
		f.Close()
	}
	f, err := z.Open("word/document.xml")
	if err != nil {
		return ErrUnknownFormat // a ZIP file of something else
	}
	defer f.Close()
	r := &docx{w: w, styles: styles}
	return r.read(bound(f))
}

// bound has a reader fail where it unpacks to more than a document may have.
func bound(r io.Reader) io.Reader { return &unpacked{r, maxUnpacked} }

type unpacked struct {
	r    io.Reader
	left int64
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if u.left -= int64(n); u.left < 0 {
		return 0, ErrTooMuchText
	}
	return n, err
}

// attribute is the value of one of an element, in any namespace.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// headings notes the identifiers of styles that are headings: programs name them in their user's language.
func headings(f io.Reader, styles map[string]bool) {
	d := xml.NewDecoder(bound(f))
	id := ""
	for {
		t, err := d.Token()
		if err != nil {
			return
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "style":
			id = attribute(e, "styleId")
		case "name":
			if n := strings.ToLower(attribute(e, "val")); strings.HasPrefix(n, "heading ") || n == "title" {
				styles[id] = true
			}
		case "outlineLvl":
			styles[id] = attribute(e, "val") != "9" // that of plain text
		}
	}
}

// docx reads the text of a document, element after element.
type docx struct {
	w       *writer
	styles  map[string]bool // those of headings
	text    strings.Builder
	reads   bool // within w:t
	heading bool // the paragraph is one
	skip    int  // depth within what stands there a second time, for older programs
}

func (r *docx) read(in io.Reader) error {
	d := xml.NewDecoder(in)
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return r.end()
		}
		if errors.Is(err, ErrTooMuchText) {
			return err
		}
		if err != nil {
			return ErrDamaged
		}
		switch t := t.(type) {
		case xml.StartElement:
			err = r.begin(t)
		case xml.EndElement:
			err = r.close(t.Name.Local)
		case xml.CharData:
			if r.reads && r.skip == 0 {
				r.text.Write(t)
			}
		}
		if err != nil {
			return err
		}
	}
}

func (r *docx) begin(e xml.StartElement) error {
	if r.skip > 0 || e.Name.Local == "Fallback" {
		r.skip++
		return nil
	}
	switch e.Name.Local {
	case "p":
		return r.end() // that of a text box stands within another
	case "pStyle":
		id := attribute(e, "val")
		r.heading = r.heading || r.styles[id] || len(r.styles) == 0 && strings.HasPrefix(strings.ToLower(id), "heading")
	case "outlineLvl":
		r.heading = r.heading || attribute(e, "val") != "9"
	case "t":
		r.reads = true
	case "tab":
		r.text.WriteByte(' ')
	case "br", "cr":
		r.text.WriteByte('\n')
	case "noBreakHyphen":
		r.text.WriteByte('-')
	}
	return nil
}

func (r *docx) close(name string) error {
	if r.skip > 0 {
		r.skip--
		return nil
	}
	switch name {
	case "t":
		r.reads = false
	case "p":
		return r.end()
	}
	return nil
}

// end ends a paragraph.
func (r *docx) end() error {
	text, heading := r.text.String(), r.heading
	r.text.Reset()
	r.heading = false
	if !heading {
		return r.w.paragraph(0, text)
	}
	if r.w.doc.Title == "" {
		r.w.doc.Title = text
	}
	return r.w.head(0, text)
}
