package anthropictest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// mark is a block of text with a cache mark.
func mark(ttl string) fieldsOf {
	c := fieldsOf{"type": "ephemeral"}
	if ttl != "" {
		c["ttl"] = ttl
	}
	return fieldsOf{"type": "text", "text": "Hello.", "cache_control": c}
}

func TestRequestsAreRefused(t *testing.T) {
	ask := text("user", "Is Friday free?")
	messages := func(list ...any) fieldsOf { return fieldsOf{"messages": list} }
	tools := func(list ...any) fieldsOf { return fieldsOf{"tools": list} }
	for _, tt := range []struct {
		change fieldsOf
		says   string
	}{
		{fieldsOf{"model": nil}, "model"},
		{fieldsOf{"max_tokens": nil}, "max_tokens"},
		{fieldsOf{"temperature": 1.5}, "temperature"},
		{fieldsOf{"temprature": 1}, "temprature: Extra inputs"},
		{fieldsOf{"system": ""}, "system"},
		{messages(), "at least one"},
		{messages(text("system", "Be kind.")), "role"},
		{messages(text("assistant", "Hello.")), "first message"},
		{messages(ask, ask), "alternate"},
		{messages(text("user", "")), "non-empty"},
		{messages(text("user", " \n")), "non-whitespace"},
		{messages(message("user")), "non-empty"},
		{messages(ask, text("assistant", "It is ")), "trailing whitespace"},
		{messages(message("user", fieldsOf{"type": "video"})), "does not match"},
		{messages(message("user", fieldsOf{"type": "text", "text": "a", "id": "b"})), "text.id: Extra inputs"},
		{messages(message("user", use("a"))), "not allowed in user"},
		{messages(message("user", result("a"))), "unexpected `tool_use_id`"},
		{messages(ask, message("assistant", use("a"))), "without `tool_result`"},
		{messages(ask, message("assistant", use("a")), text("user", "Well?")), "without `tool_result`"},
		{messages(ask, message("assistant", use("a"), use("b")), message("user", result("a"))), "immediately after: b"},
		{messages(ask, message("assistant", use("a")), message("user", fieldsOf{"type": "text", "text": "Well?"}, result("a"))), "must come first"},
		{messages(ask, message("assistant", use("a")), message("user", result("a"), result("a"))), "single result"},
		{messages(ask, message("assistant", use("a"), use("a")), message("user", result("a"))), "unique"},
		{messages(ask, message("assistant", fieldsOf{"type": "tool_use", "id": "a", "name": "look", "input": "{}"}), message("user", result("a"))), "dictionary"},
		{tools(fieldsOf{"name": "look up", "input_schema": fieldsOf{"type": "object"}}), "pattern"},
		{tools(fieldsOf{"name": "look"}), "input_schema: Field required"},
		{tools(fieldsOf{"name": "look", "input_schema": fieldsOf{"type": "string"}}), "Input should be 'object'"},
		{tools(fieldsOf{"name": "look", "parameters": fieldsOf{}}), "parameters: Extra inputs"},
		{tools(look, look), "unique"},
		{fieldsOf{"tool_choice": fieldsOf{"type": "auto"}}, "tool_choice"},
		{fieldsOf{"tools": []any{look}, "tool_choice": fieldsOf{"type": "required"}}, "tool_choice"},
		{fieldsOf{"tools": []any{look}, "tool_choice": fieldsOf{"type": "tool", "name": "find"}}, "tool_choice"},
		{fieldsOf{"thinking": fieldsOf{"type": "enabled", "budget_tokens": 1024}}, "max_tokens"},
		{messages(message("user", mark(""), mark(""), mark(""), mark(""), mark(""))), "found 5"},
		{fieldsOf{"cache_control": fieldsOf{"type": "ephemeral"}, "messages": []any{message("user", mark(""), mark(""), mark(""), mark(""))}}, "found 5"},
		{messages(message("user", mark("10m"))), "ttl"},
		{messages(message("user", mark("5m"), mark("1h"))), "must not come after"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		resp := post(t, s, headers(s.Key), body(tt.change))
		var answer struct {
			Type  string
			Error struct{ Type, Message string }
			ID    string `json:"request_id"`
		}
		err := json.NewDecoder(resp.Body).Decode(&answer)
		if err != nil || resp.StatusCode != 400 || answer.Error.Type != "invalid_request_error" || answer.Type != "error" || answer.ID == "" || !strings.Contains(answer.Error.Message, tt.says) {
			t.Errorf("%v: %d, %+v", tt.change, resp.StatusCode, answer)
		}
		if s.Books().Requests != 0 {
			t.Error("it was accepted")
		}
	}
}

func TestGoodHistories(t *testing.T) {
	s := New(t, Script{})
	streamed(t, s, fieldsOf{
		"messages": []any{text("user", "Is Friday free?"), message("assistant", fieldsOf{"type": "text", "text": "Let me look."}, use("a"), use("b")),
			message("user", result("b"), result("a"), mark("5m")), text("assistant", "It"), text("user", "Go on.")},
		"tools":  []any{fieldsOf{"name": "look", "input_schema": fieldsOf{"type": "object"}, "cache_control": fieldsOf{"type": "ephemeral", "ttl": "1h"}, "eager_input_streaming": true}},
		"system": []any{mark("1h"), mark("")}, "tool_choice": fieldsOf{"type": "auto", "disable_parallel_tool_use": true}, "temperature": 0,
	})
}

func TestHeadersAreChecked(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		status      int
		says        string
	}{
		{"X-Api-Key", "wrong", 401, ""},
		{"Anthropic-Version", "", 400, "anthropic-version"},
		{"Content-Type", "text/plain", 400, "content-type"},
	} {
		s, err := Start(Script{})
		if err != nil {
			t.Fatal(err)
		}
		h := headers(s.Key)
		h.Set(tt.name, tt.value)
		resp := post(t, s, h, body(nil))
		if v := strings.Join(s.Violations(), ""); resp.StatusCode != tt.status || !strings.Contains(v, tt.says) || tt.says == "" && v != "" {
			t.Errorf("%s: %d, %q", tt.name, resp.StatusCode, v)
		}
		s.Close()
	}
}

