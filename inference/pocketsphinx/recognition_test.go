package pocketsphinx

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
)

// maxWordErrors is the bar over a telephone line, in percent.
const maxWordErrors = 10

func TestTelephoneCallers(t *testing.T) {
	e := start(t, Config{})
	allWrong, allWords := 0, 0
	for _, voice := range []string{"slt", "rms"} {
		r := open(t, e, prompt)
		wrong, words := 0, 0
		for _, said := range calls {
			got := recognise(t, r, withPauses(telephone(t, flite(t, voice, said))))
			n := wordErrors(strings.Fields(said), strings.Fields(got))
			if n > 0 {
				t.Logf("%s: %q was heard as %q", voice, said, got)
			}
			wrong, words = wrong+n, words+len(strings.Fields(said))
		}
		t.Logf("%s: %d of %d words wrong, %.1f %%", voice, wrong, words, 100*float64(wrong)/float64(words))
		allWrong, allWords = allWrong+wrong, allWords+words
	}
	percent := 100 * float64(allWrong) / float64(allWords)
	t.Logf("both callers: %.1f %% of the words wrong", percent)
	if percent > maxWordErrors {
		t.Errorf("more than %d %% of the words are wrong", maxWordErrors)
	}
}

// question is one that is understood also as the first of a call.
const question = "what are your opening hours"

func audio(t testing.TB) []int16 { return withPauses(telephone(t, flite(t, "rms", question))) }

