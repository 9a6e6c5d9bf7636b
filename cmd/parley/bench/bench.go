// Package bench measures a server from outside: how long it takes to answer, how
// fast it falls silent, and what a call costs in processor time next to a floor
// that is measured in the same run. Sockets, the agent socket's handler, the SIP
// user agent and the pipeline are the real ones; the engines answer at once, so
// that what is measured is ours. The ledger is measured with a real database. Bars
// are printed and never fail.
package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Row is one thing measured.
type Row struct {
	Group string  `json:"group"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Bar is what Value may be at most; nil: there is none.
	Bar *float64 `json:"bar,omitempty"`
	// AtLeast turns the bar round: Value must reach it.
	AtLeast bool `json:"at_least,omitempty"`
	// Floor is Value as a multiple of the floor; 0: it has none.
	Floor float64 `json:"x_floor,omitempty"`
}

// group makes the rows of one measurement.
type group string

func (g group) row(name string, value float64, unit string) Row {
	return Row{Group: string(g), Name: name, Value: value, Unit: unit}
}

// most is a row whose value may be the bar at most.
func (g group) most(name string, value float64, unit string, bar float64) Row {
	return Row{Group: string(g), Name: name, Value: value, Unit: unit, Bar: &bar}
}

// least is a row whose value must reach the bar.
func (g group) least(name string, value float64, unit string, bar float64) Row {
	return Row{Group: string(g), Name: name, Value: value, Unit: unit, Bar: &bar, AtLeast: true}
}

// beside is processor time, in us a frame, beside its floor.
func (g group) beside(name string, value, floor float64) Row {
	return Row{Group: string(g), Name: name, Value: value, Unit: "us/frame", Floor: value / floor}
}

// percent is a share of all.
func percent(part, all uint64) float64 { return 100 * float64(part) / float64(max(1, all)) }

// Verdict is "ok", "short" of the bar, or empty without one.
func (r Row) Verdict() string {
	switch {
	case r.Bar == nil:
		return ""
	case r.AtLeast == (r.Value >= *r.Bar), r.Value == *r.Bar:
		return "ok"
	}
	return "short"
}

// Report is what one run measured, and on what.
type Report struct {
	At    time.Time `json:"at"`
	CPUs  int       `json:"cpus"`
	Go    string    `json:"go"`
	Loads []string  `json:"load_averages"` // of the machine, at the end of each run
	Rows  []Row     `json:"rows"`
}

// NewReport is a report of rows measured now.
func NewReport(rows []Row) *Report {
	r := &Report{At: time.Now().UTC().Truncate(time.Second), CPUs: runtime.NumCPU(), Go: runtime.Version(), Rows: rows}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fields := strings.Fields(string(load))
		r.Loads = []string{strings.Join(fields[:min(3, len(fields))], " ")}
	}
	return r
}

// Print writes the report as a table.
func (r *Report) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d processors, %s, load average %s\n\n", r.CPUs, r.Go, strings.Join(r.Loads, "; "))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\t\tmeasured\tbar\tx floor\t")
	for _, row := range r.Rows {
		bar, floor := "", ""
		if row.Bar != nil {
			bar = number(*row.Bar)
		}
		if row.Floor > 0 {
			floor = number(row.Floor)
		}
		fmt.Fprintf(t, "%s\t%s\t%s %s\t%s\t%s\t%s\n", row.Group, row.Name, number(row.Value), row.Unit, bar, floor, row.Verdict())
	}
	return t.Flush()
}

// number has three digits that matter.
func number(v float64) string {
	switch {
	case v == float64(int64(v)) || v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Save writes the report as JSON.
func (r *Report) Save(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// Collect joins saved reports, and the output of Go benchmarks, into one.
func Collect(paths []string) (*Report, error) {
	all := NewReport(nil)
	all.Loads = nil
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(path, ".json") {
			all.Rows = append(all.Rows, goRows(string(text))...)
			continue
		}
		var one Report
		if err := json.Unmarshal(text, &one); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all.Rows = append(all.Rows, one.Rows...)
		all.Loads = append(all.Loads, one.Loads...)
	}
	return all, nil
}

// Quantile is the value that the share q of the sorted list stays at or below; 0
// of an empty one.
func Quantile[T cmp.Ordered](sorted []T, q float64) T {
	var none T
	if len(sorted) == 0 {
		return none
	}
	return sorted[min(len(sorted)-1, max(0, int(q*float64(len(sorted))+0.999999)-1))]
}

// latencies makes the rows of a list of durations: p50, p99 and so on in ms. Bars
// are those of p50 and p99; 0 means none.
func (g group) latencies(name string, list []time.Duration, p50, p99 float64) []Row {
	slices.Sort(list)
	ms := func(q float64) float64 { return milliseconds(Quantile(list, q)) }
	rows := []Row{g.most(name+" p50", ms(0.5), "ms", p50), g.row(name+" p95", ms(0.95), "ms"), g.most(name+" p99", ms(0.99), "ms", p99), g.row(name+" max", ms(1), "ms")}
	for i, r := range rows {
		if r.Bar != nil && *r.Bar == 0 {
			rows[i].Bar = nil
		}
	}
	return rows
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
