package bench

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// goLine is one line of the output of Go benchmarks.
var goLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// goMetric is one benchmark's value in one unit.
type goMetric struct{ pkg, name, unit string }

// goValues reads the output of `go test -bench`.
func goValues(text string) map[goMetric]float64 {
	values := map[goMetric]float64{}
	pkg := ""
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if p, ok := strings.CutPrefix(l, "pkg: parley/"); ok {
			pkg = strings.TrimPrefix(p, "media/")
			continue
		}
		m := goLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		fields := strings.Fields(m[2])
		for i := 0; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				values[goMetric{pkg, m[1], fields[i+1]}] = v
			}
		}
	}
	return values
}

// goBars are the benchmarks that are shown, and their bars: in us a frame, in ms a
// second of audio, or as a multiple of a floor.
var goBars = []struct {
	metric goMetric
	shown  string
	unit   string
	scale  float64
	bar    float64  // 0: none
	floor  goMetric // that it is a multiple of
}{
	{goMetric{"resample", "Process/8000-16000", "ns/op"}, "8 to 16 kHz", "us", 1e-3, 3, resampleFloor},
	{goMetric{"resample", "Process/16000-8000", "ns/op"}, "16 to 8 kHz", "us", 1e-3, 3, resampleFloor},
	{goMetric{"resample", "Process/22050-44100", "ns/op"}, "22.05 to 44.1 kHz", "us", 1e-3, 7, resampleFloor},
	{goMetric{"resample", "Process/44100-22050", "ns/op"}, "44.1 to 22.05 kHz", "us", 1e-3, 7, resampleFloor},
	{goMetric{"resample", "Process/24000-48000", "ns/op"}, "24 to 48 kHz", "us", 1e-3, 7, resampleFloor},
	{goMetric{"resample", "Process/48000-24000", "ns/op"}, "48 to 24 kHz", "us", 1e-3, 7, resampleFloor},
	{goMetric{"resample", "Process/24000-8000", "ns/op"}, "24 to 8 kHz", "us", 1e-3, otherPair, resampleFloor},
	{goMetric{"resample", "Process/22050-8000", "ns/op"}, "22.05 to 8 kHz", "us", 1e-3, otherPair, resampleFloor},
	{goMetric{"resample", "Process/24000-44100", "ns/op"}, "24 to 44.1 kHz", "us", 1e-3, otherPair, resampleFloor},
	{goMetric{"denoise", "Spectral/8000", "ms/s"}, "suppressor, 8 kHz", "ms/s", 1, 0.8, goMetric{}},
	{goMetric{"denoise", "Spectral/16000", "ms/s"}, "suppressor, 16 kHz", "ms/s", 1, 1.5, goMetric{}},
	{goMetric{"denoise", "GTCRN/8000", "ms/s"}, "neural suppressor, 8 kHz", "ms/s", 1, 40, goMetric{}},
	{goMetric{"denoise", "GTCRN/16000", "ms/s"}, "neural suppressor, 16 kHz", "ms/s", 1, 40, goMetric{}},
	{goMetric{"vad", "Detect/8000/own", "ms/s"}, "detector alone, 8 kHz", "ms/s", 1, 0, goMetric{}},
	{goMetric{"vad", "Detect/16000/own", "ms/s"}, "detector alone, 16 kHz", "ms/s", 1, 0, goMetric{}},
	{goMetric{"vad", "Detect/8000/shared", "ms/s"}, "behind the suppressor", "ms/s", 1, 0, goMetric{}},
	{goMetric{"vad", "Detect/8000/silero", "ms/s"}, "neural detector, 8 kHz", "ms/s", 1, 0, goMetric{}},
	{goMetric{"vad", "Detect/16000/silero", "ms/s"}, "neural detector, 16 kHz", "ms/s", 1, 0, goMetric{}},
	{goMetric{"jitter", "Frame/loss=0", "ns/op"}, "frame, no loss", "us", 1e-3, 0, goMetric{}},
	{goMetric{"jitter", "Frame/loss=20", "ns/op"}, "frame, 5 % loss", "us", 1e-3, 0, goMetric{}},
	{goMetric{"rtp", "WakeUp/session", "ns/pair"}, "packet in, packet out", "us", 1e-3, 0, goMetric{"rtp", "WakeUp/floor", "ns/pair"}},
	{goMetric{"rtp", "Calls/50", "us/pair"}, "pair of 50 calls, wake-ups included", "us", 1, 0, goMetric{"rtp", "Calls/50", "floor-us/pair"}},
	{goMetric{"rtp", "Calls/300", "us/pair"}, "pair of 300 calls, wake-ups included", "us", 1, 0, goMetric{"rtp", "Calls/300", "floor-us/pair"}},
}

// otherPair is the bar in us of the resamplers that are not 2:1.
const otherPair = 16

// resampleFloor is what resamplers are multiples of.
var resampleFloor = goMetric{"resample", "Floor", "ns/op"}

