package stt_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/api"
	"parley/api/stt"
	"parley/inference"
	"parley/inference/pocketsphinx"
	"parley/inference/worker/workertest"
	"parley/media"
	"parley/media/wav"
	"parley/store"
)

// reply is the answer to a recording.
type reply struct {
	status     int
	retryAfter string

	Text       *string `json:"text"`
	Language   string  `json:"language"`
	Engine     string  `json:"engine"`
	Duration   float64 `json:"duration_seconds"`
	SampleRate int     `json:"sample_rate"`
	LatencyMS  *int64  `json:"latency_ms"`
	Segments   []struct {
		Text                 string
		Start, End, Duration float64
	} `json:"segments"`

	Code      string `json:"code"`
	Error     string `json:"error"`
	Detail    string `json:"detail"`
	Retryable bool   `json:"retryable"`
}

// post sends a body.
func (s *server) post(t *testing.T, ctx context.Context, contentType string, body []byte) (reply, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+stt.TranscribePath, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", goodKey)
	r.Header.Set("Content-Type", contentType)
	resp, err := s.Client().Do(r)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	a := reply{status: resp.StatusCode, retryAfter: resp.Header.Get("Retry-After")}
	if err := json.Unmarshal(b, &a); err != nil {
		t.Errorf("answer %s: %v", b, err)
	}
	if a.status == http.StatusOK && (a.Text == nil || a.LatencyMS == nil || a.Segments == nil) {
		t.Errorf("not all of an answer: %s", b)
	}
	return a, nil
}

// form posts a form with a file and text fields.
func (s *server) form(t *testing.T, file []byte, fields ...string) reply {
	t.Helper()
	kind, body := form(t, file, fields...)
	a, err := s.post(t, t.Context(), kind, body)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func form(t *testing.T, file []byte, fields ...string) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if err := m.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	f, err := m.CreateFormFile("audio", "audio.wav")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(file); err != nil {
		t.Fatal(err)
	}
	m.Close()
	return m.FormDataContentType(), b.Bytes()
}

// json posts a JSON body of audio and more members.
func (s *server) json(t *testing.T, audio []byte, more string) reply {
	t.Helper()
	a, err := s.post(t, t.Context(), "application/json; charset=utf-8", jsonBody(audio, more))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func jsonBody(audio []byte, more string) []byte {
	b := base64.StdEncoding.AppendEncode([]byte(`{"audio":"`), audio)
	return append(b, `"`+more+`}`...)
}

func wavFile(t testing.TB, samples []int16, rate media.Rate) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := wav.Encode(&b, wav.Clip{Rate: rate, Samples: samples}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lesson is two utterances and where they are, in seconds.
func lesson(t testing.TB) (samples []int16, at [4]float64) {
	one, two := speech(t, sentence), speech(t, "no thank you")
	x := silence(time.Second)
	samples = concat(x, one, x, x, two, x)
	a, b := float64(len(one))/16000, float64(len(two))/16000
	return samples, [4]float64{1, 1 + a, 3 + a, 3 + a + b}
}

func TestTranscribe(t *testing.T) {
	samples, at := lesson(t)
	for name, send := range map[string]func(*server) reply{
		"form": func(s *server) reply {
			return s.form(t, wavFile(t, samples, 16000), "language", "en-GB", "sample_rate", "8000")
		},
		"raw form": func(s *server) reply { return s.form(t, pcm(samples), "sample_rate", "16000", "language", "en") },
		"pcm16": func(s *server) reply {
			return s.json(t, pcm(samples), `,"format":"pcm16","sample_rate":16000,"language":"EN"`)
		},
		"defaults": func(s *server) reply { return s.json(t, pcm(samples), `,"language":"en"`) },
		"odd byte": func(s *server) reply { return s.json(t, append(pcm(samples), 1), `,"language":"en"`) },
		"wav":      func(s *server) reply { return s.json(t, wavFile(t, samples, 16000), `,"format":"wav","language":"en"`) },
		"wav after all": func(s *server) reply {
			return s.json(t, wavFile(t, samples, 16000), `,"format":"pcm16","sample_rate":8000,"language":"en"`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			asr := quick("What time does the train leave?", " No, thank you. ")
			s := newServer(t, asr)
			a := send(s)
			if a.status != 200 || *a.Text != "What time does the train leave? No, thank you." || a.Language != "en" || a.Engine != "fake-asr" ||
				a.SampleRate != 16000 || math.Abs(a.Duration-float64(len(samples))/16000) > 0.001 || *a.LatencyMS < 0 || len(a.Segments) != 2 {
				t.Fatalf("%+v", a)
			}
			if a.Segments[0].Text != "What time does the train leave?" || a.Segments[1].Text != "No, thank you." {
				t.Errorf("segments %+v", a.Segments)
			}
			for i, g := range a.Segments {
				if math.Abs(g.Start-at[2*i]) > 0.15 || math.Abs(g.End-at[2*i+1]) > 0.15 || math.Abs(g.End-g.Start-g.Duration) > 0.0011 {
					t.Errorf("segment %d is %+v, want %.2f to %.2f", i, g, at[2*i], at[2*i+1])
				}
			}
			w := s.books.only(t)
			used, err := s.books.settled(t)
			if ms := int64(math.Ceil(float64(len(samples)) / 16)); used != ms || w.expected != ms || err != nil {
				t.Errorf("charged %d ms, expected %d, want %d; ended by %v", used, w.expected, ms, err)
			}
			if asr.Busy() != 0 {
				t.Error("the recogniser's stream is still there")
			}
		})
	}
}

func TestTranscribeNothing(t *testing.T) {
	for name, c := range map[string]struct {
		audio    []byte
		duration float64
	}{
		"silence":    {wavFile(t, silence(3*time.Second), 8000), 6},
		"empty wav":  {wavFile(t, nil, 8000), 0},
		"empty file": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			asr := quick("a ghost")
			s := newServer(t, asr)
			a := s.form(t, c.audio)
			if a.status != 200 || *a.Text != "" || len(a.Segments) != 0 || a.Duration != c.duration || len(asr.Streams()) != 0 {
				t.Errorf("%+v, %d streams", a, len(asr.Streams()))
			}
			if used, err := s.books.settled(t); used != int64(c.duration*1000) || err != nil {
				t.Errorf("charged %d ms, ended by %v", used, err)
			}
		})
	}
}

