package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest"
	"parley/media/codec"
)

// generatorVar makes the test's own program the load generator.
const generatorVar = "PARLEY_BENCH_TEST_GENERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(generatorVar) != "" {
		if err := Load(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// value finds the row whose name begins so.
func value(t *testing.T, rows []Row, name string) float64 {
	t.Helper()
	for _, r := range rows {
		if strings.HasPrefix(r.Name, name) {
			return r.Value
		}
	}
	t.Fatalf("no row %q in %+v", name, rows)
	return 0
}

// goroutinesReturn fails the test when it leaves goroutines behind.
func goroutinesReturn(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 500 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		var stacks [1 << 16]byte
		t.Errorf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks[:], true)])
	})
}

func TestTurn(t *testing.T) {
	goroutinesReturn(t)
	for _, leg := range []string{"ws", "sip"} {
		t.Run(leg, func(t *testing.T) {
			t.Parallel()
			rows, err := Turn{Leg: leg, Calls: 2, Turns: 2, Interruptions: 2, Speculative: leg == "sip"}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"overhead p50", "overhead max", "verdict to silent p50"} {
				// Negative on a busy machine: the server does not wait for a frame that the caller sends late.
				if v := value(t, rows, name); max(v, -v) > 1000*patience.Seconds() {
					t.Errorf("%s: %v ms", name, v)
				}
			}
			if v := value(t, rows, "speech to lowered p50"); v <= 0 {
				t.Errorf("lowered %v ms before the caller spoke", -v)
			}
		})
	}
}

func TestTurnRefuses(t *testing.T) {
	for _, turn := range []Turn{{Leg: "fax", Calls: 1, Turns: 1}, {Leg: "ws", Turns: 1}, {Leg: "sip", Calls: 1}} {
		if rows, err := turn.Run(t.Context()); err == nil {
			t.Errorf("%+v: %v", turn, rows)
		}
	}
}

