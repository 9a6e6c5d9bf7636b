package docs

import (
	"strings"

	"parley/api/trunks/preset"
	"parley/api/wire"
)

// Measures of a picture of a call flow, in its own units.
const (
	flowWidth = 620
	flowBox   = 190 // width of the two ends
	flowFirst = 36  // where they end
	flowRow   = 32  // from one row to the next
	flowGap   = 6   // from the line of an end to an arrow, and from an arrow to its words
)

// flow is a picture of how calls go, the other side on the left, which the template draws.
type flow struct {
	ID, Title, Far string
	Text           string // says in words what the picture shows
	Rows           []row
	Height         int
}

// row is a row of a picture.
type row struct {
	Kind string // part (a title), in or out (a message), audio
	Text string
	Y    int
}

// flowOf is the picture of a preset.
func flowOf(p *wire.TrunkPreset) flow {
	far, _, _ := strings.Cut(p.Title, " and ")
	far, _, _ = strings.Cut(far, ",")
	f := flow{ID: "flow-" + p.Name, Title: "Calls between " + p.Title + " and Parley", Far: far}
	var words []string
	y := flowFirst
	add := func(kind, text string) { y += flowRow; f.Rows = append(f.Rows, row{kind, text, y}) }
	for i, part := range preset.Flow(p) {
		if i > 0 {
			y += 2 * flowGap
		}
		add("part", part.Title)
		var said []string
		for _, a := range part.Arrows {
			kind, from := "in", far
			switch {
			case a.Audio:
				kind, from = "audio", "both"
			case a.Out:
				kind, from = "out", "Parley"
			}
			add(kind, a.Text)
			said = append(said, a.Text+" from "+from)
		}
		words = append(words, part.Title+": "+strings.Join(said, ", then ")+".")
	}
	f.Text, f.Height = strings.Join(words, " "), y+flowRow
	return f
}

// The other measures are the same for all pictures.
func (flow) Width() int     { return flowWidth }
func (flow) Box() int       { return flowBox }
func (flow) First() int     { return flowFirst }
func (flow) RightBox() int  { return flowWidth - flowBox }
func (flow) Left() int      { return flowBox / 2 }
func (flow) Right() int     { return flowWidth - flowBox/2 }
func (flow) Middle() int    { return flowWidth / 2 }
func (flow) ArrowFrom() int { return flowBox/2 + flowGap }
func (flow) ArrowTo() int   { return flowWidth - flowBox/2 - flowGap }

// Words is where the words of a row stand: above its arrow.
func (r row) Words() int { return r.Y - flowGap }
