package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/status"
	"parley/inference"
	"parley/inference/enginetest"
)

// keys are one key and two tickets.
var keys = apitest.Keys{
	"sk_a":  {Account: "a", Key: "k"},
	"wst_a": {Account: "a", Key: "k", Ticket: &api.Ticket{ID: "t"}},
	"wst_s": {Account: "a", Key: "k", Ticket: &api.Ticket{ID: "s", Agent: "ag"}},
}

// bench is a server whose parts can be broken.
type bench struct {
	*status.Server
	http                      *httptest.Server
	database, storage, engine atomic.Pointer[error]
	checks                    atomic.Int64 // of the database
}

func start(t *testing.T) *bench {
	b := &bench{}
	b.Server = &status.Server{
		Version: "1.2.3", Started: time.Now().Add(-time.Hour),
		Engines: []status.Engine{
			{Kind: status.TTS, Info: enginetest.NewFakeTTS().Info, Ready: broken(&b.engine)},
			{Kind: status.TTS, Info: func() inference.Info { return inference.Info{Name: "spare"} }, Vendor: "cartesia", Unproven: true, TakesKeys: true},
			{Kind: status.STT, Info: func() inference.Info {
				return inference.Info{Name: "ears", Languages: []string{"en", "ca"}}
			}},
			{Kind: status.LLM, Info: enginetest.NewFakeLLM().Info},
		},
		Database: func(ctx context.Context) error {
			b.checks.Add(1)
			return broken(&b.database)(ctx)
		},
		Storage:    broken(&b.storage),
		Calls:      func() int { return 3 },
		Load:       func() float64 { return 7 }, // more than there is
		Counts:     new(api.Counts),
		Compressed: true,
	}
	a := api.New(keys)
	status.Mount(a, b.Server)
	b.http = httptest.NewServer(apitest.Judged(t, a, a.Handler(api.Options{Counts: b.Counts})))
	t.Cleanup(b.http.Close)
	return b
}

func broken(why *atomic.Pointer[error]) func(context.Context) error {
	return func(ctx context.Context) error {
		switch p := why.Load(); {
		case p == nil:
			return nil
		case *p == errHang:
			<-ctx.Done()
			return ctx.Err()
		default:
			return *p
		}
	}
}

var errHang = errors.New("hangs")

// get asks for a path and reads the answer into v.
func (b *bench) get(t *testing.T, path, key string, v any) (int, http.Header) {
	t.Helper()
	r, err := http.NewRequest("GET", b.http.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := b.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && v != nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		t.Fatalf("%s: %v in %s", path, err, body)
	}
	if ct := res.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("%s is %q", path, ct)
	}
	return res.StatusCode, res.Header
}

// TestDiscovery holds every route to its fields, at both of its places.
func TestDiscovery(t *testing.T) {
	b := start(t)
	for _, tt := range []struct{ name, fields, cache string }{
		{"voices", "voices", "public, max-age=300"},
		{"languages", "languages", "public, max-age=300"},
		{"models", "models", "public, max-age=300"},
		{"config", "channels compressed_audio max_async_text_length max_speed max_steps max_text_length min_speed min_steps sample_rate", "public, max-age=300"},
		{"status", "active_calls active_connections failed_requests goroutines inference mem_alloc_bytes ready runtime status timestamp uptime_seconds version", "no-store"},
		{"health", "inference load runtime status timestamp version", "no-store"},
	} {
		var shapes []string
		for _, path := range []string{"/" + tt.name, "/ws/agent/" + tt.name} {
			var got map[string]any
			code, header := b.get(t, path, "", &got)
			if code != 200 || header.Get("Access-Control-Allow-Origin") != "*" || header.Get("Cache-Control") != tt.cache {
				t.Errorf("%s: %d, %v", path, code, header)
			}
			if fields := strings.Join(slices.Sorted(maps.Keys(got)), " "); fields != tt.fields {
				t.Errorf("%s has %s", path, fields)
			}
			shape, _ := json.Marshal(shapeOf(got))
			shapes = append(shapes, string(shape))
			r, _ := http.NewRequest("OPTIONS", b.http.URL+path, nil)
			res, err := b.http.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != 204 || res.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("preflight of %s: %d", path, res.StatusCode)
			}
		}
		if shapes[0] != shapes[1] {
			t.Errorf("%s differs: %s", tt.name, shapes)
		}
	}
}

// shapeOf replaces what changes between two requests, numbers and times, by its type.
func shapeOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = shapeOf(v[k])
			if k == "timestamp" {
				v[k] = "time"
			}
		}
	case []any:
		for i := range v {
			v[i] = shapeOf(v[i])
		}
	case float64:
		return 0
	}
	return v
}

