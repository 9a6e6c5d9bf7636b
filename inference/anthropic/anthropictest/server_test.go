package anthropictest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
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

func TestFaults(t *testing.T) {
	for _, f := range []Fault{
		{Then: loopbacktest.Cut, AfterMessages: 4},
		{AfterBytes: 700},
		{Then: loopbacktest.Close, AfterMessages: 4},
		{Then: loopbacktest.Fail, AfterMessages: 4, Reason: "overloaded_error"},
		{Then: loopbacktest.Invalid, AfterMessages: 4},
		{Then: loopbacktest.Huge, AfterMessages: 4},
		{Then: loopbacktest.Nulls, AfterMessages: 4},
		{Then: loopbacktest.Unknown, AfterMessages: 4},
	} {
		s := New(t, Script{Replies: []Reply{{Text: "one two three four five six"}}, Faults: []Fault{f}})
		list, err := events(post(t, s, headers(s.Key), body(nil)).Body)
		last := list[len(list)-1]
		switch f.Then {
		case loopbacktest.Nothing, loopbacktest.Cut:
			if err == nil || f.Then == loopbacktest.Cut && len(list) != 4 {
				t.Errorf("%+v: %v after %d", f, err, len(list))
			}
		case loopbacktest.Close, loopbacktest.Fail:
			if err != nil || (last.Error.Type == "overloaded_error") != (f.Then == loopbacktest.Fail) {
				t.Errorf("%+v: %v after %+v", f, err, last)
			}
		default:
			if err != nil || len(list) != 10 || last.Type != "message_stop" {
				t.Errorf("%+v: %v, %d events", f, err, len(list))
			}
		}
	}
}

func TestStall(t *testing.T) {
	s, err := Start(Script{Faults: []Fault{{Then: loopbacktest.Stall, AfterMessages: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	resp := post(t, s, headers(s.Key), body(nil))
	first := make([]byte, 20)
	if _, err := io.ReadFull(resp.Body, first); err != nil || s.Busy() != 1 {
		t.Errorf("%v, %d busy", err, s.Busy())
	}
	s.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("the body has an end")
	}
}

func TestNothingIsLeft(t *testing.T) {
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	s, err := Start(Script{Delays: Delays{FirstToken: func() time.Duration { return time.Hour }}})
	if err != nil {
		t.Fatal(err)
	}
	var open []io.Closer
	for i := range 10 {
		resp := post(t, s, headers(s.Key), body(nil))
		if i%2 == 0 {
			resp.Body.Close()
		} else {
			open = append(open, resp.Body)
		}
	}
	s.Close()
	for _, b := range open {
		b.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	for range 100 {
		if runtime.NumGoroutine() <= before+1 {
			return
		}
		time.Sleep(ms)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestGolden replays exchanges in the vendor's shapes: each request of the file, and what came back.
func TestGolden(t *testing.T) {
	for name, script := range map[string]Script{
		"text-then-call": {Replies: []Reply{looking, {Text: "Friday is free."}}},
		"refused":        {Expects: []string{"without `tool_result`"}, Faults: []Fault{{Connections: 1, Status: 529}}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range script.Replies {
				for j := range script.Replies[i].Tools {
					script.Replies[i].Tools[j].ID = fmt.Sprintf("toolu_%d", j)
				}
			}
			s := New(t, script)
			loopbacktest.Exchange(t, "testdata/"+name+".jsonl", s.URL, headers(s.Key))
		})
	}
}
