package pocketsphinx

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zaf/g711"

	"parley/inference"
	"parley/inference/worker/workertest"
)

var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

// start runs an engine for the length of the test.
func start(t testing.TB, c Config) *Engine {
	t.Helper()
	c.Program, c.Log = program, slog.New(slog.DiscardHandler)
	e := New(c)
	workertest.Run(t, e)
	for until := time.Now().Add(30 * time.Second); len(e.pool.PIDs()) < max(c.Processes, 1) && time.Now().Before(until); {
		runtime.Gosched()
	}
	return e
}

// prompt is what an operator would write for an agent that answers for a clinic.
var prompt = []string{
	`You are Emma, the receptionist of Riverside Dental Clinic. Be friendly and brief.
We are open Monday to Friday from 9:00 am to 6:00 pm and on Saturday from 10 am to 2 pm. We are closed on Sunday.
The address is 42 Market Street, next to the train station. There is free parking behind the building.
We offer check-ups, cleaning, fillings, whitening and emergency treatment. A check-up costs $60, a cleaning is $85, whitening $250.
Doctors: Dr. Miller and Dr. Garcia. To book an appointment ask for the name, the day, the time and the reason for the visit.
New patients should bring their insurance card and arrive ten minutes early. Cancel at least 24 hours before the appointment.`,
	"Riverside Dental Clinic, this is Emma. How can I help you?",
	"What day would you like to come? What time suits you? Morning or afternoon? What is your name? Is it for a check-up or a cleaning?",
	"I would like to book an appointment for a cleaning", "I have a toothache", "do you accept my insurance",
	"I need to move my appointment to another day", "I'd like to see Doctor Garcia", "how much is a check-up",
}

// callers say these; few of the sentences stand in the prompt.
var calls = []string{
	"hello i would like to book an appointment",
	"what are your opening hours",
	"are you open on saturday",
	"how much does a cleaning cost",
	"i need to see doctor miller",
	"tuesday at three please",
	"my name is john taylor",
	"can i come tomorrow morning",
	"i have a toothache it is an emergency",
	"do you have anything on friday afternoon",
	"yes please that would be great",
	"no thank you that's all",
	"where is the clinic",
	"is there parking behind the building",
	"i want to cancel my appointment on monday",
	"could you repeat that please",
	"i am a new patient",
	"at half past nine",
	"do you accept my insurance card",
	"the twenty first of october at two",
}

var spokenBy = map[string][]int16{}

// flite has a synthetic caller say text and returns it at 16 kHz.
func flite(t testing.TB, voice, text string) []int16 {
	t.Helper()
	key := voice + text
	if s, ok := spokenBy[key]; ok {
		return s
	}
	path := t.TempDir() + "/caller.wav"
	if out, err := exec.Command("flite", "-voice", voice, "-t", text, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("flite makes the callers of this test; install it (apt install flite): %v %s", err, out)
	}
	spokenBy[key] = sox(t, nil, path, "-t", "raw", "-r", "16000", "-e", "signed", "-b", "16", "-")
	return spokenBy[key]
}

// sox runs sox and returns the samples it writes.
func sox(t testing.TB, in []int16, args ...string) []int16 {
	t.Helper()
	cmd := exec.Command("sox", append([]string{"-D"}, args...)...)
	var b strings.Builder
	binary.Write(&b, binary.LittleEndian, in)
	cmd.Stdin = strings.NewReader(b.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("sox converts the callers of this test; install it (apt install sox): %v", err)
	}
	samples := make([]int16, len(out)/2)
	binary.Decode(out, binary.LittleEndian, samples)
	return samples
}

// telephone sends speech through G.711 mu-law at 8 kHz and back to 16 kHz.
func telephone(t testing.TB, samples []int16) []int16 {
	raw := func(rate int) []string {
		return []string{"-t", "raw", "-r", fmt.Sprint(rate), "-e", "signed", "-b", "16", "-c", "1", "-"}
	}
	narrow := sox(t, samples, append(raw(16000), raw(8000)...)...)
	for i, s := range narrow {
		narrow[i] = g711.DecodeUlawFrame(g711.EncodeUlawFrame(s))
	}
	return sox(t, narrow, append(raw(8000), raw(16000)...)...)
}

// withPauses puts the silence of an open line around speech, as the voice
// detector of a call does.
func withPauses(speech []int16) []int16 {
	return append(append(make([]int16, 3200), speech...), make([]int16, 6400)...)
}

func open(t testing.TB, e *Engine, phrases []string) inference.Recognition {
	t.Helper()
	r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en", Hints: inference.Hints{Terms: phrases}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// write gives audio in 20 ms frames, as a call does.
func write(r inference.Recognition, audio []int16) {
	for len(audio) > 0 {
		n := min(320, len(audio))
		r.Write(audio[:n])
		audio = audio[n:]
	}
}

// await returns the results until the last one of an utterance.
func await(t testing.TB, r inference.Recognition, utterance int) (all []inference.Result) {
	t.Helper()
	guard := time.After(30 * time.Second)
	for {
		select {
		case x, open := <-r.Results():
			if !open || x.Err != nil {
				t.Fatalf("the stream ended in utterance %d: %v", utterance, x.Err)
			}
			all = append(all, x)
			if x.Last && x.Utterance == utterance {
				return all
			}
		case <-guard:
			t.Fatalf("no last result of utterance %d, only %+v", utterance, all)
		}
	}
}

// final joins the final texts of results.
func final(results []inference.Result) string {
	var pieces []string
	for _, x := range results {
		if x.Final && x.Text != "" {
			pieces = append(pieces, x.Text)
		}
	}
	return strings.Join(pieces, " ")
}

func recognise(t testing.TB, r inference.Recognition, audio []int16) string {
	write(r, audio)
	return final(await(t, r, r.Finish()))
}

// wordErrors is the least number of words to change, insert or remove.
func wordErrors(want, got []string) int {
	row := make([]int, len(got)+1)
	for j := range row {
		row[j] = j
	}
	for i, w := range want {
		diagonal := row[0]
		row[0] = i + 1
		for j, g := range got {
			cost := 1
			if w == g {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(got)]
}
