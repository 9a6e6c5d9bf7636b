package document

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// skipped are elements whose content is not the page's text.
var skipped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Iframe: true, atom.Object: true,
	atom.Select: true, atom.Button: true, atom.Textarea: true, atom.Nav: true, atom.Math: true, atom.Canvas: true, atom.Audio: true, atom.Video: true,
}

// inline are elements that do not end a paragraph.
var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Cite: true, atom.Code: true, atom.Data: true, atom.Del: true, atom.Dfn: true,
	atom.Em: true, atom.Font: true, atom.I: true, atom.Img: true, atom.Ins: true, atom.Kbd: true, atom.Label: true, atom.Mark: true, atom.Q: true, atom.S: true,
	atom.Samp: true, atom.Small: true, atom.Span: true, atom.Strong: true, atom.Sub: true, atom.Sup: true, atom.Time: true, atom.U: true, atom.Var: true, atom.Wbr: true,
}

// readHTML reads a page. A page of which nothing is left without its navigation is read with it.
func readHTML(body []byte, mediaType string, w *writer) error {
	in, err := charset.NewReader(bytes.NewReader(body), mediaType)
	if err != nil {
		return ErrDamaged
	}
	text, err := io.ReadAll(io.LimitReader(in, 4*MaxBytes))
	if err != nil {
		return ErrDamaged
	}
	for _, nav := range []bool{false, true} {
		p := page{w: w, nav: nav}
		if err := p.read(text); err != nil || len(w.doc.Blocks) > 0 {
			return err
		}
	}
	return nil
}

// page reads the text of an HTML page, element after element, without a tree of them all.
type page struct {
	w    *writer
	nav  bool // its navigation counts
	text strings.Builder
	// skip is the element that is being left out, with its depth among those of its name.
	skip  atom.Atom
	depth int
	// head is the level of the heading that text is of.
	head  atom.Atom
	title bool // text is the page's title
}

func (p *page) read(text []byte) error {
	z := html.NewTokenizer(bytes.NewReader(text))
	z.SetMaxBuf(MaxText)
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return ErrTooMuchText // of one token
			}
			return p.flush()
		case html.TextToken:
			if p.skip == 0 {
				p.text.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, _ := z.TagName()
			if err := p.tag(kind, atom.Lookup(name)); err != nil {
				return err
			}
		}
	}
}

// tag takes an element's beginning or end.
func (p *page) tag(kind html.TokenType, a atom.Atom) error {
	if p.skip != 0 {
		if a == p.skip && kind == html.StartTagToken {
			p.depth++
		} else if a == p.skip && kind == html.EndTagToken {
			if p.depth--; p.depth == 0 {
				p.skip = 0
			}
		}
		return nil
	}
	if inline[a] {
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	if kind != html.StartTagToken {
		return nil
	}
	switch a {
	case atom.Title:
		p.title = true
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.head = a
	default:
		if skipped[a] && !(a == atom.Nav && p.nav) {
			p.skip, p.depth = a, 1
		}
	}
	return nil
}

// flush ends a paragraph, a heading or the title.
func (p *page) flush() error {
	// Text may hold references; the tokenizer has replaced them.
	text := line(p.text.String())
	p.text.Reset()
	head, title := p.head, p.title
	p.head, p.title = 0, false
	switch {
	case text == "":
		return nil
	case title:
		if p.w.doc.Title == "" {
			p.w.doc.Title = text
		}
		return nil
	case head != 0:
		return p.w.head(0, text)
	}
	return p.w.paragraph(0, text)
}
