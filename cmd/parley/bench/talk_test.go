package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestQuestion(t *testing.T) {
	said, err := question("../../../testdata/speech/opening-hours.wav")
	if took := time.Duration(len(said)) * time.Second / 8000; err != nil || took < time.Second || took > 3*time.Second || level(said) < -40 {
		t.Errorf("%s of %.0f dBFS: %v", took, level(said), err)
	}
	dir := t.TempDir()
	noise := filepath.Join(dir, "noise.wav")
	if err := os.WriteFile(noise, []byte("noise"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{noise, filepath.Join(dir, "none.wav")} {
		if _, err := question(file); err == nil {
			t.Errorf("%s was taken for a question", file)
		}
	}
	for _, x := range []Talk{{Calls: 101, Length: time.Second}, {Length: time.Second}, {Calls: 1}} {
		if rows, err := x.Run(t.Context()); err == nil {
			t.Errorf("%+v: %v", x, rows)
		}
	}
}

// TestTalkRows: what suffered in one call shows, whatever the other was like.
func TestTalkRows(t *testing.T) {
	seen := make([]talked, 2)
	for i, text := range []string{
		`{"transcript": [{"role": "agent", "text": "We open on Monday."}, {"role": "user", "text": "What time do you open on Monday"}],
			"turns": [{"total_ms": 300}], "quality": {"mos_min": 4.3, "packets_sent": 1000}}`,
		`{"transcript": [{"role": "user", "text": "without the"}], "quality": {"mos_min": 2.5, "packets_sent": 900, "packets_sent_late": 50, "packets_unsent": 100}}`,
	} {
		if err := json.Unmarshal([]byte(text), &seen[i]); err != nil {
			t.Fatal(err)
		}
	}
	rows := Talk{Calls: 3}.rows(loadResult{Refused: 1, Asked: 2}, seen)
	for name, want := range map[string]float64{"calls refused": 1, "calls dropped": 0, "questions understood": 50, "frames late or unsent": 15,
		"worst 5 s": 2.5, "answer after the question p50": 300} {
		if got := value(t, rows, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
