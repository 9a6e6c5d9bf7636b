package knowledge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/store/knowledge/document"
)

// Sizes of passages in characters: what answers one question and leaves a model's prompt room for five.
const (
	minPassage = 300
	maxPassage = 1200
)

// Cut makes passages of a document's blocks. A passage ends with a paragraph where it can, else with a sentence, else
// with a word. A heading begins one, unless the one before it would be short.
func Cut(blocks []document.Block) []Passage {
	var c cutter
	for _, b := range blocks {
		c.add(b)
	}
	c.end()
	return c.out
}

// cutter collects paragraphs.
type cutter struct {
	out     []Passage
	text    strings.Builder
	size    int // characters of text
	page    int // on which text begins
	heading string
}

func (c *cutter) add(b document.Block) {
	text := strings.TrimSpace(b.Text)
	if text == "" {
		return
	}
	if c.size >= minPassage && (b.IsHeading || b.Heading != c.heading) {
		c.end()
	}
	for text != "" {
		room := maxPassage - c.size
		if c.size > 0 {
			room-- // the end of the line
		}
		part, rest := text, ""
		if utf8.RuneCountInString(text) > room {
			if c.size >= minPassage {
				c.end()
				continue
			}
			at := lastEnd(text, room, minPassage-c.size)
			part, rest = strings.TrimSpace(text[:at]), strings.TrimSpace(text[at:])
		}
		c.append(part, b)
		text = rest
	}
}

// append adds what there is room for.
func (c *cutter) append(text string, b document.Block) {
	if c.size == 0 {
		c.page, c.heading = b.Page, b.Heading
	} else {
		c.text.WriteByte('\n')
		c.size++
	}
	c.text.WriteString(text)
	c.size += utf8.RuneCountInString(text)
}

// end ends the passage that is being collected. A short one at the end of a document, or before a long paragraph,
// joins the one before it where both have room in one.
func (c *cutter) end() {
	if c.size == 0 {
		return
	}
	text := c.text.String()
	if last := len(c.out) - 1; last >= 0 && c.size < minPassage && c.out[last].Heading == c.heading &&
		utf8.RuneCountInString(c.out[last].Text)+1+c.size <= maxPassage {
		c.out[last].Text += "\n" + text
	} else {
		c.out = append(c.out, Passage{Page: c.page, Heading: c.heading, Text: text})
	}
	c.text.Reset()
	c.size = 0
}

// lastEnd is where a text that has more characters than there is room for is divided: after the last sentence that
// fits, if that leaves least characters before it, else between words, else anywhere.
func lastEnd(text string, room, least int) int {
	sentence, word, n := 0, 0, 0
	var before rune
	for i, r := range text {
		if n == room {
			switch {
			case ends(before, r):
				return i
			case sentence > 0:
				return sentence
			case word > 0:
				return word
			}
			return i
		}
		if n >= least {
			if unicode.IsSpace(r) {
				word = i
			}
			if ends(before, r) {
				sentence = i
			}
		}
		before = r
		n++
	}
	return len(text)
}

// ends says whether a sentence ends between two characters.
func ends(before, r rune) bool {
	return unicode.IsSpace(r) && strings.ContainsRune(".!?…:;", before) || strings.ContainsRune("。！？", before)
}
