package recogniser_test

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/assemblyai"
	"parley/inference/assemblyai/assemblyaitest"
	"parley/inference/cartesia"
	"parley/inference/cartesia/inktest"
	"parley/inference/elevenlabs"
	"parley/inference/elevenlabs/scribetest"
	"parley/inference/enginetest"
	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/openai"
	"parley/inference/openai/realtimetest"
	"parley/inference/recogniser"
	"parley/inference/remote"
	"parley/inference/soniox"
	"parley/inference/soniox/sonioxtest"
	"parley/media"
	"parley/media/resample"
)

const sentence = "a table for two please"

// fake is a vendor on loopback.
type fake interface {
	Busy() int
	Books() loopbacktest.Books
}

// vendors make a fake that hears sentences, with faults, and the engine that talks to it.
var vendors = map[string]func(t *testing.T, goesOn bool, faults ...loopbacktest.Fault) (*recogniser.Engine, fake){
	"assemblyai": func(t *testing.T, goesOn bool, faults ...loopbacktest.Fault) (*recogniser.Engine, fake) {
		s := assemblyaitest.New(t, assemblyaitest.Script{Utterances: sentences(), Continue: goesOn, Faults: faults})
		e, err := assemblyai.NewASR(remote.Engine{BaseURL: s.URL, APIKey: s.Key})
		return made(t, e, err), s
	},
	"soniox": func(t *testing.T, goesOn bool, faults ...loopbacktest.Fault) (*recogniser.Engine, fake) {
		s := sonioxtest.New(t, sonioxtest.Script{Utterances: sentences(), Continue: goesOn, Faults: faults})
		e, err := soniox.NewASR(remote.Engine{BaseURL: s.URL, APIKey: s.Key})
		return made(t, e, err), s
	},
	"openai": func(t *testing.T, goesOn bool, faults ...loopbacktest.Fault) (*recogniser.Engine, fake) {
		s := realtimetest.NewTranscription(t, realtimetest.TranscriptionScript{Utterances: sentences(), Continue: goesOn, Faults: faults})
		e, err := openai.NewLiveASR(remote.Engine{BaseURL: s.URL + "/v1", APIKey: s.Key, Model: "gpt-live-transcribe"})
		return made(t, e, err), s
	},
	"scribe": func(t *testing.T, goesOn bool, faults ...loopbacktest.Fault) (*recogniser.Engine, fake) {
		s := scribetest.New(t, scribetest.Script{Utterances: sentences(), Continue: goesOn, Faults: faults})
		e, err := elevenlabs.NewASR(remote.Engine{BaseURL: s.URL, APIKey: s.Key})
		return made(t, e, err), s
	},
	"ink":         ink("ink-2"),
	"ink-whisper": ink("ink-whisper"),
}

func ink(model string) func(t *testing.T, goesOn bool, faults ...loopbacktest.Fault) (*recogniser.Engine, fake) {
	return func(t *testing.T, goesOn bool, faults ...loopbacktest.Fault) (*recogniser.Engine, fake) {
		s := inktest.New(t, inktest.Script{Utterances: sentences(), Continue: goesOn, Faults: faults})
		e, err := cartesia.NewASR(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Model: model})
		return made(t, e, err), s
	}
}

func made(t *testing.T, e *recogniser.Engine, err error) *recogniser.Engine {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func sentences() []hearingtest.Utterance {
	return slices.Repeat([]hearingtest.Utterance{{Text: sentence, Length: 800 * time.Millisecond, Language: "es"}}, 100)
}

// voice is sound for 0.8 s, and then silence for 0.4 s.
func voice() []int16 {
	audio := make([]int16, 16000*6/5)
	for i := range audio[:12800] {
		audio[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/16000))
	}
	return audio
}

func TestConformance(t *testing.T) {
	for name, make := range vendors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := make(t, false)
			enginetest.TestASR(t, e, enginetest.ASROptions{
				Audio: voice(), Heard: func(text string) bool { return strings.EqualFold(strings.Trim(text, "."), sentence) }, Busy: s.Busy,
				Hints: inference.Hints{Terms: []string{"table"}}})
		})
	}
}

