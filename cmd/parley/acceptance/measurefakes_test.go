package acceptance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"parley/inference/anthropic/anthropictest"
	"parley/inference/cartesia/cartesiatest"
	"parley/inference/deepgram/deepgramtest"
)

// The fakes of a measurement are a process of their own, so that the processor time of the
// server's process is the server's: this test, run again with fakesEnv set.

// fakesEnv holds the orders of a process of fakes, as JSON.
const fakesEnv = "PARLEY_TEST_FAKES"

// fakesOrder is what the fakes of a recogniser, a model and a voice are to do.
type fakesOrder struct {
	Said       string        // what each utterance of a caller is heard as
	Length     time.Duration // of an utterance
	Utterances int           // of a call; later ones are heard as nothing
	Reply      string        // to each of them
}

// fakesAddress is where the fakes are.
type fakesAddress struct{ Hears, Thinks, Speaks string }

// lognormal draws delays with a median and a 95th percentile, the same ones in each run.
func lognormal(seed uint64, median, p95 time.Duration) func() time.Duration {
	const deviations = 1.645 // of a normal distribution at its 95th percentile
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	sigma := math.Log(float64(p95)/float64(median)) / deviations
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(float64(median) * math.Exp(sigma*rng.NormFloat64()))
	}
}

// TestVendorFakes is the process of the fakes. Their delays are those of vendors over the
// Internet: what a caller says is known 150 ms after it, a turn's end 250 ms, a model begins
// after 350 ms and writes 60 tokens a second, and a voice begins after 150 ms.
func TestVendorFakes(t *testing.T) {
	if os.Getenv(fakesEnv) == "" {
		t.Skip("only a measurement runs it")
	}
	var o fakesOrder
	if err := json.Unmarshal([]byte(os.Getenv(fakesEnv)), &o); err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	utterances := make([]deepgramtest.Utterance, o.Utterances)
	for i := range utterances {
		utterances[i] = deepgramtest.Utterance{Text: o.Said, Length: o.Length}
	}
	ends := lognormal(2, 250*ms, 400*ms)
	hears := deepgramtest.New(t, deepgramtest.Script{Utterances: utterances, EndAfter: 200 * ms,
		Delays: deepgramtest.Delays{Word: lognormal(1, 150*ms, 250*ms), Eager: lognormal(3, 150*ms, 250*ms), Final: ends}})
	const pair = 40 * ms // two words, which are 2.4 tokens
	thinks := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{{Text: o.Reply}},
		Delays: anthropictest.Delays{FirstToken: lognormal(4, 350*ms, 700*ms), Token: func() time.Duration { return pair }}})
	speaks := cartesiatest.New(t, cartesiatest.Script{Delays: cartesiatest.Delays{FirstAudio: lognormal(5, 150*ms, 300*ms)}})
	if err := json.NewEncoder(os.Stdout).Encode(fakesAddress{hears.URL, thinks.URL, speaks.URL}); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is the signal
}

// startFakes starts a process of fakes, which ends with the test, and returns the environment of a server that has
// them for engines.
func startFakes(t *testing.T, o fakesOrder) (fakes *os.Process, env []string) {
	t.Helper()
	order, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestVendorFakes$", "-test.count=1")
	cmd.Env = append(os.Environ(), fakesEnv+"="+string(order))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	t.Cleanup(func() {
		_ = in.Close()
		text, _ := io.ReadAll(said)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the fakes: %v\n%s", err, text) // what they refused is there
		}
	})
	var at fakesAddress
	line, err := said.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		t.Fatalf("the fakes are not ready: %v %s", err, line)
	}
	file := filepath.Join(t.TempDir(), "parley.yaml")
	text := fmt.Sprintf(vendorsFile, at.Hears, deepgramtest.DefaultKey, at.Thinks, anthropictest.DefaultKey, at.Speaks, cartesiatest.DefaultKey, cartesiatest.DefaultVoice)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return cmd.Process, []string{"PARLEY_CONFIG=" + file, "PARLEY_LOG=info"}
}
