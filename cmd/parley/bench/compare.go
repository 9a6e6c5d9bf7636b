package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"
)

// Comparison is what one row measured in runs of an old build and of a new one, taken in
// turns. What has a floor in its run is compared as a multiple of it, for a machine that
// is slower for a while is so for both.
type Comparison struct {
	Group, Name, Unit string
	Old, New          float64 // medians
	Spread            float64 // of the old runs, from the least to the most, as a share of their median
	Worse             float64 // by how much of the old median the new one is worse; negative: it is better
}

// Beyond says that the new build is worse by more than a share, and by more than the old
// one differs from itself.
func (c Comparison) Beyond(share float64) bool { return c.Worse > share && c.Worse > c.Spread }

// Compare compares saved reports row by row. Rows that are not in all of them are left out.
func Compare(before, after []string) ([]Comparison, error) {
	old, rows, err := series(before)
	if err != nil {
		return nil, err
	}
	now, _, err := series(after)
	if err != nil {
		return nil, err
	}
	var all []Comparison
	for _, r := range rows {
		was, is := old[r], now[r]
		if len(was) < len(before) || len(is) < len(after) {
			continue
		}
		c := Comparison{Group: r.group, Name: r.name, Unit: r.unit, Old: median(was), New: median(is)}
		if c.Old == 0 {
			continue
		}
		c.Spread = (slices.Max(was) - slices.Min(was)) / c.Old
		c.Worse = (c.New - c.Old) / c.Old
		if r.rate {
			c.Worse = -c.Worse
		}
		all = append(all, c)
	}
	return all, nil
}

// measure is what a row measures. Of a rate more is better, of anything else less.
type measure struct {
	group, name, unit string
	rate              bool
}

// series are the values of each measure in several reports, and the measures in their order.
func series(paths []string) (values map[measure][]float64, order []measure, err error) {
	values = map[measure][]float64{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		var one Report
		if err := json.Unmarshal(text, &one); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, row := range one.Rows {
			m, v := measure{row.Group, row.Name, row.Unit, row.AtLeast || row.Unit == "/s" || row.Unit == "x real time"}, row.Value
			if row.Floor > 0 {
				m.unit, v = "x floor", row.Floor
			}
			if values[m] == nil {
				order = append(order, m)
			}
			values[m] = append(values[m], v)
		}
	}
	return values, order, nil
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// PrintComparison writes a table, in which what is beyond the share is marked.
func PrintComparison(w io.Writer, list []Comparison, share float64) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\t\told\tnew\t\tchange\tspread of old\t")
	for _, c := range list {
		change, mark := math.Round(1000*(c.New-c.Old)/c.Old)/10, ""
		if c.Beyond(share) {
			mark = "worse"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%+.1f %%\t%.1f %%\t%s\n", c.Group, c.Name, number(c.Old), number(c.New), c.Unit, change, 100*c.Spread, mark)
	}
	return t.Flush()
}