func TestCall(t *testing.T) {
	t.Setenv(generatorVar, "1")
	goroutinesReturn(t)
	// It rests until all is given back: on a busy machine that takes longer.
	rows, err := Call{Calls: 5, Length: 3 * time.Second, WarmUp: 500 * time.Millisecond, Rest: patience,
		VAD: true, Generator: []string{os.Args[0]}}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"calls dropped", "files not given back"} {
		if v := value(t, rows, name); v != 0 {
			t.Errorf("%s: %v", name, v)
		}
	}
	for _, name := range []string{"floor", "processor time", "multiple of the floor", "agent speaking"} {
		if v := value(t, rows, name); v <= 0 {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// TestWidebandCall: calls in another codec are measured beside those in PCMU.
func TestWidebandCall(t *testing.T) {
	t.Setenv(generatorVar, "1")
	goroutinesReturn(t)
	rows, err := Call{Codec: codec.G722, Calls: 3, Length: 2 * time.Second, WarmUp: 500 * time.Millisecond, Rest: time.Second,
		Generator: []string{os.Args[0]}}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v := value(t, rows, "calls dropped"); v != 0 || !strings.Contains(rows[0].Group, "G722") {
		t.Errorf("calls dropped: %v, of %q", v, rows[0].Group)
	}
	for _, name := range []string{"the same in PCMU", "multiple of the same in PCMU", "agent speaking"} {
		if v := value(t, rows, name); v <= 0 {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// TestWebRTCCall: sessions over WebRTC are measured beside telephone calls.
func TestWebRTCCall(t *testing.T) {
	t.Setenv(generatorVar, "1")
	goroutinesReturn(t)
	rows, err := Call{Leg: "webrtc", Calls: 3, Length: 3 * time.Second, WarmUp: 500 * time.Millisecond, Rest: time.Second,
		Generator: []string{os.Args[0]}}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v := value(t, rows, "calls dropped"); v != 0 {
		t.Errorf("calls dropped: %v", v)
	}
	for _, name := range []string{"floor", "processor time of a call", "the same on the telephone", "agent speaking"} {
		if v := value(t, rows, name); v <= 0 {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func TestCallWithoutGenerator(t *testing.T) {
	goroutinesReturn(t)
	c := Call{Calls: 1, Length: time.Second, Generator: []string{filepath.Join(t.TempDir(), "none")}}
	if rows, err := c.Run(t.Context()); err == nil {
		t.Errorf("%v", rows)
	}
}

func TestSpeech(t *testing.T) {
	goroutinesReturn(t)
	engine := enginetest.NewFakeTTS()
	engine.FirstAudio = 30 * time.Millisecond
	rows, err := Speech{Jobs: 3, Streams: 4, Engine: engine}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v := value(t, rows, "first audio p50"); v < 30 {
		t.Errorf("first audio after %v ms", v)
	}
	slowest := rows[len(rows)-1]
	if slowest.Value <= 0 || slowest.Verdict() == "" {
		t.Errorf("%+v", slowest)
	}
	for value, want := range map[float64]string{0.5: "short", 1: "ok", 2: "ok"} {
		if slowest.Value = value; slowest.Verdict() != want {
			t.Errorf("%v x real time is %q", value, slowest.Verdict())
		}
	}
	engine.Err, engine.Limit = enginetest.ErrFake, 1
	if rows, err := (Speech{Jobs: 1, Streams: 1, Engine: engine}).Run(t.Context()); err == nil {
		t.Errorf("%v", rows)
	}
	if rows, err := (Speech{Jobs: 1}).Run(t.Context()); err == nil {
		t.Errorf("%v", rows)
	}
}

func TestLoadRefusesNonsense(t *testing.T) {
	for _, order := range []string{"", "x\n", `{"calls":1,"uri":"tel:1"}` + "\n"} {
		if err := Load(t.Context(), strings.NewReader(order), io.Discard); err == nil {
			t.Errorf("%q was taken for an order", order)
		}
	}
}

const goOutput = `goos: linux
pkg: parley/media/resample
BenchmarkProcess/8000-16000-2         	  121122	      2500 ns/op	       0 B/op	       0 allocs/op
BenchmarkProcess/44100-16000-2        	   21122	     18000 ns/op
BenchmarkFloor-2   	 9999999	        25.0 ns/op
PASS
pkg: parley/media/rtp
BenchmarkCalls/50-2  	 100	 0 ns/op	  16.00 floor-us/pair	 24.00 us/pair	 1.500 x-floor
pkg: parley/media/vad
BenchmarkDetect/16000/silero-2  	 100	 0 ns/op	  12.00 ms/s
BenchmarkFinds/babble-15-dB/spectral-2  	 1	 1 ns/op	  11.00 false-starts	 2.000 missed	 80.00 onset-ms	 66.00 utterances
BenchmarkFinds/babble-15-dB/silero-2  	 1	 1 ns/op	  0 false-starts	 1.000 missed	 100.0 onset-ms	 66.00 utterances
pkg: parley/api/dashboard
BenchmarkPages/home-2        3	959971646 ns/op	31.00 kB	31.00 key-ms	488.0 usable-ms
BenchmarkPages/agents/{id}-2 3	959971646 ns/op	310.0 kB	12.00 key-ms	410.0 usable-ms
pkg: parley/cmd/parley/acceptance
BenchmarkVendors/turns 200 731.00 wait-p50-ms 41.00 own-p50-ms
`

func TestReport(t *testing.T) {
	dir := t.TempDir()
	first := NewReport([]Row{group("turn").most("overhead p50", 40, "ms", 35)})
	saved, text := filepath.Join(dir, "turn.json"), filepath.Join(dir, "go.txt")
	if err := first.Save(saved); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(text, []byte(goOutput), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := Collect([]string{saved, text})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := all.Print(&b); err != nil {
		t.Fatal(err)
	}
	var got []string
	for l := range strings.Lines(b.String()) {
		got = append(got, strings.Join(strings.Fields(l), " "))
	}
	for _, want := range []string{
		"turn overhead p50 40 ms 35 short",
		"resample 8 to 16 kHz 2.50 us 3 100 ok",
		"resample slowest: 44100-16000 18 us 16 short",
		"rtp pair of 50 calls, wake-ups included 24 us 1.50",
		"vad neural detector, 16 kHz 12 ms/s",
		"vad, starts where nobody speaks babble 15 dB, silero 0 beside 66",
		"vad, starts where nobody speaks babble 15 dB, spectral 11 beside 66",
		"vad, utterances missed babble 15 dB, spectral 2 of 66",
		"vad, starts after babble 15 dB, silero 100 ms",
		"pages, can be used after agents/{id} 410 ms",
		"pages, first key answered slowest: home 31 ms",
		"pages, first load agents/{id} 310 kB 300 short",
		"pages, first load home 31 kB 300 ok",
		"telephone through vendors' engines caller's wait p50 731 ms 900 ok",
		"telephone through vendors' engines of it ours p50 41 ms 40 short",
	} {
		found := false
		for _, l := range got {
			found = found || l == want
		}
		if !found {
			t.Errorf("no line %q in\n%s", want, &b)
		}
	}
	if _, err := Collect([]string{filepath.Join(dir, "none.json")}); err == nil {
		t.Error("collected a file that is not there")
	}
}

func TestQuantile(t *testing.T) {
	list := make([]int, 200)
	for i := range list {
		list[i] = i + 1
	}
	for _, tt := range []struct {
		q    float64
		want int
	}{{0, 1}, {0.5, 100}, {0.95, 190}, {0.99, 198}, {0.999, 200}, {1, 200}} {
		if got := Quantile(list, tt.q); got != tt.want {
			t.Errorf("quantile %v of 1 to 200 is %d, want %d", tt.q, got, tt.want)
		}
	}
	if got := Quantile([]int{}, 0.5); got != 0 {
		t.Errorf("quantile of nothing is %d", got)
	}
}
