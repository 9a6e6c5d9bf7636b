package espeak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
)

func TestEveryVoiceSpeaksEveryLanguage(t *testing.T) {
	e := start(t)
	if n, m := len(e.Info().Languages), len(e.Voices()); n != 9 || m != 10 {
		t.Fatalf("%d languages, %d voices", n, m)
	}
	for _, l := range e.Info().Languages {
		for _, v := range e.Voices() {
			s := say(t, e, inference.Speech{Text: sentences[l], VoiceConfig: inference.VoiceConfig{Voice: v.ID, Language: l}})
			name := l + " " + v.ID
			if level := rms(s.samples); level < 1000 || level > 6000 {
				t.Errorf("%s: level %.0f", name, level)
			}
			letters := float64(len([]rune(sentences[l])))
			if perLetter := s.duration().Seconds() / letters; perLetter < 0.04 || perLetter > 0.1 {
				t.Errorf("%s: %v for %.0f letters", name, s.duration(), letters)
			}
			if n := float64(len(s.phones)); n < 0.5*letters || n > 1.1*letters {
				t.Errorf("%s: %.0f phonemes for %.0f letters", name, n, letters)
			}
			if n, m := len(s.words), len(strings.Fields(sentences[l])); n > m || n < m*2/3 {
				t.Errorf("%s: %d of %d words marked", name, n, m)
			}
		}
	}
}

func TestSpeed(t *testing.T) {
	e := start(t)
	speech := inference.Speech{Text: sentences["en"], VoiceConfig: inference.VoiceConfig{Voice: "F2", Language: "en"}}
	usual := say(t, e, speech).duration()
	for _, c := range []struct{ speed, from, to float64 }{{0.5, 1.6, 2.2}, {1, 0.95, 1.05}, {2, 0.4, 0.65}, {0.1, 1.6, 2.2}} {
		speech.Speed = c.speed
		if r := say(t, e, speech).duration().Seconds() / usual.Seconds(); r < c.from || r > c.to {
			t.Errorf("speed %v makes it %.2f times as long", c.speed, r)
		}
	}
}

func TestRefusals(t *testing.T) {
	e := start(t)
	for _, c := range []struct {
		speech inference.Speech
		want   inference.Fault
	}{
		{inference.Speech{Text: "a", VoiceConfig: inference.VoiceConfig{Voice: "X1", Language: "en"}}, inference.ErrVoice},
		{inference.Speech{Text: "a", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "ko"}}, inference.ErrLanguage},
		{inference.Speech{Text: "a", VoiceConfig: inference.VoiceConfig{Voice: "F1"}}, inference.ErrLanguage},
	} {
		if err := fails(t, e, c.speech); err == nil || err.Fault != c.want {
			t.Errorf("%+v: %v", c.speech, err)
		}
	}
}

// fails speaks and returns the engine's error, or nil.
func fails(t *testing.T, e *Engine, s inference.Speech) *inference.Error {
	t.Helper()
	for _, err := range e.Speak(t.Context(), s) {
		if err == nil {
			continue
		}
		var fault *inference.Error
		if !errors.As(err, &fault) {
			t.Fatalf("not the engine's error: %v", err)
		}
		return fault
	}
	return nil
}

func TestOddTexts(t *testing.T) {
	e := start(t)
	for _, text := range []string{"", " \t\n", "...", "\x01+50S\x00 hello", "[[h@l'oU]]", `<break time="9s"/> hello`, "👋🏽 hello", "a\xffb", "漢字 và ελληνικά", strings.Repeat("a", 3000)} {
		s := say(t, e, inference.Speech{Text: text, VoiceConfig: inference.VoiceConfig{Voice: "M2", Language: "es"}})
		if s.duration() > 10*time.Minute {
			t.Errorf("%.20q lasts %v", text, s.duration())
		}
	}
	plain := say(t, e, inference.Speech{Text: "hello", VoiceConfig: inference.VoiceConfig{Voice: "M2", Language: "en"}})
	command := say(t, e, inference.Speech{Text: "\x0180P hello", VoiceConfig: inference.VoiceConfig{Voice: "M2", Language: "en"}})
	if command.duration() < plain.duration()+200*time.Millisecond {
		t.Errorf("a control character was obeyed instead of read over: %v, plain %v", command.duration(), plain.duration())
	}
}

