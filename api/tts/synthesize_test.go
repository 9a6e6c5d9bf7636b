package tts_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/tts"
	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media/wav"
	"parley/store"
)

const goodKey = "sk_good"

var keys = apitest.Keys{goodKey: {Account: "acc_1", Key: "key_1"}}

// books let everything start, or refuse, and remember it.
type books struct {
	refuse error

	mu       sync.Mutex
	expected []int64
	used     int64
	ended    []error
}

func (b *books) Begin(ctx context.Context, p api.Principal, j api.Job) (api.Work, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse != nil {
		return nil, b.refuse
	}
	if p.Account != "acc_1" || j.Kind != billing.TTS {
		return nil, fmt.Errorf("account %s asked for %v", p.Account, j.Kind)
	}
	b.expected = append(b.expected, j.Expected)
	return &work{b, ctx}, nil
}

type work struct {
	*books
	ctx context.Context
}

func (w *work) Context() context.Context { return w.ctx }
func (w *work) Used(n int64)             { w.mu.Lock(); defer w.mu.Unlock(); w.used += n }
func (w *work) End(err error)            { w.mu.Lock(); defer w.mu.Unlock(); w.ended = append(w.ended, err) }

// named finds one engine, whose sentences take half a second.
func named(_ context.Context, account, name string) (inference.TTS, bool) {
	engine := quick()
	engine.Sentence = 500 * time.Millisecond
	return engine, account == "acc_1" && name == "other"
}

func handler(t *testing.T, engine inference.TTS, b *books) http.Handler {
	a := api.New(keys)
	tts.Mount(a, tts.New(engine), named, b, slog.New(slog.DiscardHandler))
	return apitest.Judged(t, a, a.Handler(api.Options{}))
}

func request(ctx context.Context, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/tts/synthesize", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+goodKey)
	return r
}

func quick() *enginetest.FakeTTS {
	engine := enginetest.NewFakeTTS()
	engine.FirstAudio = 0
	return engine
}

func TestSynthesize(t *testing.T) {
	b, engine := &books{}, quick()
	server := httptest.NewServer(handler(t, engine, b))
	defer server.Close()
	ask, err := http.NewRequest(http.MethodPost, server.URL+tts.Path,
		strings.NewReader(`{"text":"Bon dia. Com està vostè avui? Adéu.","voice":"en_f1","lang":"ca-ES","steps":8,"speed":1}`))
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("X-API-Key", goodKey)
	answer, err := server.Client().Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	file, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%s %v %.200s", answer.Status, err, file)
	}
	h := answer.Header
	if h.Get("Content-Type") != "audio/wav" || h.Get("X-Audio-Duration-Seconds") != "3.000" || h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers: %v", h)
	}
	if riff, data := binary.LittleEndian.Uint32(file[4:]), binary.LittleEndian.Uint32(file[40:]); int(riff) != len(file)-8 || int(data) != len(file)-44 {
		t.Errorf("lengths %d and %d in a file of %d", riff, data, len(file))
	}
	clip, err := wav.Decode(bytes.NewReader(file), 1<<30)
	if err != nil || clip.Rate != 44100 || len(clip.Samples) != 3*44100 {
		t.Errorf("%v, %d samples at %v", err, len(clip.Samples), clip.Rate)
	}
	if len(b.expected) != 1 || b.expected[0] != 35 || b.used != 35 || b.ended[0] != nil {
		t.Errorf("books: expected %v, used %d, ended %v", b.expected, b.used, b.ended)
	}
	for _, c := range engine.Calls() {
		if c.Speech.Steps != 8 || c.Speech.Voice != "F1" || c.Speech.Language != "ca" {
			t.Errorf("asked for %+v", c.Speech)
		}
	}
}

// TestSynthesizeWith: the engine that is named speaks.
func TestSynthesizeWith(t *testing.T) {
	b, w := &books{}, httptest.NewRecorder()
	handler(t, &counter{chunk: 10}, b).ServeHTTP(w, request(t.Context(), `{"text":"A sentence. Another.","voice":"F1","language":"en","speed":1,"engine":"other"}`))
	if got := w.Header().Get("X-Audio-Duration-Seconds"); w.Code != 200 || got != "1.000" || b.used != 20 {
		t.Errorf("%d, %s s, used %d", w.Code, got, b.used)
	}
}

