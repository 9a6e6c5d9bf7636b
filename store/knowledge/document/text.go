package document

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// decode is a text in UTF-8. What is neither that nor UTF-16 is taken for Windows-1252, which files that are older are in.
func decode(body []byte) string {
	if order := wide(body); order != nil {
		units := make([]uint16, 0, len(body)/2)
		for b := body[2:]; len(b) >= 2; b = b[2:] {
			units = append(units, order.Uint16(b))
		}
		return string(utf16.Decode(units))
	}
	if body = bytes.TrimPrefix(body, []byte("\ufeff")); utf8.Valid(body) {
		return string(body)
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(body)
	if err != nil {
		return strings.ToValidUTF8(string(body), "")
	}
	return string(text)
}

// lines are those of a text, of any system.
func lines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n").Replace(text), "\n")
}

// readText reads paragraphs, between which lines are empty.
func readText(text string, w *writer) error {
	var p []string
	for _, l := range append(lines(text), "") {
		if strings.TrimSpace(l) != "" {
			p = append(p, l)
			continue
		}
		if err := w.paragraph(0, strings.Join(p, "\n")); err != nil {
			return err
		}
		p = p[:0]
	}
	return nil
}

var (
	atxHeading = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	underline  = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	fence      = regexp.MustCompile("^ {0,3}(```|~~~)")
	ruler      = regexp.MustCompile(`^ {0,3}([-*_])(?:[ \t]*([-*_])){2,}[ \t]*$`)
	tableRule  = regexp.MustCompile(`^[ \t]*\|?[ \t:|-]*-[ \t:|-]*$`)
	quoteMark  = regexp.MustCompile(`^ {0,3}(?:>[ \t]?)+`)
	mdComment  = regexp.MustCompile(`(?s)<!--.*?-->`)
	mdTag      = regexp.MustCompile(`</?[A-Za-z][^<>\n]*>`)
	mdImage    = regexp.MustCompile(`!\[([^\]]*)\]\([^()\s]*(?:[ \t]+"[^"]*")?\)`)
	mdLink     = regexp.MustCompile(`\[([^\]]+)\](?:\([^()\s]*(?:[ \t]+"[^"]*")?\)|\[[^\]]*\])`)
	mdStrong   = regexp.MustCompile(`(\*\*|__|~~)([^\s*_~](?:[^\n]*?[^\s*_~])?)(\*\*|__|~~)`)
	mdCode     = regexp.MustCompile("`+([^`]+)`+")
)

// readMarkdown reads headings and paragraphs (CommonMark), and leaves the marks out.
func readMarkdown(text string, w *writer) error {
	all := lines(mdComment.ReplaceAllString(text, ""))
	if len(all) > 0 && strings.TrimRight(all[0], " \t") == "---" { // what programs of sites keep at the top
		for i := 1; i < len(all); i++ {
			if strings.TrimRight(all[i], " \t") == "---" {
				all = all[i+1:]
				break
			}
		}
	}
	var p []string
	var err error
	flush := func() {
		if err == nil {
			err = w.paragraph(0, unmarked(strings.Join(p, "\n")))
		}
		p = p[:0]
	}
	head := func(text string) {
		if err == nil {
			text = unmarked(text)
			if w.doc.Title == "" {
				w.doc.Title = text
			}
			err = w.head(0, text)
		}
	}
	fenced := false
	for _, l := range all {
		switch m := atxHeading.FindStringSubmatch(l); {
		case fence.MatchString(l):
			fenced = !fenced
		case fenced:
			p = append(p, l)
		case m != nil:
			flush()
			head(m[2])
		case len(p) == 1 && underline.MatchString(l):
			text := p[0]
			p = p[:0]
			head(text)
		case strings.TrimSpace(l) == "" || ruler.MatchString(l):
			flush()
		case strings.Contains(l, "|") && tableRule.MatchString(l):
		default:
			p = append(p, quoteMark.ReplaceAllString(l, ""))
		}
	}
	flush()
	return err
}

// unmarked is a text without the marks of links, emphasis, code and tags.
func unmarked(text string) string {
	text = mdImage.ReplaceAllString(text, "$1")
	text = mdLink.ReplaceAllString(text, "$1")
	text = mdStrong.ReplaceAllString(text, "$2")
	text = mdCode.ReplaceAllString(text, "$1")
	return mdTag.ReplaceAllString(text, " ")
}