// Long texts are spoken in segments; marks go on over their borders.
func TestLongText(t *testing.T) {
	e := start(t)
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "This is sentence number %d of the story. ", i)
	}
	s := say(t, e, inference.Speech{Text: b.String(), VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en", Speed: 2}})
	// The engine has common pairs such as "of the" as one word.
	if n, m := len(s.words), len(strings.Fields(b.String())); n < m*5/6 || n > m {
		t.Errorf("%d of %d words marked", n, m)
	}
	for i := 1; i < len(s.words); i++ {
		if s.words[i].Char <= s.words[i-1].Char || s.words[i].Start < s.words[i-1].Start {
			t.Fatalf("%+v after %+v", s.words[i], s.words[i-1])
		}
	}
	if last := s.words[len(s.words)-1]; s.duration()-last.Start > 2*time.Second {
		t.Errorf("the last word is at %v of %v", last.Start, s.duration())
	}
}

func TestAbortFreesTheWorker(t *testing.T) {
	e := start(t)
	long := inference.Speech{Text: strings.Repeat("Nothing stops me from going on and on. ", 9), VoiceConfig: inference.VoiceConfig{Voice: "F3", Language: "en", Speed: 0.5}}
	short := inference.Speech{Text: "Yes.", VoiceConfig: inference.VoiceConfig{Voice: "F3", Language: "en"}}
	want := say(t, e, short).duration()
	hangup := errors.New("hang-up")
	for range 20 { // far more than there are workers
		for range e.Speak(t.Context(), long) {
			break
		}
		if chunks, err := hangUpAtOnce(t, e, long, hangup); err != hangup || chunks != 1 {
			t.Fatalf("%d chunks, then %v", chunks, err)
		}
	}
	if got := say(t, e, short).duration(); !near(got, want) {
		t.Errorf("%v after aborts, %v before", got, want)
	}
}

// hangUpAtOnce cancels at the first chunk and tells what came until the end.
func hangUpAtOnce(t *testing.T, e *Engine, s inference.Speech, why error) (chunks int, last error) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	for _, err := range e.Speak(ctx, s) {
		if last = err; err == nil {
			chunks++
		}
		cancel(why)
	}
	return chunks, last
}

// near allows for what the engine remembers of earlier requests, which changes
// lengths by some percent.
func near(a, b time.Duration) bool { return math.Abs(a.Seconds()/b.Seconds()-1) < 0.06 }

func rms(samples []int16) float64 {
	var e float64
	for _, s := range samples {
		e += float64(s) * float64(s)
	}
	return math.Sqrt(e / float64(max(1, len(samples))))
}

func TestConcurrentSpeeches(t *testing.T) {
	e := start(t)
	var all sync.WaitGroup
	for i, v := range e.Voices() {
		l := e.Info().Languages[i%9]
		want := say(t, e, inference.Speech{Text: sentences[l], VoiceConfig: inference.VoiceConfig{Voice: v.ID, Language: l}}).duration()
		all.Go(func() {
			for range 3 {
				got := time.Duration(0)
				for c, err := range e.Speak(t.Context(), inference.Speech{Text: sentences[l], VoiceConfig: inference.VoiceConfig{Voice: v.ID, Language: l}}) {
					if err != nil {
						t.Error(err)
					}
					got += c.Rate.Duration(len(c.Samples)).Duration()
				}
				if !near(got, want) {
					t.Errorf("%s %s: %v, alone %v", l, v.ID, got, want)
				}
			}
		})
	}
	all.Wait()
}

func TestKilledWorkers(t *testing.T) {
	e := start(t)
	short := inference.Speech{Text: "Still here.", VoiceConfig: inference.VoiceConfig{Voice: "M1", Language: "en"}}
	for range 3 {
		for _, pid := range e.pool.PIDs() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		say(t, e, short)
	}
}