// TestWhatClientsExpect is what published clients look at.
func TestWhatClientsExpect(t *testing.T) {
	b := start(t)
	var voices struct{ Voices []struct{ ID, Gender string } }
	b.get(t, "/voices", "", &voices)
	if len(voices.Voices) != 10 || voices.Voices[0].ID != "F1" || voices.Voices[0].Gender != "female" {
		t.Errorf("voices: %+v", voices)
	}
	var config map[string]any
	b.get(t, "/config", "", &config)
	if config["max_text_length"] != 5000.0 || config["min_speed"] != 0.5 || config["max_speed"] != 2.0 || config["min_steps"] != 1.0 ||
		config["max_steps"] != 8.0 || config["sample_rate"] != 44100.0 || config["channels"] != 1.0 || config["compressed_audio"] != true {
		t.Errorf("config: %v", config)
	}
	var health struct {
		Status, Version, Inference string
		Load                       float64
	}
	b.get(t, "/health", "sk_a", &health)
	if health.Status != "ok" || health.Version != "1.2.3" || health.Load != 1 || health.Inference != "tts fake-tts, stt ears, llm fake-llm" {
		t.Errorf("health: %+v", health)
	}
}

func TestLanguages(t *testing.T) {
	b := start(t)
	var got status.LanguageList
	b.get(t, "/languages", "", &got)
	var known, heard []string
	for _, l := range got.Languages {
		known = append(known, l.Code)
		if l.Recognition {
			heard = append(heard, l.Code)
		}
	}
	// Catalan is none that may be recognised, whatever an engine says.
	if strings.Join(known, " ") != "en es ca gl eu pt fr it de" || strings.Join(heard, " ") != "en" {
		t.Errorf("known %v, heard %v", known, heard)
	}
}

func TestModels(t *testing.T) {
	b := start(t)
	var got status.ModelList
	b.get(t, "/models", "", &got)
	want := []status.ModelEntry{
		{Name: "fake-tts", Description: "fake voice for tests", Default: true, Kind: status.TTS},
		{Name: "spare", Kind: status.TTS, Vendor: "cartesia", Unproven: true, TakesKeys: true},
		{Name: "ears", Default: true, Kind: status.STT},
		{Name: "fake-llm", Description: "fake language model for tests", Default: true, Kind: status.LLM, Scripted: true},
	}
	if !slices.Equal(got.Models, want) {
		t.Errorf("models: %+v", got.Models)
	}
}

// TestStrangersLearnLittle: whether the server works and how busy it is, but not what it is
// made of or how many talk; a ticket, which strangers' browsers hold, opens no more.
func TestStrangersLearnLittle(t *testing.T) {
	b := start(t)
	for _, under := range []string{"", "/ws/agent"} {
		for _, key := range []string{"", "sk_unknown", "wst_a", "wst_s"} {
			var health status.HealthReport
			var report status.ServerReport
			if code, _ := b.get(t, under+"/health", key, &health); code != 200 || health.Status != "ok" || health.Load != 1 ||
				health.Inference == "" || health.Version != api.DocumentVersion || health.Runtime != "parley" {
				t.Errorf("%q: %d, %+v", key, code, health)
			}
			b.get(t, under+"/status", key, &report)
			if report.Timestamp.IsZero() {
				t.Error("no time")
			}
			report.Timestamp = time.Time{}
			if want := (status.ServerReport{Status: "ok", Ready: true, Version: api.DocumentVersion, Runtime: "parley", Inference: health.Inference}); report != want {
				t.Errorf("%q: %+v", key, report)
			}
		}
		var health status.HealthReport
		if b.get(t, under+"/health", "sk_a", &health); health.Version != "1.2.3" || health.Runtime == "parley" {
			t.Errorf("with a key: %+v", health)
		}
	}
	var service status.ServiceHealth
	if b.get(t, "/api/status/health", "wst_a", &service); service.Version != api.DocumentVersion {
		t.Errorf("to a ticket: %+v", service)
	}
}

func TestNumbers(t *testing.T) {
	b := start(t)
	var before, after status.ServerReport
	b.get(t, "/status", "sk_a", &before)
	if before.Status != "ok" || !before.Ready || before.ActiveConnections != 1 || before.ActiveCalls != 3 || before.FailedRequests != 0 ||
		before.UptimeSeconds < 3600 || before.Goroutines < 1 || before.MemAllocBytes == 0 || time.Since(before.Timestamp) > time.Minute {
		t.Errorf("%+v", before)
	}
	h := api.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { api.WriteError(w, api.ErrDraining) }), api.Options{Counts: b.Counts})
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if b.get(t, "/status", "sk_a", &after); after.FailedRequests != 1 {
		t.Errorf("%d failed requests", after.FailedRequests)
	}
}
