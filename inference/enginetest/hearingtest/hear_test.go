package hearingtest

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

// listen begins to hear a dialogue in 16 bits at 8 kHz.
func listen(t *testing.T, d *Dialogue) (h *Hearer, hear func(length time.Duration, level float64) []Word) {
	t.Helper()
	s, err := loopbacktest.Listen("key", nil, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	h = d.Listen(s, loopbacktest.S16, 8000)
	return h, func(length time.Duration, level float64) (words []Word) {
		tone := loopbacktest.Tone(int(length.Milliseconds())*8, 0, 8000, level)
		h.Hear(loopbacktest.S16.Encode(tone), func(got Heard) { words = append(words, got.Words...) })
		return words
	}
}

func TestUtterancesAreHeardByLevel(t *testing.T) {
	d := NewDialogue([]Utterance{{Text: "Good morning, Ana.", Length: 900 * ms}, {Text: "Adiós.", Language: "es"}}, false)
	h, hear := listen(t, d)
	if words := hear(200*ms, -90); words != nil || h.Quiet != 200*ms || !h.Over() {
		t.Errorf("in silence: %v, quiet for %v", words, h.Quiet)
	}
	words := hear(900*ms, -20)
	if Text(words, false) != "Good morning, Ana." || Text(words, true) != "good morning ana" || !h.Over() {
		t.Errorf("%q", Text(words, false))
	}
	if w := words[1]; w.Start != 500*ms || w.End != 800*ms {
		t.Errorf("%v to %v", w.Start, w.End)
	}
	hear(300*ms, -90)
	words = append(words, hear(100*ms, -20)...)
	if got := h.Cut(); got != nil {
		t.Errorf("less than half of a word was heard as %v", got)
	}
	hear(40*ms, -20)
	words = append(words, h.Cut()...)
	if Text(words, true) != "good morning ana adiós" || !slices.Equal(Languages(words), []string{"en", "es"}) {
		t.Errorf("%q in %q", Text(words, true), Languages(words))
	}
}

func TestDialogueGoesOn(t *testing.T) {
	d := NewDialogue([]Utterance{{Text: "a b c d"}, {Text: "e", EmptyFinal: true}}, true)
	_, hear := listen(t, d)
	words := hear(500*ms, -20)
	d.Final(words)
	_, hear = listen(t, d)
	rest := append(hear(500*ms, -20), hear(300*ms, -90)...)
	rest = append(rest, hear(260*ms, -20)...)
	if got := Text(append(words, rest...), false); got != "a b c d e" {
		t.Errorf("%q", got)
	}
	if got := Text(Shown(rest), false); got != "c d" {
		t.Errorf("a final shows %q", got)
	}
	d.Final(rest)
	if _, hear = listen(t, d); hear(time.Second, -20) != nil {
		t.Error("there are words after the last")
	}
}
