package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/media/wav"
)

// TestSpeechCommands speaks, cleans and transcribes with the commands of a terminal
// and a server whose engines are real.
func TestSpeechCommands(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who := newCustomer(t, s, "10")
	dir := t.TempDir()
	parley := func(args ...string) outcome {
		t.Helper()
		env := []string{"PARLEY_URL=http://" + s.addrs["http"], "PARLEY_API_KEY=" + who.key}
		o := do(t, command(dir, env, args...))
		if o.status != done {
			t.Fatalf("%v: exit status %d: %s", args, o.status, o.errOut)
		}
		return o
	}
	clip := func(path string) wav.Clip {
		t.Helper()
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c, err := wav.Decode(f, 1<<24)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	spoken, clean := filepath.Join(dir, "spoken.wav"), filepath.Join(dir, "clean.wav")
	var did struct {
		Characters int
		Seconds    float64
	}
	if err := json.Unmarshal([]byte(parley("synth", "Good morning, Lola!", "-o", spoken, "--json").out), &did); err != nil {
		t.Fatal(err)
	}
	speech := clip(spoken)
	if length := float64(len(speech.Samples)) / float64(speech.Rate); did.Characters != 19 || length < 0.5 || did.Seconds-length > 0.001 || length-did.Seconds > 0.001 {
		t.Errorf("%+v, the file has %v s", did, length)
	}
	if n := len(parley("synth", "Good morning, Lola!", "--stream").out) / 2; n < 22_050 {
		t.Errorf("streamed %d samples", n)
	}
	ulaw := filepath.Join(dir, "spoken.ulaw")
	if err := json.Unmarshal([]byte(parley("synth", "Good morning, Lola!", "-o", ulaw, "--json").out), &did); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(ulaw); err != nil || float64(info.Size()) < 7_900*did.Seconds || float64(info.Size()) > 8_100*did.Seconds {
		t.Errorf("in the background: %v of %v s, %v", info, did.Seconds, err)
	}
	parley("denoise", spoken, "-o", clean)
	if c := clip(clean); c.Rate != speech.Rate || len(c.Samples) != len(speech.Samples) {
		t.Errorf("%d samples became %d, %v became %v", len(speech.Samples), len(c.Samples), speech.Rate, c.Rate)
	}
	question, err := filepath.Abs("../../../testdata/speech/opening-hours.wav")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"transcribe", question}, {"transcribe", question, "--live", "--language", "en"}} {
		if o := parley(args...); !strings.Contains(o.out, "monday") {
			t.Errorf("%v: %q", args, o.out)
		}
	}
}

// TestTalkMeasurement: the measurement of the embedded engines understands a caller.
func TestTalkMeasurement(t *testing.T) {
	t.Parallel()
	report := filepath.Join(t.TempDir(), "talk.json")
	o := do(t, command(t.TempDir(), nil, "bench", "talk", "--calls", "1", "--seconds", "10",
		"--question", "../../../testdata/speech/opening-hours.wav", "--json", report))
	if o.status != 0 {
		t.Fatalf("exit status %d: %s", o.status, o.errOut)
	}
	var r struct {
		Rows []struct {
			Name  string
			Value float64
		}
	}
	text, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, row := range r.Rows {
		values[row.Name] = row.Value
	}
	if values["calls refused"] != 0 || values["calls dropped"] != 0 || values["questions understood"] < 100 {
		t.Errorf("%v", values)
	}
}
