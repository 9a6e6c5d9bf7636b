package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"parley/api"
	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/media/wav"
	"parley/store"
)

// TestLists holds the tools to what the routes answer, byte by byte.
func TestLists(t *testing.T) {
	b := start(t, nil)
	for name, path := range map[string]string{"list_voices": "/voices", "list_languages": "/languages", "list_models": "/models", "get_limits": "/config"} {
		for _, arguments := range []string{`{}`, `{"more":1}`, `null`} {
			got := b.call(t, name, arguments)
			want := b.get(t, path)
			if got.IsError || len(got.Content) != 1 || got.Content[0].Type != "text" || got.Content[0].Text != string(want) {
				t.Errorf("%s: %+v, the route says %s", name, got, want)
			}
			var text, structured any
			if json.Unmarshal(want, &text) != nil || json.Unmarshal(got.Structured, &structured) != nil || fmt.Sprint(text) != fmt.Sprint(structured) {
				t.Errorf("%s: structured is %s, the route says %s", name, got.Structured, want)
			}
		}
	}
}

func TestSchemas(t *testing.T) {
	b := start(t, nil)
	_, answer, _ := b.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var names []string
	tools := map[string]tool{}
	for _, tool := range decode(t, answer).Result.Tools {
		names = append(names, tool.Name)
		tools[tool.Name] = tool
		if tool.InputSchema.Type != "object" {
			t.Errorf("%s takes %+v", tool.Name, tool.InputSchema)
		}
	}
	if got := strings.Join(names, " "); got != "get_limits list_languages list_models list_voices synthesize_speech" {
		t.Errorf("tools: %s", got)
	}
	schema := tools["synthesize_speech"].InputSchema
	if strings.Join(schema.Required, " ") != "text voice language" || len(schema.Properties) != 5 {
		t.Errorf("%+v", schema)
	}
	for name, want := range map[string]string{
		"text":     "map[maxLength:5000 minLength:1 type:string]",
		"voice":    "map[enum:[F1 F2 F3 F4 F5 M1 M2 M3 M4 M5] type:string]",
		"language": "map[enum:[en es ca gl eu pt fr it de] type:string]",
		"speed":    "map[default:1.05 maximum:2 minimum:0.5 type:number]",
		"steps":    "map[default:6 maximum:8 minimum:1 type:integer]",
	} {
		property := schema.Properties[name]
		delete(property, "description")
		if got := fmt.Sprint(property); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestSynthesis(t *testing.T) {
	b := start(t, nil)
	// Eleven code points, of which some are several bytes and UTF-16 units.
	got := b.call(t, "synthesize_speech", `{"text":"¡Olé! 𝄞𝄞 sí","voice":"f2","language":"es-ES","speed":0.5,"steps":8,"other":1}`)
	if got.IsError || len(got.Content) != 1 || got.Content[0].Type != "audio" || got.Content[0].MIMEType != "audio/wav" {
		t.Fatalf("%+v", got)
	}
	clip, err := wav.Decode(bytes.NewReader(got.Content[0].Data), 1<<20)
	if err != nil || clip.Rate != media.Rate44k {
		t.Fatalf("%v Hz, %v", clip.Rate, err)
	}
	loud := 0
	for _, v := range clip.Samples {
		if v > 4000 || v < -4000 {
			loud++
		}
	}
	if n := len(clip.Samples); n < int(media.Rate44k) || loud < n/4 {
		t.Errorf("%d samples, %d of them loud", n, loud)
	}
	speech := b.voice.Calls()[0].Speech
	if speech.Voice != "F2" || speech.Language != "es" || speech.Speed != 0.5 || speech.Steps != 8 {
		t.Errorf("the engine was asked for %+v", speech)
	}
	if len(b.books.jobs) != 1 {
		t.Fatalf("%d jobs", len(b.books.jobs))
	}
	if j := b.books.jobs[0]; j.account != "a" || j.kind != billing.TTS || j.expected != 11 || j.used != 11 || j.ended != 1 || j.err != nil {
		t.Errorf("the books say %+v", j)
	}
}

// TestRefusals are what a caller did wrong, or the account, or the engine. None of
// it is charged.
func TestRefusals(t *testing.T) {
	ok := `{"text":"Good morning.","voice":"F1","language":"en"}`
	engine := func(f inference.Fault) error {
		return &inference.Error{Engine: "fake-tts", Fault: f, Err: errors.New("secret")}
	}
	for _, tt := range []struct {
		name, arguments string
		refuse, engine  error
		code            string
		begun           bool
	}{
		{"no arguments", `null`, nil, nil, "validation.invalid_request_format", false},
		{"a list", `[1]`, nil, nil, "validation.invalid_request_format", false},
		{"a wrong type", `{"text":5}`, nil, nil, "validation.invalid_request_format", false},
		{"no text", `{"text":" ","voice":"F1","language":"en"}`, nil, nil, "validation.invalid_request_format", false},
		{"too much text", `{"text":"` + strings.Repeat("é", 5001) + `","voice":"F1","language":"en"}`, nil, nil, "validation.text_too_long", false},
		{"no voice", `{"text":"a","language":"en"}`, nil, nil, "validation.invalid_voice", false},
		{"an unknown voice", `{"text":"a","voice":"F6","language":"en"}`, nil, nil, "validation.invalid_voice", false},
		{"no language", `{"text":"a","voice":"F1"}`, nil, nil, "validation.invalid_language", false},
		{"an unknown language", `{"text":"a","voice":"F1","language":"ko"}`, nil, nil, "validation.invalid_language", false},
		{"too fast", `{"text":"a","voice":"F1","language":"en","speed":2.5}`, nil, nil, "validation.speed_out_of_range", false},
		{"too many steps", `{"text":"a","voice":"F1","language":"en","steps":9}`, nil, nil, "validation.steps_out_of_range", false},
		{"half a step", `{"text":"a","voice":"F1","language":"en","steps":1.5}`, nil, nil, "validation.steps_out_of_range", false},
		{"no money", ok, store.ErrInsufficientBalance, nil, "billing.insufficient_balance", false},
		{"too many at once", ok, store.ErrConcurrency, nil, "limit.concurrency", false},
		{"a stop", ok, api.ErrDraining, nil, "service.unavailable", false},
		{"a failing engine", ok, nil, engine(inference.ErrFailed), "tts.synthesis_failed", true},
		{"an absent engine", ok, nil, engine(inference.ErrUnavailable), "tts.voice_unavailable", true},
	} {
		b := start(t, func(b *bench) {
			b.books.refuse = tt.refuse
			if tt.engine != nil {
				b.voice.Limit, b.voice.Err = 2, tt.engine
			}
		})
		got := b.call(t, "synthesize_speech", tt.arguments)
		if !got.IsError || len(got.Content) == 0 || !strings.HasPrefix(got.Content[0].Text, tt.code+": ") || strings.Contains(fmt.Sprint(got), "secret") {
			t.Errorf("%s: %+v", tt.name, got)
		}
		var p api.Problem
		if err := json.Unmarshal(got.Structured, &p); err != nil || p.Code+": "+p.Message != got.Content[0].Text {
			t.Errorf("%s: structured is %s", tt.name, got.Structured)
		}
		if len(b.books.jobs) != 0 != tt.begun {
			t.Fatalf("%s: %d jobs", tt.name, len(b.books.jobs))
		}
		if tt.begun && (b.books.jobs[0].used != 0 || b.books.jobs[0].ended != 1 || b.books.jobs[0].err == nil) {
			t.Errorf("%s: the books say %+v", tt.name, b.books.jobs[0])
		}
	}
}

// TestPlaces makes more recordings than may be made at once, one after another.
func TestPlaces(t *testing.T) {
	b := start(t, nil)
	for range 5 {
		for _, text := range []string{"One.", "...", strings.Repeat("ab ", 200), "Two."} {
			if got := b.call(t, "synthesize_speech", `{"text":"`+text+`","voice":"F1","language":"en"}`); got.IsError {
				t.Fatalf("%s: %+v", text, got)
			}
		}
	}
}

// TestWorkThatMustStop has an engine that never ends.
func TestWorkThatMustStop(t *testing.T) {
	for code, why := range map[string]*media.Ended{
		"billing.insufficient_balance": {Reason: media.BalanceExhausted},
		"service.unavailable":          {Reason: media.APIHangup, Detail: "drain"},
	} {
		b := start(t, func(b *bench) { b.voice.Limit, b.books.more = 1, make(chan *job, 1) })
		go func() { (<-b.books.more).stop(why) }()
		got := b.call(t, "synthesize_speech", `{"text":"Good morning.","voice":"F1","language":"en"}`)
		if !got.IsError || !strings.HasPrefix(got.Content[0].Text, code) {
			t.Errorf("%v: %+v", why, got)
		}
		if j := b.books.jobs[0]; j.used != 0 || j.ended != 1 {
			t.Errorf("%v: the books say %+v", why, j)
		}
	}
}

// TestClientThatGoes leaves while the engine speaks: the work must not go on, and
// is free, for nothing was received.
func TestClientThatGoes(t *testing.T) {
	b := start(t, func(b *bench) { b.voice.Limit, b.books.more = 1, make(chan *job, 1) })
	ctx, cancel := context.WithCancel(t.Context())
	body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"synthesize_speech","arguments":{"text":"Hi.","voice":"F1","language":"en"}}}`
	r, err := http.NewRequestWithContext(ctx, "POST", b.http.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sk_a")
	r.Header.Set("Content-Type", "application/json")
	gone := make(chan error, 1)
	go func() {
		_, err := b.http.Client().Do(r)
		gone <- err
	}()
	j := <-b.books.more
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	<-j.ctx.Done()
	b.http.Close() // returns when the handler has
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.used != 0 || j.ended != 1 || !errors.Is(j.err, context.Canceled) {
		t.Errorf("used %d, ended %d times by %v", j.used, j.ended, j.err)
	}
}