// TestTranscribeLanguages: the same answers at both routes.
func TestTranscribeLanguages(t *testing.T) {
	audio := pcm(speech(t, "no thank you"))
	for tag, c := range map[string]struct {
		language string
		status   int
		code     string
	}{
		"en": {language: "en"}, "pt-BR": {language: "pt"}, " De_ch ": {language: "de"}, "": {language: ""},
		"fr": {status: 503, code: "stt.not_configured"}, "it-IT": {status: 503, code: "stt.not_configured"},
		"ca": {status: 400, code: "stt.language_not_supported"}, "gl": {status: 400, code: "stt.language_not_supported"},
		"eu-ES": {status: 400, code: "stt.language_not_supported"}, "ko": {status: 400, code: "stt.language_not_supported"},
		"eng": {status: 400, code: "stt.language_not_supported"}, "-": {status: 400, code: "stt.language_not_supported"},
	} {
		asr := quick("hello")
		asr.Languages = []string{"en", "es", "pt", "de"}
		s := newServer(t, asr)
		a := s.json(t, audio, fmt.Sprintf(`,"language":%q`, tag))
		p := s.connect(t)
		p.say(fmt.Sprintf(`{"language":%q}`, tag))
		if c.status != 0 {
			if a.status != c.status || a.Code != c.code || a.Retryable {
				t.Errorf("%q: %+v", tag, a)
			}
			p.wantError(c.code, false)
			p.wantClose(1008)
			continue
		}
		p.sound(audio)
		p.say(`{"type":"end"}`)
		p.want("hello", true)
		if a.status != 200 || a.Language != c.language {
			t.Errorf("%q: %+v", tag, a)
		}
		for _, f := range asr.Streams() {
			if got := f.Config().Language; got != c.language {
				t.Errorf("%q: the recogniser was opened for %q", tag, got)
			}
		}
	}
	for _, more := range []string{"", `,"language":"en"`} {
		if a := newServer(t, nil).json(t, audio, more); a.status != 503 || a.Code != "stt.not_configured" || a.Retryable {
			t.Errorf("no recogniser: %+v", a)
		}
	}
	asr := quick("hello")
	asr.Languages = []string{"en"}
	if a := newServer(t, asr).json(t, audio, ""); a.Language != "en" {
		t.Errorf("a recogniser of one language: %+v", a)
	}
	if all := stt.Languages(); strings.Join(all, " ") != "en es pt fr it de" {
		t.Errorf("languages %v", all)
	}
}