// A worker that dies before it made a sound is replaced without a word.
func TestKilledBeforeTheFirstChunk(t *testing.T) {
	e := New(Config{Program: program, Processes: 1, Log: slog.New(slog.DiscardHandler)})
	runUntilCleanup(t, e, 1)
	pid := e.pool.PIDs()[0]
	syscall.Kill(pid, syscall.SIGSTOP)
	time.AfterFunc(100*time.Millisecond, func() { syscall.Kill(pid, syscall.SIGKILL) })
	say(t, e, inference.Speech{Text: "Once more.", VoiceConfig: inference.VoiceConfig{Voice: "M1", Language: "en"}})
}

// A worker that hangs is killed, and another one speaks.
func TestHungWorker(t *testing.T) {
	t.Parallel() // it takes as long as the engine's patience
	e := start(t)
	hung := e.pool.PIDs()[0]
	syscall.Kill(hung, syscall.SIGSTOP)
	for range 2 { // each of the two workers is asked first once
		say(t, e, inference.Speech{Text: "Someone answers.", VoiceConfig: inference.VoiceConfig{Voice: "M1", Language: "en"}})
	}
}

// A worker that dies while it speaks ends the speech with ErrFailed.
func TestKilledMidSpeech(t *testing.T) {
	e := start(t)
	long := inference.Speech{Text: strings.Repeat("Nothing stops me from going on and on. ", 9), VoiceConfig: inference.VoiceConfig{Voice: "F3", Language: "en", Speed: 0.5}}
	for range 50 { // the worker may be through before the signal comes
		killed := false
		for _, err := range e.Speak(t.Context(), long) {
			var fault *inference.Error
			if errors.As(err, &fault) && fault.Fault == inference.ErrFailed {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, pid := range e.pool.PIDs() {
				if !killed {
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			killed = true
		}
	}
	t.Error("no death was noticed")
}

func TestFullQueue(t *testing.T) {
	e := start(t)
	for _, pid := range e.pool.PIDs() {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	short := inference.Speech{Text: "One of many.", VoiceConfig: inference.VoiceConfig{Voice: "M1", Language: "en"}}
	results := make(chan error, waiting+defaultProcesses+1)
	for range cap(results) {
		go func() {
			var last error
			for _, err := range e.Speak(t.Context(), short) {
				last = err
			}
			results <- last
		}()
	}
	var fault *inference.Error
	if err := <-results; !errors.As(err, &fault) || fault.Fault != inference.ErrUnavailable {
		t.Errorf("the one too many: %v", err)
	}
	for _, pid := range e.pool.PIDs() {
		syscall.Kill(pid, syscall.SIGCONT)
	}
	for range waiting + defaultProcesses {
		if err := <-results; err != nil {
			t.Errorf("one in line: %v", err)
		}
	}
}

func TestNoProgram(t *testing.T) {
	e := New(Config{Program: "/nonexistent/parley-speech", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	defer running.Wait()
	defer cancel()
	if err := e.Ready(ctx); err == nil || !strings.Contains(err.Error(), "/nonexistent/parley-speech") {
		t.Errorf("ready: %v", err)
	}
	if err := fails(t, e, inference.Speech{Text: "a", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}); err == nil || err.Fault != inference.ErrUnavailable {
		t.Errorf("speak: %v", err)
	}
}

func BenchmarkFirstChunk(b *testing.B) {
	e := start(b)
	for b.Loop() {
		for range e.Speak(b.Context(), inference.Speech{Text: sentences["en"], VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}) {
			break
		}
	}
}

func BenchmarkSentence(b *testing.B) {
	e := start(b)
	for b.Loop() {
		say(b, e, inference.Speech{Text: sentences["en"], VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}})
	}
}

func TestConformance(t *testing.T) {
	e := start(t)
	enginetest.TestTTS(t, e, enginetest.TTSOptions{Busy: e.pool.Busy})
}