func TestSynthesizeErrors(t *testing.T) {
	ask := func(more string) string {
		return `{"text":"A sentence. Another.","voice":"F1","language":"en"` + more + `}`
	}
	broken := func(limit int, fault inference.Fault) *enginetest.FakeTTS {
		engine := quick()
		engine.Limit, engine.Err = limit, &inference.Error{Engine: "fake", Fault: fault}
		return engine
	}
	unloaded := quick()
	unloaded.VoiceIDs = []string{"M1"}
	for _, c := range []struct {
		name, body string
		engine     inference.TTS
		refuse     error
		status     int
		code       string
	}{
		{"voice", `{"text":"Hi.","language":"en"}`, quick(), nil, 400, "validation.invalid_voice"},
		{"steps", ask(`,"steps":9`), quick(), nil, 400, "validation.steps_out_of_range"},
		{"engine", ask(`,"engine":"nobody"`), quick(), nil, 400, "validation.invalid_request_format"},
		{"format", `text`, quick(), nil, 400, "validation.invalid_request_format"},
		{"body", `{"text":"` + strings.Repeat("a", 1<<18) + `"}`, quick(), nil, 413, "request.too_large"},
		{"balance", ask(""), quick(), store.ErrInsufficientBalance, 402, "billing.insufficient_balance"},
		{"concurrency", ask(""), quick(), store.ErrConcurrency, 429, "limit.concurrency"},
		{"fails at once", ask(""), broken(0, inference.ErrFailed), nil, 500, "tts.synthesis_failed"},
		{"fails later", ask(""), broken(3, inference.ErrFailed), nil, 500, "tts.synthesis_failed"},
		{"no slot", ask(""), broken(0, inference.ErrUnavailable), nil, 503, "tts.voice_unavailable"},
		{"voice not loaded", ask(""), unloaded, nil, 503, "tts.voice_unavailable"},
	} {
		b, w := &books{refuse: c.refuse}, httptest.NewRecorder()
		handler(t, c.engine, b).ServeHTTP(w, request(t.Context(), c.body))
		if w.Code != c.status || !strings.Contains(w.Body.String(), `"`+c.code+`"`) {
			t.Errorf("%s: %d %.200s", c.name, w.Code, w.Body)
		}
		if b.used != 0 || len(b.ended) != len(b.expected) {
			t.Errorf("%s: used %d, %d begun, %d ended", c.name, b.used, len(b.expected), len(b.ended))
		}
	}
	w := httptest.NewRecorder()
	r := request(t.Context(), ask(""))
	r.Header.Del("Authorization")
	if handler(t, quick(), &books{}).ServeHTTP(w, r); w.Code != 401 {
		t.Errorf("without a key: %d", w.Code)
	}
}

// The longest text in the longest way to write it fits.
func TestEscapedText(t *testing.T) {
	w, b := httptest.NewRecorder(), &books{}
	handler(t, &counter{chunk: 10}, b).ServeHTTP(w, request(t.Context(), `{"text":"`+strings.Repeat(`\ud83d\ude00`, 5000)+`","voice":"F1","language":"en"}`))
	if w.Code != 200 || b.used != 5000 {
		t.Errorf("%d %.200s, used %d", w.Code, w.Body, b.used)
	}
}

// A minute is the longest that clients wait.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := quick()
		engine.Limit = 3 // and then silence
		began, b, w := time.Now(), &books{}, httptest.NewRecorder()
		handler(t, engine, b).ServeHTTP(w, request(t.Context(), `{"text":"A sentence.","voice":"F1","language":"en"}`))
		if d := time.Since(began); d != time.Minute || w.Code != 504 || !strings.Contains(w.Body.String(), "internal.timeout") {
			t.Errorf("%d after %v: %s", w.Code, d, w.Body)
		}
		if b.used != 0 || len(b.ended) != 1 || engine.Busy() != 0 {
			t.Errorf("used %d, ended %v, %d busy", b.used, b.ended, engine.Busy())
		}
	})
}

// A client that goes frees the engine.
func TestClientGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := quick()
		engine.Limit = 3
		ctx, cancel := context.WithCancel(t.Context())
		b := &books{}
		go handler(t, engine, b).ServeHTTP(httptest.NewRecorder(), request(ctx, `{"text":"A sentence.","voice":"F1","language":"en"}`))
		synctest.Wait()
		if engine.Busy() != 1 {
			t.Fatal("it does not speak")
		}
		cancel()
		synctest.Wait()
		if engine.Busy() != 0 || b.used != 0 || len(b.ended) != 1 || b.ended[0] != context.Canceled {
			t.Errorf("busy %d, used %d, ended %v", engine.Busy(), b.used, b.ended)
		}
	})
}
