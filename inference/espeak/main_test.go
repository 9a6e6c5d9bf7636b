package espeak

import (
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/worker/workertest"
)

var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

// start runs an engine for the length of the test.
func start(t testing.TB) *Engine {
	t.Helper()
	e := New(Config{Program: program, Log: slog.New(slog.DiscardHandler)})
	runUntilCleanup(t, e, defaultProcesses)
	return e
}

func runUntilCleanup(t testing.TB, e *Engine, processes int) {
	t.Helper()
	workertest.Run(t, e)
	for until := time.Now().Add(30 * time.Second); len(e.pool.PIDs()) < processes && time.Now().Before(until); {
		runtime.Gosched()
	}
}

// speech is everything one Speak produced.
type speech struct {
	samples       []int16
	words, phones []inference.Mark
	chunks        int
}

func (s speech) duration() time.Duration { return Rate.Duration(len(s.samples)).Duration() }

// say speaks and checks what holds for every speech: one rate, and marks that
// begin in their chunk, in order, at letters that never go back.
func say(t testing.TB, e *Engine, s inference.Speech) speech {
	t.Helper()
	var out speech
	at, char := time.Duration(0), 0
	for c, err := range e.Speak(t.Context(), s) {
		if err != nil {
			t.Fatalf("%s %s: %v", s.Language, s.Voice, err)
		}
		from := out.duration()
		out.samples = append(out.samples, c.Samples...)
		out.words, out.phones = append(out.words, c.Words...), append(out.phones, c.Phones...)
		out.chunks++
		if c.Rate != Rate {
			t.Fatalf("rate %v", c.Rate)
		}
		for _, p := range c.Phones {
			if p.Start < at || p.Start < from || p.Start > out.duration() || p.Char < char || p.Char >= len([]rune(s.Text)) {
				t.Fatalf("%s %s: phoneme %+v after %v, letter %d, in the chunk %v to %v", s.Language, s.Voice, p, at, char, from, out.duration())
			}
			at, char = p.Start, p.Char
		}
		for _, w := range c.Words {
			if w.Start < from || w.Start > out.duration() {
				t.Fatalf("%s %s: word %+v in the chunk %v to %v", s.Language, s.Voice, w, from, out.duration())
			}
			if got := string([]rune(s.Text)[w.Char:][:len([]rune(w.Text))]); got != w.Text || strings.TrimSpace(got) != got {
				t.Fatalf("%s %s: word %+v lies at %q", s.Language, s.Voice, w, got)
			}
		}
	}
	return out
}

// sentences are about 50 letters each.
var sentences = map[string]string{
	"en": "Good morning, your table for two is booked for Friday.",
	"es": "Buenos días, su mesa para dos está reservada el viernes.",
	"ca": "Bon dia, la seva taula per a dos és reservada divendres.",
	"gl": "Bos días, a súa mesa para dous está reservada o venres, na praza da igrexa unha hora.",
	"eu": "Egun on, zure mahaia bi lagunentzat ostiralean dago.",
	"pt": "Bom dia, a sua mesa para dois está reservada na sexta.",
	"fr": "Bonjour, votre table pour deux est réservée vendredi soir.",
	"it": "Buongiorno, il suo tavolo per due è prenotato per venerdì.",
	"de": "Guten Morgen, Ihr Tisch für zwei ist am Freitag reserviert.",
}