// hear writes an utterance and returns its final text.
func hear(t *testing.T, r inference.Recognition, audio []int16) (text string, err error) {
	t.Helper()
	for len(audio) > 0 {
		n := min(320, len(audio))
		r.Write(audio[:n])
		audio = audio[n:]
	}
	n := r.Finish()
	var finals []string
	for x := range r.Results() {
		if x.Err != nil {
			return "", x.Err
		}
		if x.Final && x.Utterance == n && x.Text != "" {
			finals = append(finals, x.Text)
		}
		if x.Last && x.Utterance == n {
			return strings.ToLower(strings.Trim(strings.Join(finals, " "), ".")), nil
		}
	}
	t.Error("the stream ended before the last result")
	return "", nil
}

// TestReconnects: a socket that breaks costs no word, and says none twice.
func TestReconnects(t *testing.T) {
	for name, make := range vendors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for after := range 5 {
				e, s := make(t, true, loopbacktest.Fault{Connections: 1, AfterMessages: after, Then: loopbacktest.Cut})
				r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en"})
				if err != nil {
					t.Fatal(err)
				}
				for n := range 2 {
					if text, err := hear(t, r, voice()); text != sentence {
						t.Errorf("cut after %d messages: utterance %d is %q, %v", after, n+1, text, err)
					}
				}
				r.Close()
				if b := s.Books(); b.Opened > 2 {
					t.Errorf("cut after %d messages: %d sockets", after, b.Opened)
				}
			}
		})
	}
}

// TestSpent: a meter gets what a stream has consumed, over all its sockets and until they are closed, before the stream has ended.
func TestSpent(t *testing.T) {
	for name, make := range vendors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := make(t, true, loopbacktest.Fault{Connections: 1, AfterMessages: 2, Then: loopbacktest.Cut})
			var spent []inference.Usage // written by the stream, which has ended when it is read
			meter := inference.Meter(func(stage, engine string, u inference.Usage) {
				if stage != inference.StageASR || engine != e.Info().Name {
					t.Errorf("%s of %s", engine, stage)
				}
				spent = append(spent, u)
			})
			r, err := e.Open(meter.With(t.Context()), inference.ASRConfig{Language: "en"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := hear(t, r, voice()); err != nil {
				t.Error(err)
			}
			r.Close()
			loopbacktest.Await(t, "the end of the sockets", func() bool { return s.Books().Open == 0 })
			if len(spent) != 1 || spent[0].Audio != 1200*time.Millisecond || spent[0].Open <= 0 || spent[0].Open > s.Books().OpenTime+2*time.Second {
				t.Errorf("%+v, the vendor's books have %v", spent, s.Books().OpenTime)
			}
		})
	}
}

// TestOddMessages: what is unknown, or lacks fields, is passed over; what is no JSON each time ends the stream.
func TestOddMessages(t *testing.T) {
	for name, make := range vendors {
		for what, then := range map[string]loopbacktest.Action{"unknown": loopbacktest.Unknown, "nulls": loopbacktest.Nulls, "invalid": loopbacktest.Invalid} {
			e, _ := make(t, false, loopbacktest.Fault{AfterMessages: 1, Then: then})
			r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en"})
			if err != nil {
				t.Fatal(err)
			}
			text, err := hear(t, r, voice())
			if bad := then == loopbacktest.Invalid; bad && inference.FaultOf(err) != inference.ErrFailed || !bad && text != sentence {
				t.Errorf("%s, %s: %q, %v", name, what, text, err)
			}
			r.Close()
		}
	}
}

// TestRefusals: every status of the handshake has its fault.
func TestRefusals(t *testing.T) {
	for name, make := range vendors {
		for status, want := range map[int]inference.Fault{
			http.StatusUnauthorized: inference.ErrRefused, http.StatusTooManyRequests: inference.ErrUnavailable, http.StatusInternalServerError: inference.ErrFailed,
		} {
			e, _ := make(t, false, loopbacktest.Fault{Status: status})
			if _, err := e.Open(t.Context(), inference.ASRConfig{Language: "en"}); inference.FaultOf(err) != want {
				t.Errorf("%s, status %d: %v", name, status, err)
			}
		}
	}
}

