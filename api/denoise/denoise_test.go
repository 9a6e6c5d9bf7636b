package denoise

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/billing"
	"parley/media"
	"parley/media/denoise"
	"parley/media/transcode"
	"parley/media/wav"
	"parley/store"
)

// account keeps the books of a test and is its work as well.
type account struct {
	refuse   error
	ctx      context.Context // of the work; nil: that of the request
	begun    context.Context
	kind     billing.Kind
	expected int64
	used     int64
	ended    int
	err      error
}

func (a *account) Begin(ctx context.Context, p api.Principal, j api.Job) (api.Work, error) {
	if p.Account != "a" {
		return nil, errors.New("somebody else's account")
	}
	a.kind, a.expected = j.Kind, j.Expected
	if a.refuse != nil {
		return nil, a.refuse
	}
	if a.begun = ctx; a.ctx != nil {
		a.begun = a.ctx
	}
	return a, nil
}

func (a *account) Context() context.Context { return a.begun }
func (a *account) Used(n int64)             { a.used += n }

// End counts the first time.
func (a *account) End(err error) {
	if a.ended == 0 {
		a.ended, a.err = 1, err
	}
}

var keys = apitest.Keys{"sk_a": {Account: "a"}}

func server(t *testing.T, books api.Books) http.Handler {
	a := api.New(keys)
	Mount(a, books)
	return apitest.Judged(t, a, a.Handler(api.Options{}))
}

func post(h http.Handler, contentType string, body io.Reader) *httptest.ResponseRecorder {
	return ask(h, Path, contentType, body)
}

// ask is post to another address.
func ask(h http.Handler, at, contentType string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", at, body)
	r.Header.Set("X-API-Key", "sk_a")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// noisy is a WAV file of n samples of noise that comes and goes.
func noisy(t *testing.T, rate media.Rate, n int) (file []byte, samples []int16) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	samples = make([]int16, n)
	for i := range samples {
		loud := 300.0
		if i*4/int(rate)%2 == 1 {
			loud = 3000
		}
		samples[i] = int16(loud * rng.NormFloat64())
	}
	var b bytes.Buffer
	if err := wav.Encode(&b, wav.Clip{Samples: samples, Rate: rate}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), samples
}

// cleaned is what the usual suppressor makes of samples.
func cleaned(samples []int16, rate media.Rate) []int16 {
	return cleanedBy(denoise.Spectral, samples, rate)
}

func cleanedBy(engine string, samples []int16, rate media.Rate) []int16 {
	r, err := denoise.NewRecording(engine, rate, int64(len(samples)))
	if err != nil {
		panic(err)
	}
	r.Learn(samples)
	return r.Finish(r.Clean(nil, samples))
}

// TestRecording: any rate and length comes back as it went in, cleaned, and is
// charged to the millisecond.
func TestRecording(t *testing.T) {
	for _, tt := range []struct {
		rate media.Rate
		n    int
		ms   int64
		secs string
	}{
		{8000, 16000, 2000, "2.000"},
		{8000, 1, 1, "0.000"},
		{16000, 100_001, 6251, "6.250"},
		{44100, 88_200, 2000, "2.000"},
		{48000, 70_000, 1459, "1.458"},
		{11025, 22_050, 2000, "2.000"},
	} {
		file, samples := noisy(t, tt.rate, tt.n)
		var books account
		w := post(server(t, &books), "audio/wav", bytes.NewReader(file))
		clip, err := wav.Decode(w.Body, 1<<30)
		if w.Code != 200 || err != nil || clip.Rate != tt.rate || !slices.Equal(clip.Samples, cleaned(samples, tt.rate)) {
			t.Errorf("%v: status %d, %d samples at %v, want %d; %v", tt.rate, w.Code, len(clip.Samples), clip.Rate, tt.n, err)
		}
		h := w.Header()
		if h.Get("Content-Type") != "audio/wav" || h.Get("Content-Length") != fmt.Sprint(44+2*tt.n) || h.Get("X-Audio-Duration-Seconds") != tt.secs {
			t.Errorf("%v: header %v", tt.rate, h)
		}
		if books.kind != billing.Denoise || books.expected != tt.ms || books.used != tt.ms || books.ended != 1 || books.err != nil {
			t.Errorf("%v: the books say %+v, want %d ms", tt.rate, books, tt.ms)
		}
	}
}

