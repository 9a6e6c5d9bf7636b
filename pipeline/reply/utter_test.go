package reply

import (
	"strings"
	"testing"

	"parley/inference"
	"parley/inference/spoken"
	"parley/pipeline/agent"
)

// TestWayBack: the marks of what is spoken become those of what is shown, whether the
// engine says where its words are or not.
func TestWayBack(t *testing.T) {
	a := agent.Agent{Language: "en", Pronunciation: spoken.NewDictionary([]spoken.Entry{{Word: "Lola", Say: "low la"}})}
	f := a.Form("Lola: €25 on May 3, or 4 🙂 later.")
	if want := "low la: twenty-five euros on May third, or four later."; f.Spoken != want {
		t.Fatalf("it is spoken %q", f.Spoken)
	}
	want := []string{"", "Lola", "", "€25", "on", "May", "3", "or", "4", "later"}
	starts := []int{0, 0, 6, 6, 10, 13, 17, 20, 23, 27}
	for _, known := range []bool{true, false} {
		way := wayBack{form: f, shown: []rune(f.Shown)}
		at, n := 0, 0
		for _, w := range strings.Fields(f.Spoken) {
			w = strings.Trim(w, ".,:")
			at += strings.Index(f.Spoken[at:], w)
			m := inference.Mark{Text: w, Char: at}
			if !known {
				m.Char = -1
			}
			at += len(w)
			way.word(&m)
			if text := strings.TrimRight(m.Text, " 🙂:"); text != want[n] || m.Char != starts[n] {
				t.Errorf("%q (known: %v) is %q at %d, want %q at %d", w, known, m.Text, m.Char, want[n], starts[n])
			}
			n++
		}
	}
}
