package quality_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"parley/media/quality"
)

// The scores that ITU-T G.107 annex B gives for the R beside each.
func TestMOS(t *testing.T) {
	for _, c := range []struct {
		codec quality.Codec
		delay time.Duration
		loss  float64
		run   float64
		want  float64
	}{
		{quality.G711, 0, 0, 1, 4.41},                         // R = 93.2
		{quality.G711, 150 * time.Millisecond, 0, 1, 4.34},    // R = 89.6
		{quality.G711, 400 * time.Millisecond, 0, 1, 3.05},    // R = 59.1
		{quality.G711, 0, 0.05, 1, 3.92},                      // R = 77.4
		{quality.G711, 0, 0.05, 4, 3.83},                      // R = 75.2: the same in bursts
		{quality.G711, 0, 1, 1, 1.18},                         // R = 17.3
		{quality.G711, 100 * time.Millisecond, 0.02, 1, 4.16}, // R = 83.8
		{quality.Opus, 0, 0, 1, 4.41},                         // R = 93.2
		{quality.Opus, 0, 0.05, 1, 3.76},                      // R = 73.4
		{quality.Opus, 100 * time.Millisecond, 0.02, 1, 4.10}, // R = 81.8
	} {
		if got := quality.MOS(c.codec, c.delay, c.loss, c.run); math.Abs(got-c.want) > 0.02 {
			t.Errorf("delay %v, loss %v in runs of %v: %.2f, want %.2f", c.delay, c.loss, c.run, got, c.want)
		}
	}
	for loss := 0.0; loss < 0.5; loss += 0.01 {
		for _, c := range []quality.Codec{quality.G711, quality.Opus} {
			here := quality.MOS(c, 0, loss, 1)
			if quality.MOS(c, 0, loss+0.01, 1) > here || quality.MOS(c, time.Second, loss, 1) > here {
				t.Errorf("codec %d: more loss or delay sounds better at %v", c, loss)
			}
		}
		if quality.MOS(quality.Opus, 0, loss, 1) > quality.MOS(quality.G711, 0, loss, 1) {
			t.Errorf("Opus suffers less than samples at %v", loss)
		}
	}
}

// What calls are scored is kept with them for years: it does not change unnoticed.
// PARLEY_GOLDEN=update rewrites the table.
func TestScoresDoNotChange(t *testing.T) {
	for codec, golden := range []string{quality.G711: "testdata/mos.txt", quality.Opus: "testdata/mos-opus.txt"} {
		unchanged(t, quality.Codec(codec), golden)
	}
}

func unchanged(t *testing.T, codec quality.Codec, golden string) {
	var got bytes.Buffer
	fmt.Fprintln(&got, "delay_ms loss run mos")
	for _, delay := range []int{0, 20, 100, 177, 178, 250, 400, 1000} {
		for _, loss := range []float64{0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1} {
			for _, run := range []float64{1, 2, 5} {
				fmt.Fprintf(&got, "%d %g %g %.4f\n", delay, loss, run, quality.MOS(codec, time.Duration(delay)*time.Millisecond, loss, run))
			}
		}
	}
	if os.Getenv("PARLEY_GOLDEN") == "update" {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the scores are not those of %s:\n%s", golden, got.Bytes())
	}
}

func TestMeter(t *testing.T) {
	var m quality.Meter
	if mean, least := m.Scores(quality.Counts{}, quality.Counts{Expected: 9, Lost: 9}, 0); mean != 0 || least != 0 {
		t.Errorf("nothing came, scored %v, %v", mean, least)
	}
	if mean, least := m.Scores(quality.Counts{Expected: 100}, quality.Counts{}, 0); mean != least || mean != quality.MOS(quality.G711, 0, 0, 1) {
		t.Errorf("before the first interval is over: %v, %v", mean, least)
	}
	m.Close(quality.Counts{Expected: 250}, quality.Counts{}, 0)
	m.Close(quality.Counts{Expected: 500, Lost: 25, Bursts: 5}, quality.Counts{}, 0)
	m.Close(quality.Counts{Expected: 500, Lost: 25, Bursts: 5}, quality.Counts{}, 0) // on hold: no interval
	m.Close(quality.Counts{Expected: 750, Lost: 25, Bursts: 5}, quality.Counts{}, 0)
	mean, least := m.Scores(quality.Counts{Expected: 800, Lost: 75, Bursts: 6}, quality.Counts{}, 0)
	good, bad := quality.MOS(quality.G711, 0, 0, 1), quality.MOS(quality.G711, 0, 0.1, 5)
	if least != bad || math.Abs(mean-(2*good+bad)/3) > 1e-12 {
		t.Errorf("scored %v, least %v; want %v, %v", mean, least, (2*good+bad)/3, bad)
	}
}

// TestMeterOfBothDirections: who hears us badly because we send too late has a bad call,
// however well we hear them.
func TestMeterOfBothDirections(t *testing.T) {
	var m quality.Meter
	var out quality.Outgoing
	interval := func(in uint64, late time.Duration, unsent uint64) {
		for range 240 {
			out.Due(1, time.Millisecond, 0)
		}
		for range 5 {
			out.Due(2, late, unsent)
		}
		m.Close(quality.Counts{Expected: in}, out.Counts(), 0)
	}
	interval(250, 30*time.Millisecond, 0)
	if mean, _ := m.Scores(quality.Counts{}, quality.Counts{}, 0); mean != quality.MOS(quality.G711, 0, 0, 1) || out.Late != 0 {
		t.Errorf("what a telephone makes up for is scored %v, %d late", mean, out.Late)
	}
	interval(500, 50*time.Millisecond, 0) // the first of each two
	_, least := m.Scores(quality.Counts{}, quality.Counts{}, 0)
	if want := quality.MOS(quality.G711, 0, 5.0/250, 1); math.Abs(least-want) > 0.01 || out.Late != 5 {
		t.Errorf("late frames are scored %v, want %v; %d late", least, want, out.Late)
	}
	interval(750, 0, 10)
	_, least = m.Scores(quality.Counts{}, quality.Counts{}, 0)
	if want := quality.MOS(quality.G711, 0, 50.0/300, 10); math.Abs(least-want) > 0.01 || out.Unsent != 50 {
		t.Errorf("frames that were not sent are scored %v, want %v; %d unsent", least, want, out.Unsent)
	}
}
