package document_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"parley/store/knowledge/document"
)

// read reads a document in a child.
func read(t *testing.T, body []byte, name, mediaType string) *document.Document {
	t.Helper()
	d, err := document.Read(t.Context(), body, name, mediaType)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// shown is a document in one text: its title, then each block with its page; headings stand between "=".
func shown(d *document.Document) string {
	out := []string{string(d.Format) + " " + d.Title}
	for _, b := range d.Blocks {
		text := strings.ReplaceAll(b.Text, "\n", "/")
		if b.IsHeading {
			text = "=" + text + "="
		} else if b.Heading != "" {
			text = b.Heading + ": " + text
		}
		if b.Page > 0 {
			text = fmt.Sprintf("%d %s", b.Page, text)
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func same(t *testing.T, what, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); got != w {
		t.Errorf("%s is read as\n%s\nwant\n%s", what, got, w)
	}
}

// utf16le is a text in UTF-16 with its byte order mark.
func utf16le(text string) []byte {
	b := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}

// TestText: paragraphs of any system and encoding.
func TestText(t *testing.T) {
	same(t, "a text", shown(read(t, []byte("Opening hours:\r\n nine\tto five\r\n\r\n\r\nClosed on  Sunday.\x0c"), "a.txt", "")), "text ", "Opening hours:/nine to five", "Closed on Sunday.")
	same(t, "UTF-16", shown(read(t, utf16le("Größe\n\nnächste"), "a.txt", "")), "text ", "Größe", "nächste")
	same(t, "Windows-1252", shown(read(t, []byte("Gr\xf6\xdfe \x80 5"), "a.txt", "")), "text ", "Größe € 5")
}

// TestMarkdown: headings and paragraphs, without marks.
func TestMarkdown(t *testing.T) {
	const text = "---\nlayout: page\n---\n# Our *shop* #\n\nWe **repair** [bicycles](https://example.com \"x\") of\nall makes. <!-- not\nyet -->\n\n" +
		"Prices\n------\n\n- tube: 9 EUR\n- tyre: `25 EUR`\n\n| Part | Price |\n|---|--:|\n| bell | 5 |\n\n```\n# not a heading\n```\n> A quote\n\n***\n\n### \n![logo](a.png)Done"
	same(t, "Markdown", shown(read(t, []byte(text), "a.md", "")), "markdown Our *shop*", "=Our *shop*=", "Our *shop*: We repair bicycles of/all makes.",
		"=Prices=", "Prices: - tube: 9 EUR/- tyre: 25 EUR", "Prices: | Part | Price |/| bell | 5 |", "Prices: # not a heading/A quote", "Prices: logoDone")
}

// TestHTML: the page's text, without scripts, styles and navigation.
func TestHTML(t *testing.T) {
	const text = `<!DOCTYPE html><html><head><title>Shop &amp; repairs</title><style>p { color: red }</style><script>var a = "<p>no</p>";</script></head>
<body><nav><ul><li>Home<nav>x</nav></li></ul></nav><h1>Opening <b>hours</b></h1><p>Nine to&nbsp;five,<br>not on Sunday.<p>Ring&#33;
<table><tr><td>Monday</td><td>9&ndash;5</td></tr></table><ul><li>one<li>two</ul><select><option>choose</select><div>Last <a href=x>words</a></div></body>`
	want := []string{"html Shop & repairs", "=Opening hours=", "Opening hours: Nine to five,", "Opening hours: not on Sunday.", "Opening hours: Ring!",
		"Opening hours: Monday", "Opening hours: 9–5", "Opening hours: one", "Opening hours: two", "Opening hours: Last words"}
	same(t, "HTML", shown(read(t, []byte(text), "", "")), want...)
	same(t, "HTML in Latin-1", shown(read(t, []byte("<p>Gr\xf6\xdfe"), "a.html", "text/html; charset=iso-8859-1")), "html ", "Größe")
	same(t, "a page of navigation", shown(read(t, []byte("<nav>Home</nav>"), "a.html", "")), "html ", "Home")
}

// docx is a document of these parts.
func docx(t *testing.T, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	wordBegins = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:body>`
	wordEnds   = `</w:body></w:document>`
)

// TestDOCX: paragraphs and headings, whatever the language of the program that names the styles.
func TestDOCX(t *testing.T) {
	body := docx(t, map[string]string{
		"word/styles.xml": `<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
			<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
			<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>`,
		"word/document.xml": wordBegins + `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Opening </w:t></w:r><w:r><w:t>hours</w:t></w:r></w:p>
			<w:p><w:r><w:t xml:space="preserve">Nine &amp; </w:t><w:br/><w:t>five</w:t><w:instrText>PAGE</w:instrText><w:delText>gone</w:delText></w:r></w:p>
			<w:p><w:pPr><w:pStyle w:val="Own"/></w:pPr><w:r><w:t>Prices</w:t></w:r></w:p>
			<w:tbl><w:tr><w:tc><w:p><w:r><w:t>tube</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>9</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
			<w:p><w:r><mc:AlternateContent><mc:Choice><w:t>box</w:t></mc:Choice><mc:Fallback><w:t>box again</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>` + wordEnds,
	})
	same(t, "DOCX", shown(read(t, body, "a.docx", "")), "docx Opening hours", "=Opening hours=", "Opening hours: Nine &/five", "=Prices=", "Prices: tube", "Prices: 9", "Prices: box")
}

// pdfFile is a PDF of these objects, the first of which is the catalogue.
func pdfFile(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, a := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", a)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(content), content)
}

// packed is a stream that is compressed.
func packed(dict, content string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write([]byte(content))
	z.Close()
	return stream(dict+" /Filter /FlateDecode", b.String())
}

const (
	// drawn has a heading, two paragraphs, a word that a hyphen divides, and words without spaces between them.
	drawn = "BT /F1 18 Tf 72 720 Td (Opening hours) Tj ET\n" +
		"BT /F1 10 Tf 12 TL 72 690 Td (We open at nine and close at fi-) Tj T* (ve. On) Tj 40 0 Td (Sundays) Tj -40 -12 Td [(we) -400 (are cl) 20 (osed.)] TJ ET\n" +
		"BT /F1 10 Tf 1 0 0 1 72 600 Tm (Second paragraph.) Tj ET /Form Do"
	helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
)

// book is a PDF of two pages, of which the second is drawn by a form.
func book(stream func(dict, content string) string) []byte {
	return pdfFile("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /Resources << /Font << /F1 5 0 R >> /XObject << /Fm 8 0 R >> >> /MediaBox [0 0 612 792] >>",
		"<< /Type /Page /Parent 2 0 R /Contents 6 0 R >>", "<< /Type /Page /Parent 2 0 R /Contents [7 0 R] >>", helvetica,
		stream("", drawn), stream("", "q 1 0 0 1 0 50 cm /Fm Do Q"), stream("/Type /XObject /Subtype /Form", "BT /F1 10 Tf 72 700 Td (Repairs take two days: \\200 25.) Tj ET"))
}

// TestPDF: words, lines, paragraphs and headings by their places, of plain and of compressed streams.
func TestPDF(t *testing.T) {
	want := []string{"pdf ", "1 =Opening hours=", "1 Opening hours: We open at nine and close at five. On Sundays we are closed.", "1 Opening hours: Second paragraph.",
		"2 Opening hours: Repairs take two days: € 25."}
	for name, body := range map[string][]byte{
		"a PDF": book(stream), "a compressed PDF": book(packed), "PDF 2.0": bytes.Replace(book(stream), []byte("%PDF-1.4"), []byte("%PDF-2.0"), 1),
		"a PDF with more behind it": append(book(stream), bytes.Repeat([]byte("\n"), 500)...),
	} {
		d := read(t, body, "a.pdf", "")
		same(t, name, shown(d), want...)
		if d.Pages != 2 {
			t.Errorf("%s: %d pages", name, d.Pages)
		}
	}
}

// TestUnreadable: what cannot be read fails with a reason, whatever is wrong with it.
func TestUnreadable(t *testing.T) {
	size := 110 << 20
	if document.Raced {
		size = 0
	}
	bomb := docx(t, map[string]string{"word/document.xml": wordBegins + strings.Repeat(" ", size) + wordEnds})
	long := docx(t, map[string]string{"word/document.xml": wordBegins + "<w:p><w:r><w:t>" + strings.Repeat("long text ", size/50) + "</w:t></w:r></w:p>" + wordEnds})
	for _, tt := range []struct {
		what string
		body []byte
		want error
	}{
		{"a picture", []byte("\x89PNG\r\n\x1a\n\x00\x00"), document.ErrUnknownFormat},
		{"a ZIP file", docx(t, map[string]string{"a.txt": "a"}), document.ErrUnknownFormat},
		{"half a ZIP file", docx(t, map[string]string{"word/document.xml": wordBegins})[:40], document.ErrDamaged},
		{"half a document", docx(t, map[string]string{"word/document.xml": wordBegins + "<w:p>"}), document.ErrDamaged},
		{"a ZIP bomb", bomb, document.ErrTooMuchText},
		{"20 MB of text", long, document.ErrTooMuchText},
		{"half a PDF", book(stream)[:300], document.ErrDamaged},
		{"a PDF without text", pdfFile("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 2 0 R >>"), document.ErrNoText},
		{"a PDF whose pages are a circle", pdfFile("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 1 >>"), document.ErrDamaged},
		{"a PDF whose form draws itself", pdfFile("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /XObject << /Fm 4 0 R >> >> >>",
			"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>", stream("/Subtype /Form", "/Fm Do /Fm Do")), document.ErrNoText},
		{"a PDF with a password", locked("/Filter /Standard /V 1 /R 2 /P -4 /O (" + strings.Repeat("o", 32) + ") /U (" + strings.Repeat("u", 32) + ")"), document.ErrEncrypted},
		{"a PDF with a password of AES-256", locked("/Filter /Standard /V 5 /R 6 /Length 256"), document.ErrEncrypted},
		{"nothing", nil, document.ErrNoText},
		{"spaces", []byte(" \n "), document.ErrNoText},
		{"21 MB", make([]byte, document.MaxBytes+1), document.ErrTooLarge},
	} {
		if document.Raced && tt.want == document.ErrTooMuchText {
			continue
		}
		if d, err := document.Read(t.Context(), tt.body, "a", ""); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.what, d, err, tt.want)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := document.Read(gone, []byte("a"), "a.txt", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a reader that has gone: %v", err)
	}
}

// locked is a PDF that a password protects, as its encryption dictionary says.
func locked(encryption string) []byte {
	return bytes.Replace(book(stream), []byte("/Root 1 0 R"), []byte("/Root 1 0 R /ID [(0123456789abcdef) (0123456789abcdef)] /Encrypt << "+encryption+" >>"), 1)
}

// TestTooCostly: a document that takes its reader too long, or too much memory, fails, and the next one is read.
func TestTooCostly(t *testing.T) {
	page := func(content string) []byte {
		return pdfFile("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /XObject << /Fm 4 0 R >> >> >>",
			"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>", content)
	}
	if !document.Raced {
		greedy := page(packed("/Subtype /Form", "BT ("+strings.Repeat("a", 400<<20)+") Tj ET"))
		if _, err := document.Read(t.Context(), greedy, "a.pdf", ""); !errors.Is(err, document.ErrTooCostly) {
			t.Errorf("400 MB in one string: %v", err)
		}
	}
	restore := document.SetPatience(time.Second)
	slow := page(stream("/Subtype /Form", strings.Repeat("/Fm Do ", 50)))
	if _, err := document.Read(t.Context(), slow, "a.pdf", ""); !errors.Is(err, document.ErrTooCostly) {
		t.Errorf("a form that draws itself fifty times: %v", err)
	}
	restore()
	if d := read(t, book(stream), "a.pdf", ""); d.Pages != 2 {
		t.Errorf("afterwards: %+v", d)
	}
}

// FuzzParse: nothing brings a parser down that the child would not report.
func FuzzParse(f *testing.F) {
	formats := []document.Format{document.PDF, document.HTML, document.Markdown, document.Text}
	for i := range formats {
		f.Add(book(stream), uint8(i))
		f.Add([]byte("# a\n\nb<nav><p>c"), uint8(i))
	}
	f.Fuzz(func(t *testing.T, body []byte, format uint8) {
		d, err := document.Parse(body, formats[int(format)%len(formats)], "")
		if err != nil {
			return
		}
		if len(d.Blocks) == 0 || slices.ContainsFunc(d.Blocks, func(b document.Block) bool { return strings.TrimSpace(b.Text) == "" || strings.ContainsRune(b.Text, 0) }) {
			t.Errorf("%+v", d.Blocks)
		}
	})
}
