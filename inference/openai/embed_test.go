package openai

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/openai/embedtest"
	"parley/inference/remote"
)

func embeddings(t *testing.T, s *embedtest.Server, model string) *Embeddings {
	t.Helper()
	e, err := NewEmbeddings(remote.Engine{Name: "embeddings", BaseURL: s.URL + "/v1", APIKey: s.Key, Model: model, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestEmbed: a vector for each text, in their order, whatever the order of the answer.
func TestEmbed(t *testing.T) {
	for _, backwards := range []bool{false, true} {
		s := embedtest.New(t, embedtest.Script{Backwards: backwards, Same: map[string]string{"car": "automobile"}})
		e := embeddings(t, s, "")
		got, err := e.Embed(t.Context(), []string{"a car", "an invoice", "A automobile!"})
		if err != nil || len(got) != 3 {
			t.Fatalf("%d vectors, %v", len(got), err)
		}
		if e.Model() != "text-embedding-3-small" || len(got[0]) != 1536 || !slices.Equal(got[0], got[2]) || slices.Equal(got[0], got[1]) {
			t.Errorf("%s: %d numbers", e.Model(), len(got[0]))
		}
		if got, err := e.Embed(t.Context(), nil); got != nil || err != nil || s.Books().Requests != 1 {
			t.Errorf("of nothing: %v, %v, %d requests", got, err, s.Books().Requests)
		}
	}
	s := embedtest.New(t, embedtest.Script{})
	if got, err := embeddings(t, s, "text-embedding-3-large").Embed(t.Context(), slices.Repeat([]string{"a"}, MaxEmbedded)); err != nil || len(got) != MaxEmbedded || len(got[0]) != 3072 {
		t.Errorf("%d vectors, %v", len(got), err)
	}
}

// TestEmbedRefused: errors have their fault, and neither the key nor the text.
func TestEmbedRefused(t *testing.T) {
	secret := "what a caller said"
	for what, tt := range map[string]struct {
		script embedtest.Script
		model  string
		texts  []string
		fault  inference.Fault
	}{
		"an empty text":   {embedtest.Script{Expects: []string{"empty string"}}, "", []string{""}, inference.ErrRefused},
		"too many":        {embedtest.Script{}, "", slices.Repeat([]string{"a"}, MaxEmbedded+1), inference.ErrRefused},
		"another model":   {embedtest.Script{}, "gpt-4o", nil, inference.ErrRefused},
		"no money":        {embedtest.Script{Faults: []embedtest.Fault{{Connections: 1, Status: 429, Reason: "insufficient_quota"}}}, "", nil, inference.ErrRefused},
		"too many a time": {embedtest.Script{Faults: []embedtest.Fault{{Connections: 1, Status: 429}}}, "", nil, inference.ErrUnavailable},
		"out of order":    {embedtest.Script{Faults: []embedtest.Fault{{Connections: 1, Status: 500}}}, "", nil, inference.ErrFailed},
	} {
		s := embedtest.New(t, tt.script)
		texts := tt.texts
		if texts == nil {
			texts = []string{secret}
		}
		_, err := embeddings(t, s, tt.model).Embed(t.Context(), texts)
		if inference.FaultOf(err) != tt.fault || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), s.Key) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := embeddings(t, embedtest.New(t, embedtest.Script{}), "").Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its caller has gone: %v", err)
	}
}

// TestEmbedAnswers: what a server may answer, and what not.
func TestEmbedAnswers(t *testing.T) {
	one := func(embedding any) any { return map[string]any{"index": 0, "embedding": embedding} }
	for what, tt := range map[string]struct {
		data any
		good bool
	}{
		"without numbers":        {[]any{map[string]any{"embedding": []int{3, 4}}}, true},
		"none":                   {[]any{}, false},
		"one too many":           {[]any{one([]int{1}), one([]int{1})}, false},
		"another number":         {[]any{map[string]any{"index": 1, "embedding": []int{1}}}, false},
		"a number below zero":    {[]any{map[string]any{"index": -1, "embedding": []int{1}}}, false},
		"an empty vector":        {[]any{one([]int{})}, false},
		"no vector":              {[]any{one(nil)}, false},
		"base64":                 {[]any{one("AACAPwAAAEA=")}, false},
		"a vector of zeros":      {[]any{one([]int{0, 0})}, false},
		"a number past a float":  {[]any{one([]float64{1e300})}, false},
		"too long a vector":      {[]any{one(make([]float32, MaxDimensions+1))}, false},
		"something that is none": {"a text", false},
	} {
		s := embedtest.New(t, embedtest.Script{Change: func(a map[string]any) any { a["data"] = tt.data; return a }})
		got, err := embeddings(t, s, "").Embed(t.Context(), []string{"a"})
		if tt.good != (err == nil) || tt.good && !slices.Equal(got[0], []float32{3, 4}) || !tt.good && inference.FaultOf(err) != inference.ErrFailed {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	uneven := func(a map[string]any) any {
		a["data"] = []any{map[string]any{"index": 0, "embedding": []int{1}}, map[string]any{"index": 1, "embedding": []int{1, 2}}}
		return a
	}
	if _, err := embeddings(t, embedtest.New(t, embedtest.Script{Change: uneven}), "").Embed(t.Context(), []string{"a", "b"}); inference.FaultOf(err) != inference.ErrFailed {
		t.Errorf("vectors of different lengths: %v", err)
	}
}
