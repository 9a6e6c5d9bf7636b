package editor

import (
	"strings"
	"testing"
)

func TestComparingTexts(t *testing.T) {
	for _, tt := range [][3]string{
		{"", "a", "+a"}, {"a", "", "-a"}, {"a", "a", "…"}, {"a b c", "a x c", " a -b +x  c"},
		{"1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8 x", "…  6  7  8 -9 +x"},
		{"a b", "b a", "-a  b +a"},
	} {
		var got []string
		for _, l := range diffLines(strings.Fields(tt[0]), strings.Fields(tt[1])) {
			got = append(got, map[string]string{"same": " ", "added": "+", "removed": "-", "gap": ""}[l.Kind]+l.Text)
		}
		if strings.Join(got, " ") != tt[2] {
			t.Errorf("%q to %q: %q, want %q", tt[0], tt[1], strings.Join(got, " "), tt[2])
		}
	}
	long := make([]string, 2*maxDiff)
	if got := diffLines(long, nil); len(got) != len(long) {
		t.Errorf("%d lines of a long text", len(got))
	}
}