// TestEngines: who asks for an engine gets it, who does not spectral, and one that there is not, or not
// for the rate, is refused before it is charged.
func TestEngines(t *testing.T) {
	for _, tt := range []struct {
		query, engine string
		rate          media.Rate
		says          string
	}{
		{"", denoise.Spectral, 8000, ""},
		{"?engine=", denoise.Spectral, 8000, ""},
		{"?engine=spectral", denoise.Spectral, 44101, ""},
		{"?engine=gtcrn", denoise.GTCRN, 8000, ""},
		{"?engine=gtcrn", denoise.GTCRN, 44100, ""},
		{"?engine=gtcrn", "", 44101, "takes no recordings of 44101 samples a second"},
		{"?engine=off", "", 8000, `is \"off\"; allowed are spectral and gtcrn`},
	} {
		file, samples := noisy(t, tt.rate, int(tt.rate)/2)
		var books account
		w := ask(server(t, &books), Path+tt.query, "audio/wav", bytes.NewReader(file))
		if tt.engine == "" {
			if w.Code != 400 || !strings.Contains(w.Body.String(), tt.says) || books.expected != 0 {
				t.Errorf("%s at %v: status %d, %s, %+v", tt.query, tt.rate, w.Code, w.Body, books)
			}
			continue
		}
		clip, err := wav.Decode(w.Body, 1<<30)
		if w.Code != 200 || err != nil || !slices.Equal(clip.Samples, cleanedBy(tt.engine, samples, tt.rate)) || books.used != 500 {
			t.Errorf("%s at %v: status %d, %v, %+v", tt.query, tt.rate, w.Code, err, books)
		}
	}
}

// TestNeuralFull: while the network is busy, others are cleaned by spectral only.
func TestNeuralFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(&account{})
		leave, err := h.enter(t.Context(), "b", denoise.GTCRN)
		if err != nil {
			t.Fatal(err)
		}
		if w := ask(api.HandlerFunc(h.serve), Path+"?engine=gtcrn", "audio/wav", untouched{t}); w.Code != 503 {
			t.Errorf("status %d, %s", w.Code, w.Body)
		}
		if other, err := h.enter(t.Context(), "a", denoise.Spectral); err != nil {
			t.Error(err)
		} else {
			other()
		}
		leave()
		if again, err := h.enter(t.Context(), "a", denoise.GTCRN); err != nil {
			t.Error(err)
		} else {
			again()
		}
	})
}

