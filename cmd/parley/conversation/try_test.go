package conversation

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api"
	"parley/pipeline/tool"
)

// TestTriedFunctions run as in a conversation: with the account's secrets, which no answer repeats, where the guard lets
// them go, and what is wrong with them is named.
func TestTriedFunctions(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/orders/404" {
			http.Error(w, "no such order", http.StatusNotFound)
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"at": r.Method + " " + r.URL.Path, "key": r.Header.Get("Authorization"), "sent": string(body)})
	}))
	defer service.Close()
	open, err := tool.NewGuard([]string{"127.0.0.0/8"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	closed, err := tool.NewGuard(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	provider := func(g *tool.Guard) *tool.Provider {
		return tool.New(tool.Config{Guard: g, Log: slog.New(slog.DiscardHandler), Secrets: func(_ context.Context, account string, _ []string) (map[string]tool.Secret, error) {
			if account != "acc_1" {
				t.Errorf("secrets of %q", account)
			}
			return map[string]tool.Secret{"KEY": {Value: "hunter2-hunter2"}}, nil
		}})
	}
	tools := strings.ReplaceAll(`[
		{"type":"http","name":"order","parameters":{"type":"object","properties":{"no":{"type":"string"}},"required":["no"]},"http":{"method":"GET","url":"URL/orders/{no}","headers":{"Authorization":"Bearer {{secret.KEY}}"}}},
		{"type":"http","name":"book","http":{"method":"POST","url":"URL/book"}},
		{"type":"function","function":{"name":"show"}}, {"type":"web_search"}]`, "URL", service.URL)
	try := Tester(provider(open), open)
	for _, tt := range []struct{ name, arguments, outcome, result string }{
		{"order", `{"no":"42"}`, "ok", `{"status":200,"body":{"at":"GET /orders/42","key":"Bearer (secret)","sent":""}}`},
		{"book", `{"n":9007199254740993}`, "ok", `{"status":200,"body":{"at":"POST /book","key":"","sent":"{\"n\":9007199254740993}"}}`},
		{"book", ``, "ok", `{"status":200,"body":{"at":"POST /book","key":"","sent":"{}"}}`},
		{"order", `{"no":"404"}`, "error", `{"error":"the service answered with status 404 no such order"}`},
		{"order", `{}`, "error", `{"error":"the arguments are not as the function wants them`},
		{"order", `[]`, "error", `{"error":"the arguments are not a JSON object"}`},
	} {
		got, err := try(t.Context(), "acc_1", json.RawMessage(tools), tt.name, json.RawMessage(tt.arguments))
		if err != nil || got.Outcome != tt.outcome || !strings.HasPrefix(got.Result, tt.result) {
			t.Errorf("%s %s: %+v %v", tt.name, tt.arguments, got, err)
		}
	}
	for name, want := range map[string]string{"show": "the client of a conversation runs show", "web_search": "is charged in conversations", "nobody": "there is no function nobody here"} {
		if got, err := try(t.Context(), "acc_1", json.RawMessage(tools), name, nil); !strings.Contains(api.ProblemOf(err).Detail, want) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	if got, err := try(t.Context(), "acc_1", json.RawMessage(`[{"type":"http","name":"x","http":{"method":"GET","url":"ftp://x"}}]`), "x", nil); api.ProblemOf(err).Status != http.StatusBadRequest ||
		!strings.Contains(api.ProblemOf(err).Detail, "tools[0].http.url") {
		t.Errorf("a mistake: %+v %v", got, err)
	}
	// The guard of a call: an address that is refused as written, and one that is only found out by its name.
	if _, err := Tester(provider(closed), closed)(t.Context(), "acc_1", json.RawMessage(tools), "book", nil); api.ProblemOf(err).Status != http.StatusBadRequest {
		t.Errorf("a private address: %v", err)
	}
	if got, err := Tester(provider(closed), nil)(t.Context(), "acc_1", json.RawMessage(tools), "book", nil); err != nil || got.Outcome != "error" {
		t.Errorf("a private address, unchecked: %+v %v", got, err)
	}
}
