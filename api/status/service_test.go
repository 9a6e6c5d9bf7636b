package status_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/api/status"
	"parley/inference"
)

func TestServiceNeedsACredential(t *testing.T) {
	b := start(t)
	for _, name := range []string{"health", "voices", "models"} {
		for key, want := range map[string]int{"": 401, "sk_x": 401, "sk_a": 200, "wst_a": 200, "wst_s": 403} {
			if code, _ := b.get(t, "/api/status/"+name, key, nil); code != want {
				t.Errorf("%s with %q: %d, want %d", name, key, code, want)
			}
		}
	}
}

func TestServiceVoices(t *testing.T) {
	b := start(t)
	var got status.ServiceVoices
	_, header := b.get(t, "/api/status/voices", "sk_a", &got)
	if header.Get("Cache-Control") != "max-age=86400" {
		t.Errorf("Cache-Control is %q", header.Get("Cache-Control"))
	}
	if len(got.Voices) != 10 || got.Voices[9].VoiceID != "M5" || got.Voices[9].Gender != "male" || got.Voices[9].Description == "" {
		t.Errorf("voices: %+v", got.Voices)
	}
	for group, want := range map[string]string{"female": "F1 F2 F3 F4 F5", "male": "M1 M2 M3 M4 M5", "warm": "F1 M4", "deep": "M1"} {
		if ids := strings.Join(got.Groups[group], " "); ids != want {
			t.Errorf("%s: %s", group, ids)
		}
	}
}

// TestServiceHealth breaks the parts one by one. Time stands still between checks,
// so that nobody's answer is an old one.
func TestServiceHealth(t *testing.T) {
	leaky := errors.New("dial /secret/path: no such file")
	for _, tt := range []struct {
		name                      string
		database, storage, engine error
		want                      status.ServiceHealth
		word, reason              string
	}{
		{name: "all is well", want: status.ServiceHealth{Status: "operational", Services: status.ServiceParts{Engine: "healthy", Database: "connected", Storage: "available"}}, word: "ok"},
		{name: "no database", database: leaky, want: status.ServiceHealth{Status: "down", Services: status.ServiceParts{Engine: "healthy", Database: "unreachable", Storage: "available"}}, word: "warming_up"},
		{name: "a database that hangs", database: errHang, want: status.ServiceHealth{Status: "down", Services: status.ServiceParts{Engine: "healthy", Database: "unreachable", Storage: "available"}}, word: "warming_up"},
		{name: "a full disk", storage: leaky, want: status.ServiceHealth{Status: "degraded", Services: status.ServiceParts{Engine: "healthy", Database: "connected", Storage: "unavailable"}}, word: "warming_up"},
		{name: "an engine starts", engine: errHang, want: status.ServiceHealth{Status: "degraded", Services: status.ServiceParts{Engine: "unavailable", Database: "connected", Storage: "available"}}, word: "warming_up", reason: "does not answer"},
		{name: "an engine is broken", engine: &inference.Error{Engine: "e", Fault: inference.ErrFailed, Err: leaky}, want: status.ServiceHealth{Status: "degraded", Services: status.ServiceParts{Engine: "unavailable", Database: "connected", Storage: "available"}}, word: "warming_up", reason: "failed"},
		{name: "an engine says anything", engine: leaky, want: status.ServiceHealth{Status: "degraded", Services: status.ServiceParts{Engine: "unavailable", Database: "connected", Storage: "available"}}, word: "warming_up", reason: "not available"},
	} {
		b := start(t)
		b.database.Store(&tt.database)
		b.storage.Store(&tt.storage)
		b.engine.Store(&tt.engine)
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			got := b.ServiceHealth(ctx)
			got.Version, got.Timestamp = "", time.Time{}
			if got != tt.want {
				t.Errorf("%s: %+v", tt.name, got)
			}
			if word := b.Health(ctx).Status; word != tt.word {
				t.Errorf("%s is %q to clients", tt.name, word)
			}
			model := b.ServiceModels(ctx).Models[0]
			if model.Reason != tt.reason || model.Ready != (tt.engine == nil) {
				t.Errorf("%s: %+v", tt.name, model)
			}
		})
	}
}

func TestServiceModels(t *testing.T) {
	b := start(t)
	var got status.ServiceModels
	b.get(t, "/api/status/models", "sk_a", &got)
	if len(got.Models) != 4 {
		t.Fatalf("models: %+v", got)
	}
	for i, want := range []struct {
		name, languages string
		rate            int
	}{{"fake-tts", "en es ca gl eu pt fr it de", 44100}, {"spare", "", 44100}, {"ears", "en ca", 16000}, {"fake-llm", "en es ca gl eu pt fr it de", 0}} {
		m := got.Models[i]
		if m.Name != want.name || strings.Join(m.Languages, " ") != want.languages || m.Languages == nil || m.SampleRate != want.rate || !m.Ready {
			t.Errorf("%+v", m)
		}
	}
}

// TestChecksAreRare lets many ask at once, without a credential.
func TestChecksAreRare(t *testing.T) {
	b := start(t)
	synctest.Test(t, func(t *testing.T) {
		for range 5 {
			for range 100 {
				b.Health(t.Context())
			}
			time.Sleep(time.Second)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if word := b.Health(gone).Status; word != "ok" {
			t.Errorf("for one who has gone it is %q", word)
		}
	})
	if n := b.checks.Load(); n != 6 {
		t.Errorf("%d checks in five seconds and one", n)
	}
}

func TestAnswersAreOwnLists(t *testing.T) {
	b := start(t)
	first := b.Voices()
	slices.Reverse(first.Voices)
	if b.Voices().Voices[0].ID != "F1" {
		t.Error("a list that was given away changed the next one")
	}
}