func TestTranscribeRefusals(t *testing.T) {
	audio := pcm(speech(t, "no thank you"))
	multi := func(file []byte, fields ...string) func(*server) (reply, error) {
		return func(s *server) (reply, error) { return s.form(t, file, fields...), nil }
	}
	raw := func(kind string, body []byte) func(*server) (reply, error) {
		return func(s *server) (reply, error) { return s.post(t, t.Context(), kind, body) }
	}
	object := func(audio []byte, more string) func(*server) (reply, error) {
		return raw("application/json", jsonBody(audio, more))
	}
	const invalid = "validation.invalid_request_format"
	for name, c := range map[string]struct {
		send      func(*server) (reply, error)
		books     error
		openErr   error
		status    int
		code      string
		retryable bool
	}{
		"text":             {send: raw("text/plain", []byte("hello")), status: 415, code: "request.unsupported_media_type"},
		"bare audio":       {send: raw("audio/wav", audio), status: 415, code: "request.unsupported_media_type"},
		"no type":          {send: raw("", audio), status: 415, code: "request.unsupported_media_type"},
		"not JSON":         {send: raw("application/json", []byte("{")), status: 400, code: invalid},
		"not base64":       {send: raw("application/json", []byte(`{"audio":"***"}`)), status: 400, code: invalid},
		"no audio":         {send: raw("application/json", []byte(`{"language":"en"}`)), status: 400, code: invalid},
		"no file":          {send: raw(form2(t)), status: 400, code: invalid},
		"other format":     {send: object(audio, `,"format":"opus"`), status: 400, code: invalid},
		"rate of a word":   {send: object(audio, `,"sample_rate":"fast"`), status: 400, code: invalid},
		"low rate":         {send: object(audio, `,"sample_rate":10`), status: 400, code: invalid},
		"no rate":          {send: multi(audio), status: 400, code: invalid},
		"wrong rate":       {send: multi(audio, "sample_rate", "fast"), status: 400, code: invalid},
		"high rate":        {send: multi(audio, "sample_rate", "1000000"), status: 400, code: invalid},
		"a picture":        {send: multi([]byte("\x89PNG\r\n\x1a\n0000000000000")), status: 400, code: invalid},
		"a picture as wav": {send: object([]byte("\x89PNG\r\n\x1a\n0000000000000"), `,"format":"wav"`), status: 400, code: invalid},
		"damaged":          {send: multi([]byte("RIFF\xff\xff\xff\xffWAVEfmt ")), status: 400, code: invalid},
		"large file":       {send: multi(make([]byte, 25<<20+1), "sample_rate", "16000"), status: 413, code: "request.too_large"},
		"large JSON":       {send: raw("application/json", zeros("AAA=", "")), status: 413, code: "request.too_large"},
		"larger JSON":      {send: raw("application/json", make([]byte, 36<<20)), status: 413, code: "request.too_large"},
		"balance":          {send: object(audio, ""), books: store.ErrInsufficientBalance, status: 402, code: "billing.insufficient_balance"},
		"concurrency":      {send: object(audio, ""), books: store.ErrConcurrency, status: 429, code: "limit.concurrency", retryable: true},
		"empty, balance":   {send: multi(nil), books: store.ErrInsufficientBalance, status: 402, code: "billing.insufficient_balance"},
		"draining":         {send: object(audio, ""), books: api.ErrDraining, status: 503, code: "service.unavailable", retryable: true},
		"no recogniser": {send: object(audio, ""), openErr: &inference.Error{Engine: "fake", Fault: inference.ErrUnavailable},
			status: 503, code: "stt.stream_create_failed", retryable: true},
	} {
		t.Run(name, func(t *testing.T) {
			asr := quick("hello")
			asr.OpenErr = c.openErr
			s := newServer(t, asr)
			s.books.refuse = c.books
			a, err := c.send(s)
			if err != nil {
				t.Fatal(err)
			}
			if a.status != c.status || a.Code != c.code || a.Retryable != c.retryable || a.Error == "" {
				t.Errorf("%+v", a)
			}
			if a.status == 400 && a.Detail == "" {
				t.Error("nobody is told what was wrong")
			}
			if c.openErr == nil && s.books.begun() > 0 {
				t.Error("work began")
			} else if c.openErr != nil {
				if used, err := s.books.settled(t); used != 0 || err == nil {
					t.Errorf("charged %d ms, ended by %v", used, err)
				}
			}
			if len(asr.Streams()) > 0 {
				t.Error("the recogniser was opened")
			}
		})
	}
}