// goRows makes rows of the output of Go benchmarks, and one of the slowest
// resampler besides.
func goRows(text string) []Row {
	values := goValues(text)
	var rows []Row
	for _, b := range goBars {
		v, ok := values[b.metric]
		if !ok {
			continue
		}
		row := Row{Group: b.metric.pkg, Name: b.shown, Value: v * b.scale, Unit: b.unit}
		if b.bar > 0 {
			row.Bar = &b.bar
		}
		if f := values[b.floor]; f > 0 {
			row.Floor = v / f
		}
		rows = append(rows, row)
	}
	slowest := group("resample").most("", 0, "us", otherPair)
	for m, v := range values {
		if m.pkg == "resample" && m.unit == "ns/op" && v/1000 > slowest.Value && strings.HasPrefix(m.name, "Process/") {
			slowest.Value, slowest.Name = v/1000, "slowest: "+strings.TrimPrefix(m.name, "Process/")
		}
	}
	if slowest.Value > 0 {
		rows = append(rows, slowest)
	}
	return slices.Concat(rows, foundRows(values), pageRows(values), vendorRows(values))
}

// foundRows are what detectors find in noise, one below the other.
func foundRows(values map[goMetric]float64) (rows []Row) {
	for _, what := range []struct{ unit, shown, of string }{{"false-starts", "starts where nobody speaks", "beside "}, {"missed", "utterances missed", "of "}, {"onset-ms", "starts after", ""}} {
		for _, m := range slices.SortedFunc(maps.Keys(values), func(a, b goMetric) int { return strings.Compare(a.name, b.name) }) {
			name, ok := strings.CutPrefix(m.name, "Finds/")
			if !ok || m.unit != what.unit {
				continue
			}
			noise, detector, _ := strings.Cut(name, "/")
			unit := "ms"
			if what.of != "" {
				unit = what.of + number(values[goMetric{m.pkg, m.name, "utterances"}])
			}
			rows = append(rows, group("vad, "+what.shown).row(strings.ReplaceAll(noise, "-", " ")+", "+detector, values[m], unit))
		}
	}
	return rows
}

// heaviestPage is the bar of what a page loads at first, in kB.
const heaviestPage = 300

// pageRows are the pages of the dashboard, each with when it can be used and with what it
// loads, and the slowest of them to answer a key.
func pageRows(values map[goMetric]float64) (rows []Row) {
	slowest := Row{Group: "pages, first key answered", Unit: "ms"}
	var weights []Row
	for _, m := range slices.SortedFunc(maps.Keys(values), func(a, b goMetric) int { return strings.Compare(a.name, b.name) }) {
		name, ok := strings.CutPrefix(m.name, "Pages/")
		if !ok || m.pkg != "api/dashboard" {
			continue
		}
		switch v := values[m]; m.unit {
		case "usable-ms":
			rows = append(rows, group("pages, can be used after").row(name, v, "ms"))
		case "kB":
			weights = append(weights, group("pages, first load").most(name, v, "kB", heaviestPage))
		case "key-ms":
			if v > slowest.Value {
				slowest.Name, slowest.Value = "slowest: "+name, v
			}
		}
	}
	if slowest.Value > 0 {
		rows = append(rows, slowest)
	}
	return append(rows, weights...)
}

// vendorBars are what telephone calls through engines of vendors are measured by: fakes of
// them, in a process of their own, that are as slow as vendors are over the Internet.
var vendorBars = []struct {
	name, unit  string // of the benchmark
	shown, says string
	bar         float64 // 0: none
}{
	{"turns", "wait-p50-ms", "caller's wait p50", "ms", 900},
	{"turns", "wait-p95-ms", "caller's wait p95", "ms", 1500},
	{"turns", "endpoint-p50-ms", "of it until the turn's end p50", "ms", 0},
	{"turns", "model-p50-ms", "of it for the model p50", "ms", 0},
	{"turns", "voice-p50-ms", "of it for the voice p50", "ms", 0},
	{"turns", "own-p50-ms", "of it ours p50", "ms", 40},
	{"turns", "own-p95-ms", "of it ours p95", "ms", 0},
	{"turns", "line-p50-ms", "of it both jitter buffers p50", "ms", 0},
	{"calls", "late-p99.9-ms", "sent late p99.9, at most", "ms", 5},
	{"calls", "late-worst-ms", "the same of the worst of 100 calls", "ms", 0},
	{"calls", "KiB/call", "memory of a call", "KiB", 1024},
	{"calls", "server-%", "of a processor, the server, 100 calls", "%", 0},
	{"calls", "fakes-%", "of a processor, the fakes", "%", 0},
	{"calls", "caller-late-%", "late packets of the generator", "%", 0},
}

func vendorRows(values map[goMetric]float64) (rows []Row) {
	for _, b := range vendorBars {
		v, ok := values[goMetric{"cmd/parley/acceptance", "Vendors/" + b.name, b.unit}]
		if !ok {
			continue
		}
		row := group("telephone through vendors' engines").row(b.shown, v, b.says)
		if b.bar > 0 {
			row.Bar = &b.bar
		}
		rows = append(rows, row)
	}
	return rows
}