// TestOverTheNetwork: one connection serves one recording after another.
func TestOverTheNetwork(t *testing.T) {
	var books account
	s := httptest.NewServer(server(t, &books))
	defer s.Close()
	file, samples := noisy(t, 16000, 200_000)
	for i := range 3 {
		resp, err := s.Client().Post(s.URL+Path+"?api_key=sk_a", "audio/wav", bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.ContentLength != int64(len(file)) || len(body) != len(file) {
			t.Fatalf("request %d: %d of %d bytes, %v", i, len(body), resp.ContentLength, err)
		}
		if clip, err := wav.Decode(bytes.NewReader(body), 1<<30); err != nil || !slices.Equal(clip.Samples, cleaned(samples, 16000)) {
			t.Errorf("request %d: %d samples, %v", i, len(clip.Samples), err)
		}
	}
}

func TestForm(t *testing.T) {
	file, samples := noisy(t, 16000, 5000)
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	part, err := m.CreateFormFile("audio", "a.mp3") // the name does not count
	if err == nil {
		_, err = part.Write(file)
	}
	if err = errors.Join(err, m.Close()); err != nil {
		t.Fatal(err)
	}
	w := post(server(t, &account{}), m.FormDataContentType(), &b)
	clip, err := wav.Decode(w.Body, 1<<30)
	if w.Code != 200 || err != nil || !slices.Equal(clip.Samples, cleaned(samples, 16000)) {
		t.Errorf("status %d, %d samples, %v", w.Code, len(clip.Samples), err)
	}
}

func TestCompressed(t *testing.T) {
	if !transcode.Available() {
		t.Skip("there is no ffmpeg")
	}
	file, _ := noisy(t, 44100, 44100)
	cmd := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-i", "pipe:0", "-f", "flac", "pipe:1")
	cmd.Stdin = bytes.NewReader(file)
	flac, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	plain, packed := post(server(t, &account{}), "audio/wav", bytes.NewReader(file)), post(server(t, &account{}), "", bytes.NewReader(flac))
	if packed.Code != 200 || !bytes.Equal(plain.Body.Bytes(), packed.Body.Bytes()) {
		t.Errorf("status %d, %d bytes, want %d", packed.Code, packed.Body.Len(), plain.Body.Len())
	}
}

func TestRefusals(t *testing.T) {
	file, _ := noisy(t, 16000, 16000)
	whole := func(b []byte) io.Reader { return bytes.NewReader(b) }
	big := 25<<20 + 1
	for _, tt := range []struct {
		name, contentType string
		body              io.Reader
		refuse            error
		status            int
		code              string
	}{
		{"JSON", "application/json", whole([]byte("{}")), nil, 415, "request.unsupported_media_type"},
		{"text", "audio/wav", strings.NewReader("hello"), nil, 400, "validation.invalid_request_format"},
		{"nothing", "audio/wav", whole(nil), nil, 400, "validation.invalid_request_format"},
		{"no samples", "audio/wav", whole(file[:44]), nil, 400, "validation.invalid_request_format"},
		{"too large", "audio/wav", whole(make([]byte, big)), nil, 413, "request.too_large"},
		{"too large, in chunks", "audio/wav", io.LimitReader(zeros{}, int64(big)), nil, 413, "request.too_large"},
		{"too large with the form", "audio/wav", whole(make([]byte, big+1<<20)), nil, 413, "request.too_large"},
		{"balance", "audio/wav", whole(file), store.ErrInsufficientBalance, 402, "billing.insufficient_balance"},
		{"concurrency", "audio/wav", whole(file), store.ErrConcurrency, 429, "limit.concurrency"},
		{"broken before it is refused", "audio/wav", whole(file[:20]), store.ErrInsufficientBalance, 400, "validation.invalid_request_format"},
	} {
		books := account{refuse: tt.refuse}
		w := post(server(t, &books), tt.contentType, tt.body)
		var p api.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != tt.status || p.Code != tt.code {
			t.Errorf("%s: status %d, %s, want %d %s", tt.name, w.Code, w.Body, tt.status, tt.code)
		}
		if tt.status == 400 && p.Detail == "" {
			t.Errorf("%s: nothing says why", tt.name)
		}
		if books.used != 0 || books.ended != 0 {
			t.Errorf("%s: the books say %+v", tt.name, books)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// untouched is a body that nobody may read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// TestFull: while there is no room bodies stay where they are, and after a while
// the client is told.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(&account{})
		for i := range atOnce {
			if _, err := h.gate.Enter(t.Context(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		w := post(api.HandlerFunc(h.serve), "audio/wav", untouched{t})
		if w.Code != 503 || !strings.Contains(w.Body.String(), "service.unavailable") || w.Header().Get("Retry-After") == "" {
			t.Errorf("status %d, %v %s", w.Code, w.Header(), w.Body)
		}
		if time.Since(start) != gateWait {
			t.Errorf("after %v, want %v", time.Since(start), gateWait)
		}
	})
}

// TestPlacesAreGivenBack: after refusals and answers there is as much room as
// before.
func TestPlacesAreGivenBack(t *testing.T) {
	file, _ := noisy(t, 8000, 800)
	h := server(t, &account{})
	for range atOnce + 1 {
		if w := post(h, "audio/wav", strings.NewReader("hello")); w.Code != 400 {
			t.Fatalf("status %d", w.Code)
		}
		if w := post(h, "audio/wav", bytes.NewReader(file)); w.Code != 200 {
			t.Fatalf("status %d", w.Code)
		}
	}
}