func TestRequestsFail(t *testing.T) {
	s := New(t, Script{Models: []string{"claude-haiku-4-5"}, Faults: []Fault{{Connections: 1, Status: 429, RetryAfter: 2 * time.Second}, {Connections: 1, Status: 529}, {Connections: 1, Status: 402}}})
	for _, want := range []string{"rate_limit_error", "overloaded_error", "billing_error"} {
		resp := post(t, s, headers(s.Key), body(nil))
		b, _ := io.ReadAll(resp.Body)
		if !strings.Contains(string(b), want) || want == "rate_limit_error" && (resp.Header.Get("Retry-After") != "2" || resp.Header.Get("Anthropic-Ratelimit-Requests-Remaining") != "0") {
			t.Errorf("%d %s, %v", resp.StatusCode, b, resp.Header)
		}
	}
	if resp := post(t, s, headers(s.Key), body(fieldsOf{"model": "claude-1"})); resp.StatusCode != 404 {
		t.Error(resp.StatusCode)
	}
	if resp := post(t, s, headers(s.Key), body(nil)); resp.StatusCode != 200 || resp.Header.Get("request-id") == "" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}

func TestWarm(t *testing.T) {
	loopbacktest.Warms(t, New(t, Script{}).Server, "/v1/models", headers, 401)
}

func TestFaults(t *testing.T) {
	loopbacktest.TestStreamFaults(t, 4, 10, 700, "overloaded_error", func(f Fault) *http.Response {
		s := New(t, Script{Replies: []Reply{{Text: "one two three four five six"}}, Faults: []Fault{f}})
		return post(t, s, headers(s.Key), body(nil))
	}, func(d data) bool { return d.Error.Type == "overloaded_error" }, func(d data) bool { return d.Type == "message_stop" })
}

func TestStall(t *testing.T) {
	s := New(t, Script{Faults: []Fault{{Then: loopbacktest.Stall, AfterMessages: 1}}})
	loopbacktest.StreamStalls(t, s.Server, post(t, s, headers(s.Key), body(nil)))
}

func TestNothingIsLeft(t *testing.T) {
	script := Script{Delays: Delays{FirstToken: func() time.Duration { return time.Hour }}}
	loopbacktest.TestNothingIsLeft(t, 10, Start, script, func(s *Server, _ int) io.Closer {
		return post(t, s, headers(s.Key), body(nil)).Body
	})
}

// TestGolden replays exchanges in the vendor's shapes: each request of the file, and what came back.
func TestGolden(t *testing.T) {
	golden := looking
	golden.Tools = []ToolUse{looking.Tools[0]}
	golden.Tools[0].ID = "toolu_0"
	loopbacktest.TestExchanges(t, New, headers, map[string]Script{
		"text-then-call": {Replies: []Reply{golden, {Text: "Friday is free."}}},
		"refused":        {Expects: []string{"without `tool_result`"}, Faults: []Fault{{Connections: 1, Status: 529}}},
	})
}
