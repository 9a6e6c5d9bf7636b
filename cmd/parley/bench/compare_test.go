package bench

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompare: what is worse by more than is allowed counts only where the old build did not
// differ from itself as much; rates are worse when they are lower, and what has a floor is
// compared by it.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	save := func(build string, values ...[4]float64) (paths []string) {
		for i, v := range values {
			r := NewReport([]Row{{Group: "call", Name: "steady", Value: v[0], Unit: "ms"}, {Group: "call", Name: "noisy", Value: v[1], Unit: "ms"},
				{Group: "books", Name: "rate", Value: v[2], Unit: "/s"}, {Group: "books", Name: "beside a floor", Value: 1000 * v[3], Unit: "us", Floor: v[3]}})
			if build == "new" {
				r.Rows = append(r.Rows, Row{Group: "call", Name: "only new", Value: 1, Unit: "ms"})
			}
			paths = append(paths, filepath.Join(dir, fmt.Sprint(build, i, ".json")))
			if err := r.Save(paths[i]); err != nil {
				t.Fatal(err)
			}
		}
		return paths
	}
	old := save("old", [4]float64{10, 10, 100, 2}, [4]float64{10.2, 14, 102, 2}, [4]float64{9.9, 8, 98, 2})
	now := save("new", [4]float64{11, 12, 80, 2}, [4]float64{11.5, 13, 81, 1.9}, [4]float64{11.2, 12.5, 79, 2.1})
	list, err := Compare(old, now)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"steady": true, "noisy": false, "rate": true, "beside a floor": false}
	for _, c := range list {
		if worse, known := want[c.Name]; !known || c.Beyond(0.05) != worse {
			t.Errorf("%+v", c)
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("not compared: %v", want)
	}
	if list[0].Old != 10 || list[0].New != 11.2 || list[2].Old != 100 || list[3].Unit != "x floor" {
		t.Errorf("%+v", list)
	}
	if list[0].Beyond(0.2) {
		t.Error("12 % are more than 20 %")
	}
	var text bytes.Buffer
	if err := PrintComparison(&text, list, 0.05); err != nil || strings.Count(text.String(), "worse") != 2 {
		t.Errorf("%v\n%s", err, text.String())
	}
	if _, err := Compare([]string{filepath.Join(dir, "none.json")}, now); err == nil {
		t.Error("a report that is not there is compared")
	}
}
