package document

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// readPDF reads the text of a PDF (ISO 32000-1), in the order in which its pages draw it. The library reads objects,
// filters and encodings; where words, lines and paragraphs end is found here, from places on the page.
func readPDF(body []byte, w *writer) error {
	r, err := pdf.NewReader(bytes.NewReader(repaired(body)), int64(len(repaired(body))))
	if errors.Is(err, pdf.ErrInvalidPassword) || err != nil && strings.Contains(err.Error(), "encryption") {
		return ErrEncrypted // in a way that the library reads without a password, or not at all
	}
	if err != nil {
		return ErrDamaged
	}
	pages, err := leaves(r)
	if err != nil {
		return err
	}
	d := &drawing{fonts: map[string]*font{}, left: MaxText}
	for i, p := range pages {
		d.page = i + 1
		d.draw(p)
		if d.left < 0 {
			return ErrTooMuchText
		}
	}
	w.doc.Pages = len(pages)
	w.doc.Title = r.Trailer().Key("Info").Key("Title").Text()
	return d.write(w)
}

// repaired is a file as the library wants it: with its header at the beginning, its mark at the end, and a version
// that it knows. Programs that read PDF allow for others.
func repaired(body []byte) []byte {
	if at := bytes.Index(body[:min(len(body), 1024)], []byte("%PDF-")); at > 0 {
		body = body[at:]
	}
	if at := bytes.LastIndex(body, []byte("%%EOF")); at >= 0 {
		body = body[:at+len("%%EOF")]
	}
	const version = "%PDF-1.7"
	if len(body) <= len(version) {
		return body
	}
	body = append([]byte(version), body[len(version):]...)
	body[len(version)] = '\n'
	return body
}

// leaves lists the pages of a tree (7.7.3). What a page inherits, the library finds.
func leaves(r *pdf.Reader) ([]pdf.Page, error) {
	var pages []pdf.Page
	visited := 0
	var walk func(v pdf.Value, depth int) error
	walk = func(v pdf.Value, depth int) error {
		if visited++; visited > 4*maxPages || len(pages) > maxPages {
			return ErrTooMuchText
		}
		if depth > 50 {
			return ErrDamaged // a circle
		}
		kids := v.Key("Kids")
		if kids.Kind() != pdf.Array {
			if !v.IsNull() {
				pages = append(pages, pdf.Page{V: v})
			}
			return nil
		}
		for i := range kids.Len() {
			if err := walk(kids.Index(i), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return pages, walk(r.Trailer().Key("Root").Key("Pages"), 0)
}

// row is a line of text as it is drawn.
type row struct {
	page int
	y    float64 // of its baseline, in points from the bottom
	size float64 // of its letters, in points
	text string
}

// drawing collects the rows of all pages.
type drawing struct {
	fonts map[string]*font
	left  int // bytes of text
	page  int
	rows  []row

	text strings.Builder // the row that is being drawn
	y    float64
	size float64
	end  float64 // where its last letter ends, in points from the left
}

// maxForms is how deep forms may stand in forms (8.10).
const maxForms = 8

// draw draws a page. Of one that cannot be read to its end, what was read before counts.
func (d *drawing) draw(p pdf.Page) {
	defer func() {
		_ = recover() // the library panics at what it does not know
		d.flush()
	}()
	if contents := p.V.Key("Contents"); contents.Kind() == pdf.Stream || contents.Kind() == pdf.Array {
		d.run(contents, p.Resources(), identity, 0)
	}
}

// show draws text at a place, whose letters are size high and take width.
func (d *drawing) show(text string, x, y, size, width float64) {
	text = strings.ToValidUTF8(text, "")
	if text == "" || d.left < 0 {
		return
	}
	d.left -= len(text)
	if d.text.Len() > 0 {
		switch {
		case math.Abs(y-d.y) > 0.4*max(size, d.size) || x < d.end-20*max(size, d.size):
			d.flush()
		case x-d.end > 0.17*size && !strings.HasPrefix(text, " "):
			d.text.WriteByte(' ')
		}
	}
	if d.text.Len() == 0 {
		d.y, d.size = y, size
	}
	d.text.WriteString(text)
	d.size, d.end = max(d.size, size), x+width
}

// flush ends a row.
func (d *drawing) flush() {
	if text := line(d.text.String()); text != "" {
		d.rows = append(d.rows, row{d.page, d.y, d.size, text})
	}
	d.text.Reset()
}

// write makes headings and paragraphs of the rows: letters that are larger than most are a heading's, and more room
// than between lines ends a paragraph.
func (d *drawing) write(w *writer) error {
	body := d.usual()
	var p []string
	var err error
	big := false
	for i, r := range d.rows {
		heading := r.size > 1.15*body && utf8.RuneCountInString(r.text) <= maxHeading
		if i > 0 && (heading != big || d.apart(d.rows[i-1], r)) {
			if err = flushRows(w, d.rows[i-1].page, p, big); err != nil {
				return err
			}
			p = p[:0]
		}
		p, big = append(p, r.text), heading
	}
	if len(p) > 0 {
		err = flushRows(w, d.rows[len(d.rows)-1].page, p, big)
	}
	return err
}

// flushRows adds rows that belong together.
func flushRows(w *writer, page int, rows []string, heading bool) error {
	text := joined(rows)
	if heading {
		return w.head(page, text)
	}
	return w.paragraph(page, text)
}

// apart says whether a paragraph ends between two rows.
func (d *drawing) apart(a, b row) bool {
	gap := a.y - b.y
	return a.page != b.page || gap < 0 || gap > 1.7*max(a.size, b.size) || math.Abs(a.size-b.size) > 0.1*a.size
}

// usual is the size that most letters of the document have.
func (d *drawing) usual() float64 {
	letters := map[int]int{}
	for _, r := range d.rows {
		letters[int(math.Round(2*r.size))] += len(r.text)
	}
	most, size := 0, 0
	for s, n := range letters {
		if n > most || n == most && s < size {
			most, size = n, s
		}
	}
	return float64(size) / 2
}

// joined is the text of rows, with words whole that a hyphen divides at the end of one.
func joined(rows []string) string {
	var b strings.Builder
	for i, r := range rows {
		if i == 0 {
			b.WriteString(r)
			continue
		}
		before, _ := strings.CutSuffix(b.String(), "-")
		last, _ := utf8.DecodeLastRuneInString(before)
		first, _ := utf8.DecodeRuneInString(r)
		if len(before) < b.Len() && unicode.IsLetter(last) && unicode.IsLower(first) {
			b.Reset()
			b.WriteString(before)
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(r)
	}
	return b.String()
}