// form2 is a form without a file.
func form2(t *testing.T) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	if err := m.WriteField("language", "en"); err != nil {
		t.Fatal(err)
	}
	m.Close()
	return m.FormDataContentType(), b.Bytes()
}

// zeros is a JSON body of 25 MB of silence, or nearly: the base64 of the last one
// to three bytes is given.
func zeros(last, more string) []byte {
	return slices.Concat([]byte(`{"audio":"`), bytes.Repeat([]byte("AAAA"), 25<<20/3), []byte(last+`"`+more+`}`))
}

// TestTranscribeLargest: 25 MB pass, in base64 too.
func TestTranscribeLargest(t *testing.T) {
	a, err := newServer(t, quick()).post(t, t.Context(), "application/json", zeros("AA==", `,"sample_rate":192000`))
	if err != nil {
		t.Fatal(err)
	}
	if a.status != 200 || a.SampleRate != 192000 || math.Abs(a.Duration-float64(25<<19)/192000) > 0.001 {
		t.Errorf("%+v", a)
	}
}

// TestTranscribeLostRecogniser: a stream that falls is replaced once.
func TestTranscribeLostRecogniser(t *testing.T) {
	for name, c := range map[string]struct{ deaths, status int }{"once": {1, 200}, "twice": {2, 503}} {
		t.Run(name, func(t *testing.T) {
			asr := quick()
			asr.FinalAfter = -1
			s := newServer(t, asr)
			var wg sync.WaitGroup
			defer wg.Wait()
			wg.Go(func() {
				for i := range c.deaths {
					stream(t, asr, i+1).Fail(errors.New("the worker died"))
				}
				if c.status == 200 {
					f := stream(t, asr, c.deaths+1)
					for f.Finishes() == 0 {
						time.Sleep(time.Millisecond)
					}
					f.Final("hello")
				}
			})
			a := s.json(t, pcm(speech(t, sentence)), "")
			used, _ := s.books.settled(t)
			switch {
			case a.status != c.status:
				t.Errorf("%+v", a)
			case a.status == 200 && (*a.Text != "hello" || used == 0):
				t.Errorf("%+v, charged %d ms", a, used)
			case a.status == 503 && (a.Code != "stt.stream_create_failed" || used != 0):
				t.Errorf("%+v, charged %d ms", a, used)
			}
		})
	}
}

// TestTranscribeAbandoned: when the client goes, the recogniser is free and nothing
// is charged, however the recording was sent.
func TestTranscribeAbandoned(t *testing.T) {
	for _, kind := range []string{"form", "json"} {
		t.Run(kind, func(t *testing.T) {
			asr := quick()
			asr.FinalAfter = -1
			s := newServer(t, asr)
			contentType, body := "application/json", jsonBody(pcm(speech(t, sentence)), "")
			if kind == "form" {
				contentType, body = form(t, wavFile(t, speech(t, sentence), 16000))
			}
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := s.post(t, ctx, contentType, body); err == nil {
					t.Error("there was an answer")
				}
			})
			stream(t, asr, 1)
			cancel()
			wg.Wait()
			used, err := s.books.settled(t)
			if used != 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("charged %d ms, ended by %v", used, err)
			}
			s.Wait()
			if asr.Busy() != 0 {
				t.Error("the recogniser's stream is still there")
			}
		})
	}
}

// TestTranscribePatience: a recording may take a minute longer than it lasts.
func TestTranscribePatience(t *testing.T) {
	voice := speech(t, sentence)
	synctest.Test(t, func(t *testing.T) {
		asr := quick()
		asr.FinalAfter = -1
		s := newMemoryServer(t, asr)
		began := time.Now()
		a := s.json(t, pcm(voice), "")
		if a.status != 504 || a.Code != "internal.timeout" || !a.Retryable {
			t.Errorf("%+v", a)
		}
		if took, want := time.Since(began), time.Minute+time.Duration(len(voice))*time.Second/16000; took < want-time.Second || took > want+time.Second {
			t.Errorf("took %v, want %v", took, want)
		}
		if used, err := s.books.settled(t); used != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("charged %d ms, ended by %v", used, err)
		}
	})
}

