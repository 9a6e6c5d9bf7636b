package deepgram_test

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/deepgram"
	"parley/inference/deepgram/deepgramtest"
	"parley/inference/enginetest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/recogniser"
	"parley/inference/remote"
)

// models are one of each wire.
var models = map[string]string{"nova": "nova-3", "flux": "flux-general-multi"}

// voice is sound for 0.8 s, and then silence for 0.4 s.
func voice() []int16 {
	audio := make([]int16, 16000*6/5)
	for i := range audio[:12800] {
		audio[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/16000))
	}
	return audio
}

const sentence = "a table for two please"

// sentences are as many utterances as any test has.
func sentences() []deepgramtest.Utterance {
	return slices.Repeat([]deepgramtest.Utterance{{Text: sentence, Length: 800 * time.Millisecond}}, 100)
}

func engine(t *testing.T, s *deepgramtest.Server, model string, options string) *recogniser.Engine {
	t.Helper()
	c := remote.Engine{BaseURL: s.URL, APIKey: s.Key, Model: model}
	if options != "" {
		c.Options = inference.Options(options)
	}
	e, err := deepgram.NewASR(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	for name, model := range models {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := deepgramtest.New(t, deepgramtest.Script{Utterances: sentences()})
			options := ""
			if name == "flux" {
				options = `{"eager_eot_threshold": 0.4}`
			}
			enginetest.TestASR(t, engine(t, s, model, options), enginetest.ASROptions{
				Audio: voice(), Heard: func(text string) bool { return text == sentence }, Busy: s.Busy, Hints: inference.Hints{Terms: []string{"table"}}})
		})
	}
}

// hear writes audio frame by frame, as fast as it can, and returns the final text of the utterance and all results.
func hear(t *testing.T, r inference.Recognition, audio []int16) (text string, all []inference.Result) {
	t.Helper()
	for len(audio) > 0 {
		n := min(320, len(audio))
		r.Write(audio[:n])
		audio = audio[n:]
	}
	n := r.Finish()
	var finals []string
	for x := range r.Results() {
		if all = append(all, x); x.Err != nil {
			return "", all
		}
		if x.Final && x.Utterance == n && x.Text != "" {
			finals = append(finals, x.Text)
		}
		if x.Last && x.Utterance == n {
			return strings.Join(finals, " "), all
		}
	}
	t.Error("the stream ended before the last result")
	return "", all
}

func open(t *testing.T, e inference.ASR) inference.Recognition {
	t.Helper()
	r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// TestWordTimes: words have times from the beginning of their own utterance.
func TestWordTimes(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{Utterances: sentences()})
	r := open(t, engine(t, s, "nova-3", ""))
	for range 3 {
		text, all := hear(t, r, voice())
		last := all[len(all)-1]
		if text != sentence || len(last.Words) != 5 || last.Words[0].Start > 40*time.Millisecond || last.Words[4].End < 700*time.Millisecond || last.Words[4].End > 900*time.Millisecond {
			t.Errorf("%q, words %+v", text, last.Words)
		}
		if u := last.Usage; u == nil || u.Audio == 0 || u.Open <= 0 {
			t.Errorf("usage %+v", u)
		}
	}
}

// TestReconnects: a socket that breaks in the middle of an utterance costs no word, and says none twice.
func TestReconnects(t *testing.T) {
	for name, model := range models {
		for after := range 6 {
			s := deepgramtest.New(t, deepgramtest.Script{Utterances: sentences(), Continue: true,
				Faults: []loopbacktest.Fault{{Connections: 1, AfterMessages: after, Then: loopbacktest.Cut}}})
			r := open(t, engine(t, s, model, ""))
			for n := range 2 {
				if text, all := hear(t, r, voice()); text != sentence {
					t.Errorf("%s, cut after %d messages: utterance %d is %q; %+v", name, after, n+1, text, all)
				}
			}
			if b := s.Books(); b.Opened != 2 {
				t.Errorf("%s, cut after %d messages: %d sockets", name, after, b.Opened)
			}
		}
	}
}

// TestGivesUp: sockets that break each time end the stream, for another engine to take over.
func TestGivesUp(t *testing.T) {
	for name, model := range models {
		for what, then := range map[string]loopbacktest.Action{"cut": loopbacktest.Cut, "invalid": loopbacktest.Invalid, "huge": loopbacktest.Huge} {
			s := deepgramtest.New(t, deepgramtest.Script{Utterances: sentences(), Faults: []loopbacktest.Fault{{AfterMessages: 1, Then: then}}})
			r := open(t, engine(t, s, model, ""))
			_, all := hear(t, r, voice())
			if err := all[len(all)-1].Err; inference.FaultOf(err) != inference.ErrFailed || strings.Contains(err.Error(), s.Key) {
				t.Errorf("%s, %s: error %v", name, what, err)
			}
			if b := s.Books(); b.Opened != 3 {
				t.Errorf("%s, %s: %d sockets", name, what, b.Opened)
			}
		}
	}
}

// TestOddMessages: what is unknown, or lacks fields, is passed over.
func TestOddMessages(t *testing.T) {
	for name, model := range models {
		for what, then := range map[string]loopbacktest.Action{"unknown": loopbacktest.Unknown, "nulls": loopbacktest.Nulls} {
			s := deepgramtest.New(t, deepgramtest.Script{Utterances: sentences(), Faults: []loopbacktest.Fault{{AfterMessages: 1, Then: then}}})
			if text, all := hear(t, open(t, engine(t, s, model, "")), voice()); text != sentence {
				t.Errorf("%s, %s: %q, %+v", name, what, text, all)
			}
		}
	}
}