// TestTelephone: audio of the telephone goes out at its own rate, once, and with little that is not the caller's.
func TestTelephone(t *testing.T) {
	for name, make := range vendors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := make(t, false)
			info := e.Info()
			format := info.Takes(media.Rate8k)
			r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en", Format: format})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for n := range 2 {
				if text, err := hear(t, r, resample.All(voice(), media.Rate16k, media.Rate8k)); text != sentence {
					t.Errorf("utterance %d is %q, %v", n+1, text, err)
				}
			}
			most := 2500 * time.Millisecond
			if name == "ink" {
				most += 2 * time.Second // of silence, which asks
			}
			if b := s.Books(); float64(b.AudioBytes) != 8000*b.Audio.Seconds() || b.Audio > most {
				t.Errorf("%d bytes are %v of audio", b.AudioBytes, b.Audio)
			}
		})
	}
}

// TestLanguages: a recogniser that is to find out which language it hears says so, where it can.
func TestLanguages(t *testing.T) {
	for name, make := range vendors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := make(t, false)
			r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en", Detect: true})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for audio := voice(); len(audio) > 0; audio = audio[320:] {
				r.Write(audio[:320])
			}
			r.Finish()
			want := ""
			if e.Info().Caps.Detects {
				want = "es"
			}
			if strings.HasPrefix(name, "ink") != (want == "") {
				t.Errorf("it hears several languages: %v", want != "")
			}
			for x := range r.Results() {
				if x.Err != nil || x.Final && x.Text != "" && x.Language != want {
					t.Errorf("%+v", x)
				}
				if x.Err != nil || x.Last {
					break
				}
			}
		})
	}
}

// TestUnansweredFinish: where the vendor leaves a Finish after silence unanswered, the next answer is not taken for its.
func TestUnansweredFinish(t *testing.T) {
	s := scribetest.New(t, scribetest.Script{Utterances: sentences(), Traps: scribetest.Traps{CommitUnanswered: true}})
	scribe, err := elevenlabs.NewASR(remote.Engine{BaseURL: s.URL, APIKey: s.Key})
	made(t, scribe, err)
	k := inktest.New(t, inktest.Script{Utterances: sentences(), Traps: inktest.Traps{FlushUnanswered: true}})
	whisper, err := cartesia.NewASR(remote.Engine{BaseURL: k.URL, APIKey: k.Key, Model: "ink-whisper"})
	made(t, whisper, err)
	for name, e := range map[string]*recogniser.Engine{"scribe": scribe, "ink-whisper": whisper} {
		t.Run(name, func(t *testing.T) {
			r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en"})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for n, audio := range [][]int16{make([]int16, 16000), voice(), voice()} {
				want := sentence
				if n == 0 {
					want = ""
				}
				if text, err := hear(t, r, audio); text != want {
					t.Errorf("utterance %d is %q, %v", n+1, text, err)
				}
			}
		})
	}
}

// TestTranscriptsOutOfOrder: each utterance has the transcript of its own audio.
func TestTranscriptsOutOfOrder(t *testing.T) {
	s := realtimetest.NewTranscription(t, realtimetest.TranscriptionScript{Traps: realtimetest.Traps{Late: []int{0}},
		Utterances: []hearingtest.Utterance{{Text: "first", Length: 800 * time.Millisecond}, {Text: "second", Length: 800 * time.Millisecond}}})
	e, err := openai.NewLiveASR(remote.Engine{BaseURL: s.URL + "/v1", APIKey: s.Key})
	r, err := made(t, e, err).Open(t.Context(), inference.ASRConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		for audio := voice(); len(audio) > 0; audio = audio[320:] {
			r.Write(audio[:320])
		}
		r.Finish()
	}
	got := map[int]string{}
	for x := range r.Results() {
		if x.Final {
			got[x.Utterance] += strings.ToLower(strings.Trim(x.Text, "."))
		}
		if x.Err != nil || x.Last && x.Utterance == 2 {
			break
		}
	}
	if got[1] != "first" || got[2] != "second" {
		t.Errorf("%v", got)
	}
}
