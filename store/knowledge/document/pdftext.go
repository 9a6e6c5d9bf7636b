package document

import (
	"math"
	"strings"

	"github.com/ledongthuc/pdf"
)

// matrix is a b c d e f of an affine map (ISO 32000-1, 8.3.3).
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// times is the map that does m first and then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is what operators set (8.4, 9.3).
type state struct {
	ctm                              matrix
	font                             *font
	size, char, word, scale, leading float64
}

// content runs the operators of one stream.
type content struct {
	d          *drawing
	resources  pdf.Value
	depth      int
	s          state
	saved      []state
	fonts      map[string]*font // by their names in resources, which take long to find
	text, line matrix
}

// maxSaved bounds the stack of states.
const maxSaved = 200

// run runs the operators of a page or of a form.
func (d *drawing) run(stream, resources pdf.Value, ctm matrix, depth int) {
	c := &content{d: d, resources: resources, depth: depth, s: state{ctm: ctm, font: d.font(pdf.Value{}), scale: 1}, text: identity, line: identity, fonts: map[string]*font{}}
	pdf.Interpret(stream, func(stack *pdf.Stack, op string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		if d.left >= 0 {
			c.do(op, args)
		}
	})
}

// numbers are the last n operands, zeros where there are too few.
func numbers(args []pdf.Value, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		if at := len(args) - n + i; at >= 0 {
			out[i] = args[at].Float64()
		}
	}
	return out
}

// do runs one operator (9.4, 8.4.4, 8.10); those that draw no text do nothing.
func (c *content) do(op string, args []pdf.Value) {
	n := func(i int) []float64 { return numbers(args, i) }
	switch op {
	case "q":
		if len(c.saved) < maxSaved {
			c.saved = append(c.saved, c.s)
		}
	case "Q":
		if last := len(c.saved) - 1; last >= 0 {
			c.s, c.saved = c.saved[last], c.saved[:last]
		}
	case "cm":
		c.s.ctm = matrix(n(6)).times(c.s.ctm)
	case "BT":
		c.text, c.line = identity, identity
	case "Tf":
		if len(args) == 2 {
			c.s.font, c.s.size = c.named(args[0].Name()), args[1].Float64()
		}
	case "Tc":
		c.s.char = n(1)[0]
	case "Tw":
		c.s.word = n(1)[0]
	case "Tz":
		c.s.scale = n(1)[0] / 100
	case "TL":
		c.s.leading = n(1)[0]
	case "Td":
		c.move(n(2)[0], n(2)[1])
	case "TD":
		c.s.leading = -n(2)[1]
		c.move(n(2)[0], n(2)[1])
	case "Tm":
		c.line = matrix(n(6))
		c.text = c.line
	case "T*":
		c.move(0, -c.s.leading)
	case `"`:
		c.s.word, c.s.char = n(3)[0], n(3)[1]
		c.move(0, -c.s.leading)
		c.show(args)
	case "'":
		c.move(0, -c.s.leading)
		c.show(args)
	case "Tj", "TJ":
		c.show(args)
	case "Do":
		if len(args) == 1 {
			c.form(c.resources.Key("XObject").Key(args[0].Name()))
		}
	}
}

// named is the font of a name.
func (c *content) named(name string) *font {
	f := c.fonts[name]
	if f == nil {
		f = c.d.font(c.resources.Key("Font").Key(name))
		c.fonts[name] = f
	}
	return f
}

// move begins a line of text (9.4.2).
func (c *content) move(x, y float64) {
	c.line = matrix{1, 0, 0, 1, x, y}.times(c.line)
	c.text = c.line
}

// show draws the last operand: a string, or strings and how far back the next begins, in thousandths of the size.
func (c *content) show(args []pdf.Value) {
	if len(args) == 0 {
		return
	}
	v := args[len(args)-1]
	if v.Kind() != pdf.Array {
		c.letters(v.RawString())
		return
	}
	for i := range v.Len() {
		if x := v.Index(i); x.Kind() == pdf.String {
			c.letters(x.RawString())
		} else {
			c.advance(-x.Float64() / 1000 * c.s.size * c.s.scale)
		}
	}
}

