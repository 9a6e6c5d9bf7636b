package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/remote"
	"parley/media"
)

var good = inference.Speech{Text: "Hello", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}

// pcm is n samples as bytes: 1, 2, 3 and so on.
func pcm(n int) string {
	b := make([]byte, 0, 2*n)
	for i := 1; i <= n; i++ {
		b = append(b, byte(i), byte(i>>8))
	}
	return string(b)
}

// spokenAs are the events of speech in such pieces, in a field of that name, and of its end.
func spokenAs(field string, pieces ...string) (list []string) {
	for _, p := range pieces {
		list = append(list, fmt.Sprintf("event: speech.audio.delta\ndata: {\"type\":\"speech.audio.delta\",%q:%q}\n\n", field, base64.StdEncoding.EncodeToString([]byte(p))))
	}
	return append(list, "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":7,\"output_tokens\":90,\"total_tokens\":97}}\n\n")
}

// TestBodies: what the server may send as audio, in which pieces, and what not.
func TestBodies(t *testing.T) {
	junk := "LIST\x05\x00\x00\x00abcde\x00"
	float := strings.Replace(wavHeader(24000, 1, "", 20), "\x01\x00\x01\x00", "\x03\x00\x01\x00", 1)
	for name, c := range map[string]struct {
		kind    string
		pieces  []string
		samples int
		rate    media.Rate
		fault   inference.Fault
	}{
		"pcm":                   {"audio/pcm", []string{pcm(1000)}, 1000, 24000, 0},
		"odd pieces":            {"audio/pcm", []string{pcm(5)[:1], pcm(5)[1:4], pcm(5)[4:9], pcm(5)[9:]}, 5, 24000, 0},
		"odd end":               {"audio/pcm", []string{pcm(5) + "x"}, 5, 24000, 0},
		"no type":               {"", []string{pcm(7)}, 7, 24000, 0},
		"rate in the type":      {"audio/pcm; rate=16000", []string{pcm(7)}, 7, 16000, 0},
		"unknown rate":          {"audio/pcm;rate=11025", []string{pcm(7)}, 0, 0, inference.ErrFailed},
		"senseless rate":        {"audio/pcm;rate=fast", []string{pcm(7)}, 0, 0, inference.ErrFailed},
		"huge rate":             {"audio/pcm;rate=4294983296", []string{pcm(7)}, 0, 0, inference.ErrFailed},
		"wav":                   {"audio/wav", []string{wavHeader(22050, 1, "", 20) + pcm(10)}, 10, 22050, 0},
		"wav called pcm":        {"audio/pcm", []string{wavHeader(44100, 1, junk, 20), pcm(10)}, 10, 44100, 0},
		"wav in pieces":         {"audio/wav", strings.SplitAfter(wavHeader(16000, 1, "", 6)+pcm(3), ""), 3, 16000, 0},
		"wav written live":      {"audio/wav", []string{wavHeader(24000, 1, "", 0xffffffff) + pcm(10)}, 10, 24000, 0},
		"wav, something after":  {"audio/wav", []string{wavHeader(24000, 1, "", 20) + pcm(10) + junk}, 10, 24000, 0},
		"wav truncated":         {"audio/wav", []string{wavHeader(24000, 1, "", 40) + pcm(10)}, 10, 24000, inference.ErrFailed},
		"wav head truncated":    {"audio/wav", []string{wavHeader(24000, 1, "", 40)[:30]}, 0, 0, inference.ErrFailed},
		"wav of unknown rate":   {"audio/wav", []string{wavHeader(11025, 1, "", 20) + pcm(10)}, 0, 0, inference.ErrFailed},
		"wav stereo":            {"audio/wav", []string{wavHeader(24000, 2, "", 20) + pcm(10)}, 0, 0, inference.ErrFailed},
		"wav of floats":         {"audio/wav", []string{float + pcm(10)}, 0, 0, inference.ErrFailed},
		"wav, huge chunk first": {"audio/wav", []string{wavHeader(24000, 1, "LIST\xff\xff\xff\x7f", 20) + pcm(10)}, 0, 0, inference.ErrFailed},
		"not wav":               {"audio/wav", []string{pcm(100)}, 0, 0, inference.ErrFailed},
		"mp3":                   {"audio/mpeg", []string{pcm(100)}, 0, 0, inference.ErrFailed},
		"events":                {"text/event-stream", spokenAs("audio", pcm(5)[:3], pcm(5)[3:], ""), 5, 24000, 0},
		"events, other name":    {"text/event-stream; charset=utf-8", spokenAs("delta", pcm(1000)), 1000, 24000, 0},
		"events, no end":        {"text/event-stream", spokenAs("audio", pcm(5))[:1], 5, 24000, inference.ErrFailed},
		"events, an error":      {"text/event-stream", []string{spokenAs("audio", pcm(5))[0], "data: {\"type\":\"error\",\"error\":{\"message\":\"Hello\"}}\n\n"}, 5, 24000, inference.ErrFailed},
		"events, not JSON":      {"text/event-stream", []string{"data: {\"type\n\n"}, 0, 0, inference.ErrFailed},
		"events, no audio":      {"text/event-stream", spokenAs("audio"), 0, 0, inference.ErrFailed},
		"a page":                {"text/html; charset=utf-8", []string{"<html>"}, 0, 0, inference.ErrFailed},
		"nothing":               {"audio/pcm", nil, 0, 0, inference.ErrFailed},
		"one byte":              {"audio/pcm", []string{"x"}, 0, 0, inference.ErrFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = nil
				if c.kind != "" {
					w.Header().Set("Content-Type", c.kind)
				}
				for _, p := range c.pieces {
					write(w, p)
				}
			})
			e, err := NewTTS(s.config())
			if err != nil {
				t.Fatal(err)
			}
			var got []int16
			var last error
			for chunk, err := range e.Speak(t.Context(), good) {
				if last = err; err == nil && chunk.Rate != c.rate {
					t.Errorf("rate %v", chunk.Rate)
				}
				got = append(got, chunk.Samples...)
			}
			if inference.FaultOf(last) != c.fault || !slices.Equal(got, media.AppendSamples(nil, []byte(pcm(c.samples)))) {
				t.Errorf("%d samples, then %v", len(got), last)
			}
		})
	}
}

