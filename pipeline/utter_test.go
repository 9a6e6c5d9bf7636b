package pipeline

import (
	"slices"
	"strings"
	"testing"

	"parley/inference"
	"parley/inference/spoken"
	"parley/media"
)

// TestWayBack: the marks of what is spoken become those of what is shown, whether the
// engine says where its words are or not.
func TestWayBack(t *testing.T) {
	a := Agent{Language: "en", Pronunciation: spoken.NewDictionary([]spoken.Entry{{Word: "Lola", Say: "low la"}})}
	f := a.form("Lola: €25 on May 3, or 4 🙂 later.")
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

// TestHeardInProportion: without marks the audio is shared out over what is spoken, and
// what stands for several words is heard with the last of them.
func TestHeardInProportion(t *testing.T) {
	a := Agent{Language: "en"}
	f := a.form("That is $1,250 now.")
	length := len(f.Spoken) // a sample each: "That is one thousand two hundred fifty dollars now."
	var got []string
	for n := 0; n <= length; n++ {
		s := sentence{text: f.Shown, form: f, rate: media.Rate8k, total: length * 800, complete: true}
		h := s.heard(s.rate.Duration(n*800) + heardMargin)
		if len(got) == 0 || got[len(got)-1] != h {
			got = append(got, h)
		}
		if strings.HasSuffix(h, "$1,250") && n < strings.Index(f.Spoken, " now") {
			t.Errorf("after %q the amount was heard", f.Spoken[:n])
		}
	}
	if want := []string{"", "That", "That is", "That is $1,250", "That is $1,250 now."}; !slices.Equal(got, want) {
		t.Errorf("heard %q", got)
	}
}