func (c *content) advance(x float64) { c.text = matrix{1, 0, 0, 1, x, 0}.times(c.text) }

// letters draws a string.
func (c *content) letters(raw string) {
	if raw == "" {
		return
	}
	glyphs, width := c.s.font.width(raw)
	advance := (width*c.s.size + float64(glyphs)*c.s.char + float64(strings.Count(raw, " "))*c.s.word) * c.s.scale
	from := c.text.times(c.s.ctm)
	c.advance(advance)
	to := c.text.times(c.s.ctm)
	size := math.Abs(c.s.size) * math.Hypot(from[2], from[3])
	c.d.show(c.s.font.encoding.Decode(raw), from[4], from[5], size, math.Hypot(to[4]-from[4], to[5]-from[5]))
}

// form draws a form, which programs that make pages of others use.
func (c *content) form(v pdf.Value) {
	if v.Key("Subtype").Name() != "Form" || c.depth >= maxForms {
		return
	}
	ctm := c.s.ctm
	if m := v.Key("Matrix"); m.Len() == 6 {
		var own matrix
		for i := range own {
			own[i] = m.Index(i).Float64()
		}
		ctm = own.times(ctm)
	}
	resources := v.Key("Resources")
	if resources.IsNull() {
		resources = c.resources
	}
	c.d.run(v, resources, ctm, c.depth+1)
}

// font is what is needed of one to read it.
type font struct {
	encoding pdf.TextEncoding
	wide     bool // its codes have two bytes (9.7)
	widths   map[int]float64
	missing  float64 // of letters whose width is not there
}

// maxWidths bounds the widths of a font.
const maxWidths = 1 << 16

// font is that of a dictionary. It is read once: pages of a document share theirs.
func (d *drawing) font(v pdf.Value) *font {
	key := v.String()
	if f := d.fonts[key]; f != nil {
		return f
	}
	read := pdf.Font{V: v}
	f := &font{encoding: read.Encoder(), widths: map[int]float64{}, missing: 0.5}
	if v.Key("Subtype").Name() == "Type0" {
		f.wide = true
		f.composite(v.Key("DescendantFonts").Index(0))
	} else {
		first, list := int(v.Key("FirstChar").Int64()), v.Key("Widths")
		for i := range min(list.Len(), 256) {
			f.widths[first+i] = list.Index(i).Float64() / 1000
		}
	}
	d.fonts[key] = f
	return f
}

// composite reads the widths of a font of many letters (9.7.4.3).
func (f *font) composite(v pdf.Value) {
	f.missing = 1
	if dw := v.Key("DW"); !dw.IsNull() {
		f.missing = dw.Float64() / 1000
	}
	w := v.Key("W")
	for i := 0; i+1 < w.Len() && len(f.widths) < maxWidths; {
		first, next := int(w.Index(i).Int64()), w.Index(i+1)
		if next.Kind() == pdf.Array {
			for j := range next.Len() {
				f.widths[first+j] = next.Index(j).Float64() / 1000
			}
			i += 2
			continue
		}
		width := w.Index(i+2).Float64() / 1000
		for code := first; code <= min(int(next.Int64()), first+maxWidths); code++ {
			f.widths[code] = width
		}
		i += 3
	}
}

// width is how many letters a string has and how wide they are together, at size 1.
func (f *font) width(raw string) (glyphs int, sum float64) {
	step := 1
	if f.wide {
		step = 2
	}
	for i := 0; i < len(raw); i += step {
		code := int(raw[i])
		if f.wide && i+1 < len(raw) {
			code = code<<8 | int(raw[i+1])
		}
		w, known := f.widths[code]
		if !known {
			w = f.missing
		}
		glyphs, sum = glyphs+1, sum+w
	}
	return glyphs, sum
}