func TestSpeechRequest(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/audio/speech" {
			t.Errorf("path %s", r.URL.Path)
		}
		w.Header().Set("Content-Type", "audio/pcm")
		write(w, pcm(1))
	})
	p := inference.Speech{Text: "Hola \"tú\"", VoiceConfig: inference.VoiceConfig{Voice: "M2", Language: "es", Speed: 1.5, Steps: 4, Instructions: "Softly."}}
	for model, rest := range map[string]string{"tts-1": "", "kokoro": "", "gpt-4o-mini-tts": `,"instructions":"Softly.","stream_format":"sse"`} {
		c := s.config()
		c.Model = model
		e, _ := NewTTS(c)
		for _, err := range e.Speak(t.Context(), p) {
			if err != nil {
				t.Error(err)
			}
		}
		want := `{"model":"` + model + `","voice":"echo","input":"Hola \"tú\"","response_format":"pcm","speed":1.5` + rest + `}`
		if got, _ := s.last(); got != want {
			t.Errorf("body %s", got)
		}
	}
	e, _ := NewTTS(s.config())
	p.Voice = "house"
	for _, err := range e.Speak(t.Context(), p) {
		if inference.FaultOf(err) != inference.ErrVoice {
			t.Errorf("a voice that is not in the map: %v", err)
		}
	}
	if v := e.Voices(); len(v) != 10 || v[0].ID != "F1" || v[9].ID != "M5" || v[9].Gender != "male" {
		t.Errorf("voices %v", v)
	}
	p.Voice, p.Speed = "M2", math.NaN()
	for _, err := range e.Speak(t.Context(), p) {
		if inference.FaultOf(err) != inference.ErrRefused {
			t.Errorf("a speed that is no number: %v", err)
		}
	}
}

// TestEndlessSpeech: a server that never stops is stopped.
func TestEndlessSpeech(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "audio/pcm")
		for write(w, strings.Repeat("abcd", 64<<10)) {
		}
	})
	e, _ := NewTTS(s.config())
	samples := 0
	var last error
	for c, err := range e.Speak(t.Context(), good) {
		samples, last = samples+len(c.Samples), err
	}
	if inference.FaultOf(last) != inference.ErrFailed || samples > 21*60*24000 {
		t.Errorf("%d samples, then %v", samples, last)
	}
}

// TestTruncatedSpeech: a connection that breaks before the announced length.
func TestTruncatedSpeech(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "audio/pcm")
		w.Header().Set("Content-Length", "100")
		write(w, pcm(10))
	})
	e, _ := NewTTS(s.config())
	samples := 0
	var last error
	for c, err := range e.Speak(t.Context(), good) {
		samples, last = samples+len(c.Samples), err
	}
	if inference.FaultOf(last) != inference.ErrFailed || samples != 10 {
		t.Errorf("%d samples, then %v", samples, last)
	}
}

// TestSpeechStalls checks the watchdog, and the server's end of a cancellation.
func TestSpeechStalls(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		t.Run(fmt.Sprint("cancelled ", cancelled), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				client, end := memory(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "audio/pcm")
					write(w, pcm(100))
					<-r.Context().Done()
					close(gone)
				})
				defer end()
				e, _ := NewTTS(remote.Engine{BaseURL: "http://memory", HTTPClient: client})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if cancelled {
					time.AfterFunc(time.Second, cancel)
				}
				start, chunks := time.Now(), 0
				var last error
				for _, err := range e.Speak(ctx, good) {
					if last = err; err == nil {
						chunks++
					}
				}
				<-gone
				want, fault := 10*time.Second, inference.ErrFailed
				if cancelled {
					want = time.Second
				}
				if chunks != 1 || inference.FaultOf(last) != fault || time.Since(start) != want {
					t.Errorf("%d chunks, then %v after %v", chunks, last, time.Since(start))
				}
			})
		})
	}
}

// voice answers with a tone, longer the slower it is asked to speak.
func voice(w http.ResponseWriter, r *http.Request) {
	var q speechRequest
	if json.NewDecoder(r.Body).Decode(&q) != nil || q.Format != "pcm" || q.Input == "" || q.Voice == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if q.Speed == 0 {
		q.Speed = 1
	}
	w.Header().Set("Content-Type", "audio/pcm")
	for left := int(float64(len(q.Input)) * 1200 / q.Speed); left > 0; left -= 2401 {
		b := make([]byte, 0, 4802)
		for i := range min(left, 2401) {
			v := int16(5000 * math.Sin(float64(i)/9))
			b = append(b, byte(v), byte(v>>8))
		}
		if !write(w, string(b[:len(b)/2|1])) || !write(w, string(b[len(b)/2|1:])) {
			return
		}
	}
}

func TestTTSConforms(t *testing.T) {
	s := newServer(t, voice)
	e, err := NewTTS(s.config())
	if err != nil {
		t.Fatal(err)
	}
	enginetest.TestTTS(t, e, enginetest.TTSOptions{Busy: s.working})
}