// TestTranscribeTurns: there is room for some recordings at once; the next ones
// wait a while for theirs.
func TestTranscribeTurns(t *testing.T) {
	voice := speech(t, "no thank you")
	synctest.Test(t, func(t *testing.T) {
		asr := quick("hello")
		asr.FinalAfter = 30 * time.Second
		s := newMemoryServer(t, asr)
		var wg sync.WaitGroup
		var mu sync.Mutex
		answers := map[int]int{}
		for range 6 {
			wg.Go(func() {
				a := s.json(t, pcm(voice), "")
				mu.Lock()
				defer mu.Unlock()
				answers[a.status]++
				if a.status == 503 && (a.Code != "service.unavailable" || !a.Retryable || a.retryAfter == "") {
					t.Errorf("%+v", a)
				}
			})
		}
		wg.Wait()
		if answers[200] != 4 || answers[503] != 2 {
			t.Errorf("answers %v", answers)
		}
		if a := s.json(t, pcm(voice), ""); a.status != 200 {
			t.Errorf("later: %+v", a)
		}
	})
}

// TestTranscribeStopped: the server ends, or the balance does.
func TestTranscribeStopped(t *testing.T) {
	for reason, c := range map[media.EndReason]struct {
		status int
		code   string
	}{
		media.BalanceExhausted: {402, "billing.insufficient_balance"},
		media.APIHangup:        {503, "service.unavailable"},
	} {
		asr := quick()
		asr.FinalAfter = -1
		s := newServer(t, asr)
		var wg sync.WaitGroup
		wg.Go(func() {
			stream(t, asr, 1)
			s.books.only(t).cancel(&media.Ended{Reason: reason})
		})
		a := s.json(t, pcm(speech(t, sentence)), "")
		wg.Wait()
		if used, err := s.books.settled(t); a.status != c.status || a.Code != c.code || used != 0 || err == nil {
			t.Errorf("%s: %+v, charged %d ms, ended by %v", reason, a, used, err)
		}
	}
}

// pocketsphinxEngine runs the real recogniser for the length of the test.
func pocketsphinxEngine(t *testing.T) inference.ASR {
	t.Helper()
	return workertest.Run(t, pocketsphinx.New(pocketsphinx.Config{Program: program, Processes: 1, Log: slog.New(slog.DiscardHandler)}))
}

// TestTranscribeRealRecogniser has recordings of a synthetic speaker understood, in
// the formats in which they come.
func TestTranscribeRealRecogniser(t *testing.T) {
	s := newServer(t, pocketsphinxEngine(t))
	const want = "the weather is very nice today"
	samples := concat(silence(400*time.Millisecond), speech(t, want), silence(400*time.Millisecond))
	whole := wavFile(t, samples, 16000)
	ffmpeg := func(args ...string) []byte {
		return run(t, whole, "ffmpeg", append(append([]string{"-v", "error", "-i", "pipe:0"}, args...), "pipe:1")...)
	}
	for name, send := range map[string]func() reply{
		"wav 8 kHz": func() reply { return s.form(t, ffmpeg("-ar", "8000", "-f", "wav")) },
		"raw pcm":   func() reply { return s.json(t, pcm(samples), `,"format":"pcm16","sample_rate":16000,"language":"en"`) },
		"webm opus": func() reply {
			return s.form(t, ffmpeg("-c:a", "libopus", "-b:a", "32k", "-f", "webm"), "language", "en-US")
		},
		"mp3": func() reply {
			return s.form(t, ffmpeg("-c:a", "libmp3lame", "-b:a", "64k", "-f", "mp3"), "language", "en")
		},
	} {
		a := send()
		if a.status != 200 || a.Engine != "pocketsphinx" || a.Language != "en" || len(a.Segments) != 1 {
			t.Fatalf("%s: %+v", name, a)
		}
		wrong := wordErrors(want, *a.Text)
		t.Logf("%s: %q, %.2f wrong, %d ms of %.2f s at %d Hz, %+v", name, *a.Text, wrong, *a.LatencyMS, a.Duration, a.SampleRate, a.Segments)
		if wrong > 0.3 {
			t.Errorf("%s: %q was heard as %q", name, want, *a.Text)
		}
		if (name == "wav 8 kHz") != (a.SampleRate == 8000) {
			t.Errorf("%s: %d Hz", name, a.SampleRate)
		}
	}
}

// wordErrors is the share of words to change, insert or remove.
func wordErrors(want, got string) float64 {
	w, g := strings.Fields(want), strings.Fields(got)
	row := make([]int, len(g)+1)
	for j := range row {
		row[j] = j
	}
	for i, word := range w {
		diagonal := row[0]
		row[0] = i + 1
		for j, other := range g {
			cost := 1
			if word == other {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return float64(row[len(g)]) / float64(len(w))
}