// TestRefusals: every status of the handshake has its fault, and no error holds the key.
func TestRefusals(t *testing.T) {
	for status, want := range map[int]inference.Fault{
		http.StatusUnauthorized: inference.ErrRefused, http.StatusPaymentRequired: inference.ErrRefused, http.StatusForbidden: inference.ErrRefused,
		http.StatusTooManyRequests: inference.ErrUnavailable, http.StatusInternalServerError: inference.ErrFailed, http.StatusServiceUnavailable: inference.ErrUnavailable,
	} {
		for name, model := range models {
			s := deepgramtest.New(t, deepgramtest.Script{Faults: []loopbacktest.Fault{{Status: status, RetryAfter: 7 * time.Second}}})
			_, err := engine(t, s, model, "").Open(t.Context(), inference.ASRConfig{Language: "en"})
			if inference.FaultOf(err) != want || strings.Contains(err.Error(), s.Key) {
				t.Errorf("%s, status %d: %v", name, status, err)
			}
			if e, ok := err.(*inference.Error); !ok || e.RetryAfter != 7*time.Second {
				t.Errorf("%s, status %d: retry after %v", name, status, err)
			}
		}
	}
}

// TestUnansweredFinish: what is not answered ends with what was heard.
func TestUnansweredFinish(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{Utterances: sentences(), Traps: deepgramtest.Traps{FinalizeUnanswered: true}})
	r := open(t, engine(t, s, "nova-3", ""))
	if text, _ := hear(t, r, make([]int16, 16000)); text != "" {
		t.Errorf("silence is %q", text)
	}
	if text, _ := hear(t, r, voice()); text != sentence {
		t.Errorf("after silence: %q", text)
	}
}

// TestEmptyFinal: an empty final does not take back what the partial texts have said.
func TestEmptyFinal(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{Utterances: []deepgramtest.Utterance{{Text: sentence, Length: 800 * time.Millisecond, EmptyFinal: true}}})
	if text, all := hear(t, open(t, engine(t, s, "nova-3", "")), voice()); text != sentence {
		t.Errorf("%q, %+v", text, all)
	}
}

// TestTurns: a pause inside a turn is an eager end that is taken back, and the text of the turn's end is that of
// the eager end before it.
func TestTurns(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{Utterances: []deepgramtest.Utterance{
		{Text: "I want to book a table for two", Length: 2300 * time.Millisecond, Pauses: []deepgramtest.Pause{{After: 4, Length: 300 * time.Millisecond}}}}})
	r := open(t, engine(t, s, "flux-general-en", `{"eot_threshold": 0.7, "eager_eot_threshold": 0.4}`))
	tone := voice()[:16000]
	audio := slices.Concat(tone[:12800], tone[3200:6400], make([]int16, 4800), tone[:12800], tone[3200:6400], make([]int16, 16000))
	for len(audio) > 0 {
		n := min(320, len(audio))
		r.Write(audio[:n])
		audio = audio[n:]
	}
	var events []inference.Event
	eager := ""
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		var x inference.Result
		select {
		case x = <-r.Results():
		case <-ctx.Done():
			t.Fatalf("no end of the turn after %v", events)
		}
		if x.Event == inference.EventText {
			eager = x.Text
			continue
		}
		events = append(events, x.Event)
		if x.Event == inference.EventTurnEnd {
			if x.Text != "I want to book a table for two" || eager != x.Text || x.EndProb < 0.7 {
				t.Errorf("the turn ends with %+v after %q", x, eager)
			}
			break
		}
	}
	if want := []inference.Event{inference.EventSpeechStart, inference.EventEagerEnd, inference.EventResumed, inference.EventEagerEnd, inference.EventTurnEnd}; !slices.Equal(events, want) {
		t.Errorf("events %v, want %v", events, want)
	}
}

// TestKeepsTheSocket: while no audio comes Nova is told that we are there, and Flux is sent silence.
func TestKeepsTheSocket(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{Utterances: sentences(), Idle: 6 * time.Second})
	nova, flux := open(t, engine(t, s, "nova-3", "")), open(t, engine(t, s, "flux-general-en", ""))
	time.Sleep(9 * time.Second) // that time passes is what is tried
	for name, r := range map[string]inference.Recognition{"nova": nova, "flux": flux} {
		if text, all := hear(t, r, voice()); text != sentence {
			t.Errorf("%s: %q, %+v", name, text, all)
		}
	}
}

func TestOptions(t *testing.T) {
	for options, want := range map[string]string{
		`{"eot_threshold": 1.5}`: "eot_threshold", `{"eager_eot_threshold": 0.8}`: "eager_eot_threshold", `{"eot_timeout_ms": 5}`: "eot_timeout_ms",
		`{"colour": "red"}`: "colour",
	} {
		_, err := deepgram.NewASR(remote.Engine{APIKey: "key", Options: inference.Options(options)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", options, err)
		}
	}
	if _, err := deepgram.NewASR(remote.Engine{}); err == nil {
		t.Error("it is taken without a key")
	}
}