func TestPartialsBeforeTheEnd(t *testing.T) {
	e := start(t, Config{})
	r := open(t, e, prompt)
	for n := 1; n <= 2; n++ { // the first utterance is treated differently
		write(r, audio(t))
		select {
		case x := <-r.Results():
			if x.Final || x.Utterance != n || x.Text == "" || x.Err != nil {
				t.Errorf("before Finish: %+v", x)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no partial")
		}
		if got := final(await(t, r, r.Finish())); got != question {
			t.Errorf("heard as %q", got)
		}
	}
}

func TestDecodersAtOnce(t *testing.T) {
	e := start(t, Config{})
	speech := audio(t)
	var all sync.WaitGroup
	for range 4 {
		r := open(t, e, prompt)
		all.Go(func() {
			write(r, speech)
			n := r.Finish()
			for x := range r.Results() {
				if x.Last && (x.Utterance != n || x.Text != question) {
					t.Errorf("heard as %+v", x)
				}
				if x.Last {
					return
				}
			}
			t.Error("the stream ended")
		})
	}
	all.Wait()
}

func TestOnlyEnglish(t *testing.T) {
	e := start(t, Config{Processes: 1})
	for _, language := range []string{"es", "pt", "fr", "it", "de", "ca", "xx", "english"} {
		if _, err := e.Open(t.Context(), inference.ASRConfig{Language: language}); inference.FaultOf(err) != inference.ErrLanguage {
			t.Errorf("%s: %v", language, err)
		}
	}
	r, err := e.Open(t.Context(), inference.ASRConfig{Hints: inference.Hints{Terms: prompt}})
	if err != nil {
		t.Fatalf("detected language: %v", err)
	}
	r.Close()
}

func TestGeneralModel(t *testing.T) {
	e := start(t, Config{Processes: 1})
	r := open(t, e, nil)
	if got := recognise(t, r, withPauses(flite(t, "rms", question))); wordErrors(strings.Fields(question), strings.Fields(got)) > 2 {
		t.Errorf("heard as %q", got)
	}
	e.maxGenerals = 1
	if _, err := e.Open(t.Context(), inference.ASRConfig{}); inference.FaultOf(err) != inference.ErrUnavailable {
		t.Errorf("one too many: %v", err)
	}
	r.Close()
	if n := e.generals.Load(); n != 0 {
		t.Errorf("%d general models after the last stream", n)
	}
}

func kill(e *Engine) {
	for _, pid := range e.pool.PIDs() {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// The worker is killed in the middle of an utterance: another one hears it from
// the beginning, and the caller notices nothing.
func TestKilledMidUtterance(t *testing.T) {
	e := start(t, Config{})
	r := open(t, e, prompt)
	speech := audio(t)
	for range 2 {
		write(r, speech[:len(speech)*3/4])
		if x := <-r.Results(); x.Final || x.Err != nil {
			t.Fatalf("first result: %+v", x)
		}
		kill(e)
		write(r, speech[len(speech)*3/4:])
		if got := final(await(t, r, r.Finish())); got != question {
			t.Errorf("heard as %q", got)
		}
	}
}

func TestKilledWhenNobodySpeaks(t *testing.T) {
	e := start(t, Config{})
	r := open(t, e, prompt)
	for range 2 {
		if got := recognise(t, r, audio(t)); got != question {
			t.Errorf("heard as %q", got)
		}
		kill(e)
	}
}

// What was said before a Finish that is taken back and what is said after it are
// pieces of one utterance.
func TestResume(t *testing.T) {
	e := start(t, Config{})
	r := open(t, e, prompt)
	one, two := withPauses(telephone(t, flite(t, "rms", "yes please"))), audio(t)
	recognise(t, r, two) // the first utterance is treated differently
	for _, late := range []bool{false, true} {
		write(r, one)
		n := r.Finish()
		var before []inference.Result
		if late { // the result has been delivered already
			before = await(t, r, n)
		}
		r.Resume()
		write(r, two)
		if m := r.Finish(); m != n {
			t.Fatalf("utterance %d became %d", n, m)
		}
		all := append(before, await(t, r, n)...)
		if got := final(all); got != "yes please "+question {
			t.Errorf("heard as %q", got)
		}
		for i, x := range all {
			if x.Final && x.Last != (late || i == len(all)-1) {
				t.Errorf("%d of %d: %+v", i, len(all), x)
			}
		}
		if partial := all[len(all)-2]; !partial.Final && !strings.HasPrefix(partial.Text, "yes please ") {
			t.Errorf("partial %q of an utterance that began otherwise", partial.Text)
		}
	}
}

// standStill stops a worker. It returns when it does stand still: on a busy machine the signal
// comes some time later.
func standStill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		if _, state, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(state, "T") { // proc(5)
			return
		}
		runtime.Gosched()
	}
}

// An engine that lags by more than 15 s loses the oldest audio, and only that.
func TestLaggingEngine(t *testing.T) {
	e := start(t, Config{Processes: 1})
	opened := open(t, e, prompt)
	recognise(t, opened, audio(t))
	pid := e.pool.PIDs()[0]
	standStill(t, pid)
	write(opened, make([]int16, 20*rate))
	n := opened.Finish()
	write(opened, audio(t))
	last := opened.Finish()
	if lag := e.Lag(); lag < 15*time.Second {
		t.Errorf("a lag of %v while the worker stands still", lag)
	}
	syscall.Kill(pid, syscall.SIGCONT)
	await(t, opened, n)
	if got := final(await(t, opened, last)); got != question {
		t.Errorf("heard as %q", got)
	}
	if lag := e.Lag(); lag != 0 {
		t.Errorf("a lag of %v with nothing to hear", lag)
	}
	r := opened.(*recognition)
	r.mu.Lock()
	dropped := r.backlog.dropped
	r.mu.Unlock()
	// 2 s may have been on their way, and the backlog is cut a second late.
	if written := 20*rate + len(audio(t)); dropped < written-keepSamples-slack-window || dropped > written-keepSamples {
		t.Errorf("%d samples dropped of %d", dropped, written)
	}
}

// A recogniser that has heard all and not yet said what it was is behind, however long its
// worker takes.
func TestLagUntilTheFinal(t *testing.T) {
	e := start(t, Config{Processes: 1})
	r := open(t, e, prompt)
	recognise(t, r, audio(t))
	write(r, audio(t))
	lagging := r.(inference.Lagging)
	for lagging.Lag() > 0 {
		time.Sleep(time.Millisecond)
	}
	pid := e.pool.PIDs()[0]
	standStill(t, pid)
	n := r.Finish()
	if lagging.Lag() == 0 {
		t.Error("no lag, and no final result")
	}
	syscall.Kill(pid, syscall.SIGCONT)
	await(t, r, n)
	if lag := lagging.Lag(); lag != 0 {
		t.Errorf("a lag of %v after the final result", lag)
	}
}

func TestCancelledStreamsAreFreed(t *testing.T) {
	e := start(t, Config{Processes: 1})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := e.Open(ctx, inference.ASRConfig{Language: "en", Hints: inference.Hints{Terms: prompt}})
	if err != nil {
		t.Fatal(err)
	}
	write(r, audio(t))
	cancel()
	for range r.Results() {
	}
	r.Close()
	if n := e.pool.Busy(); n != 0 {
		t.Errorf("%d streams are still open", n)
	}
}

func TestConformance(t *testing.T) {
	e := start(t, Config{})
	enginetest.TestASR(t, e, enginetest.ASROptions{
		Language: "en", Audio: audio(t), Hints: inference.Hints{Terms: prompt}, Busy: e.pool.Busy,
		Heard: func(text string) bool { return text == question },
	})
}

// TestWriteAllocates: the only method in the 20 ms path.
func TestWriteAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	r := newRecognition(nil, nil)
	frame := make([]int16, 320)
	for range 2 * keepSamples / len(frame) { // the backlog grows to its bound once
		r.Write(frame)
	}
	if n := testing.AllocsPerRun(500, func() { r.Write(frame) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkWrite(b *testing.B) {
	r := newRecognition(nil, nil)
	frame := make([]int16, 320)
	for b.Loop() {
		r.Write(frame)
	}
}

func BenchmarkUtterance(b *testing.B) {
	e := start(b, Config{Processes: 1})
	r := open(b, e, prompt)
	speech := audio(b)
	recognise(b, r, speech)
	for b.Loop() {
		recognise(b, r, speech)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/(float64(len(speech))/float64(rate)), "ms/s")
}

func BenchmarkOpen(b *testing.B) {
	e := start(b, Config{Processes: 1})
	for b.Loop() {
		r := open(b, e, prompt)
		r.Close()
	}
}
