package responsestest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

func TestRequestsAreRefused(t *testing.T) {
	ask := text("user", "Is Friday free?")
	tool := func(change fieldsOf) fieldsOf {
		one := fieldsOf{"type": "function", "name": "look", "parameters": fieldsOf{"type": "object"}}
		for name, v := range change {
			one[name] = v
		}
		return fieldsOf{"tools": []any{one}}
	}
	format := func(change fieldsOf) fieldsOf {
		one := fieldsOf{"type": "json_schema", "name": "answer", "schema": fieldsOf{"type": "object"}}
		for name, v := range change {
			one[name] = v
		}
		return fieldsOf{"text": fieldsOf{"format": one}}
	}
	says := func(role, kind string) fieldsOf {
		return input(fieldsOf{"type": "message", "role": role, "content": []any{fieldsOf{"type": kind, "text": "Hello."}}})
	}
	for _, tt := range []struct {
		change fieldsOf
		code   string
		says   string
	}{
		{fieldsOf{"model": nil}, missing, "'model'"},
		{fieldsOf{"input": nil}, missing, "'input'"},
		{input(), missing, "'input'"},
		{fieldsOf{"input": 7}, badType, "'input'"},
		{fieldsOf{"messages": []any{ask}}, "unknown_parameter", "'messages'"},
		{fieldsOf{"max_tokens": 100}, "unknown_parameter", "'max_tokens'"},
		{fieldsOf{"stream": nil}, badValue, "stream"},
		{fieldsOf{"store": nil}, badValue, "'store' must be false"},
		{fieldsOf{"store": true}, badValue, "'store' must be false"},
		{fieldsOf{"previous_response_id": "resp_1"}, "previous_response_not_found", "resp_1"},
		{fieldsOf{"max_output_tokens": 5}, "integer_below_min_value", ">= 16"},
		{fieldsOf{"temperature": 2.5}, "decimal_above_max_value", "temperature"},
		{fieldsOf{"temperature": "hot"}, badType, "temperature"},
		{fieldsOf{"top_p": 1.5}, "decimal_above_max_value", "top_p"},
		{fieldsOf{"model": thinking, "temperature": 1}, "unsupported_parameter", "'temperature'"},
		{fieldsOf{"model": thinking, "reasoning": fieldsOf{"effort": "maximal"}}, badValue, "maximal"},
		{fieldsOf{"reasoning": fieldsOf{"effort": "low"}}, "unsupported_parameter", "'reasoning.effort'"},
		{fieldsOf{"include": []string{sealedReasoning}}, "", "Encrypted content is not supported"},
		{fieldsOf{"include": []string{"reasoning"}}, badValue, "reasoning.encrypted_content"},
		{fieldsOf{"tools": []any{look, look}}, badValue, "unique"},
		{tool(fieldsOf{"name": nil, "function": fieldsOf{"name": "look"}}), "unknown_parameter", "'function'"},
		{tool(fieldsOf{"name": "look up"}), badValue, "pattern"},
		{tool(fieldsOf{"type": "custom"}), badValue, "custom"},
		{tool(fieldsOf{"parameters": fieldsOf{"type": "string"}}), "invalid_function_parameters", "must be a JSON Schema"},
		{tool(fieldsOf{"strict": true}), "invalid_function_parameters", "'additionalProperties' is required"},
		{tool(fieldsOf{"strict": true, "parameters": fieldsOf{"type": "object", "additionalProperties": false, "properties": fieldsOf{"day": fieldsOf{}}}}), "invalid_function_parameters", "Missing 'day'"},
		{fieldsOf{"tool_choice": "any"}, badValue, "any"},
		{fieldsOf{"tool_choice": "required"}, "", "with 'tools' parameter"},
		{fieldsOf{"tools": []any{look}, "tool_choice": fieldsOf{"type": "function", "name": "find"}}, "", "not found in 'tools'"},
		{format(fieldsOf{"type": "xml"}), badValue, "xml"},
		{format(fieldsOf{"name": ""}), missing, "text.format.name"},
		{format(fieldsOf{"strict": true}), "invalid_json_schema", "'additionalProperties' is required"},
		{fieldsOf{"text": fieldsOf{"verbosity": "none"}}, badValue, "none"},
		{input(text("tool", "free")), badValue, "tool"},
		{input(fieldsOf{"role": "user"}), missing, "input[0].content"},
		{says("user", "output_text"), badValue, "input_text"},
		{says("assistant", "input_text"), badValue, "output_text"},
		{says("user", "text"), badValue, "input_text"},
		{input(fieldsOf{"role": "user", "content": []any{fieldsOf{"text": "Hello."}}}), missing, "content.type"},
		{input(fieldsOf{"type": "tool_result"}), badValue, "tool_result"},
		{input(fieldsOf{"role": "user", "content": "Hello.", "name": "Ana"}), "unknown_parameter", "message.name"},
		{input(ask, call("a")), "", "No tool output found for function call a"},
		{input(ask, call("a"), ask), "", "No tool output found for function call a"},
		{input(ask, call("a"), call("b"), result("a")), "", "No tool output found for function call b"},
		{input(ask, result("a")), "", "No tool call found"},
		{input(ask, result("a"), call("a")), "", "No tool call found"},
		{input(ask, call("a"), result("a"), result("a")), "", "No tool call found"},
		{input(ask, call("a"), call("a"), result("a")), "", "Duplicate function call"},
		{input(ask, fieldsOf{"type": "function_call", "call_id": "a", "name": "look"}, result("a")), missing, "input[1].arguments"},
		{input(ask, fieldsOf{"type": "function_call", "call_id": "a", "name": "look", "arguments": fieldsOf{}}, result("a")), badType, "arguments"},
		{input(ask, fieldsOf{"type": "function_call", "id": "call_a", "call_id": "a", "name": "look", "arguments": "{}"}, result("a")), badValue, "begins with 'fc'"},
		{input(ask, call(strings.Repeat("a", 65))), "string_above_max_length", "maximum length 64"},
		{input(ask, call("a"), fieldsOf{"type": "function_call_output", "call_id": "a"}), missing, "input[2].output"},
		{input(ask, call("a"), fieldsOf{"type": "function_call_output", "call_id": "a", "output": fieldsOf{}}), badType, "input[2].output"},
		{input(ask, fieldsOf{"type": "reasoning", "id": "rs_1"}), missing, "input[1].summary"},
		{input(ask, fieldsOf{"type": "reasoning", "id": "rs_1", "summary": []any{}, "encrypted_content": "gAAA"}, call("a"), result("a")), "invalid_encrypted_content", "could not be verified"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		resp := post(t, s, headers(s.Key), tt.change)
		if e := failed(t, resp); resp.StatusCode != 400 || e.Type != "invalid_request_error" || e.Code != tt.code || !strings.Contains(e.Message, tt.says) {
			t.Errorf("%v: %d, %+v", tt.change, resp.StatusCode, e)
		}
		if s.Books().Requests != 0 {
			t.Error("it was accepted")
		}
	}
}

func TestGoodRequests(t *testing.T) {
	s := New(t, Script{})
	streamed(t, s, fieldsOf{
		"input": []any{text("assistant", "Good morning."), text("user", "Is Friday free?"), call("a"), call("b"), result("b"), text("user", "Quick!"), result("a"),
			fieldsOf{"type": "message", "role": "assistant", "content": []any{fieldsOf{"type": "output_text", "text": "It is."}}}, text("developer", "Be brief.")},
		"instructions": "Be kind.", "tools": []any{look}, "tool_choice": "none", "parallel_tool_calls": true, "temperature": 0, "max_output_tokens": 300, "prompt_cache_key": "agent-7",
		"text": fieldsOf{"format": fieldsOf{"type": "json_schema", "name": "answer", "strict": true, "schema": fieldsOf{"type": "object", "additionalProperties": false,
			"properties": fieldsOf{"free": fieldsOf{"type": "boolean"}}, "required": []string{"free"}}}},
	})
	streamed(t, s, fieldsOf{"input": "Is Friday free?", "model": thinking, "include": []string{sealedReasoning}, "tools": []any{look},
		"tool_choice": fieldsOf{"type": "function", "name": "look"}, "reasoning": fieldsOf{"effort": "none", "summary": "auto"}, "temperature": 1, "text": fieldsOf{"verbosity": "low"}})
}

func TestHeadersAreChecked(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		status      int
		code        string
		says        string
	}{
		{"Authorization", "Bearer sk-wrong", 401, "invalid_api_key", ""},
		{"Authorization", "", 401, "", ""},
		{"Content-Type", "text/plain", 400, "", "Content-Type"},
	} {
		script := Script{}
		if tt.says != "" {
			script.Expects = []string{tt.says}
		}
		s := New(t, script)
		h := headers(s.Key)
		h.Set(tt.name, tt.value)
		resp := post(t, s, h, nil)
		if e := failed(t, resp); resp.StatusCode != tt.status || e.Code != tt.code || e.Type != "invalid_request_error" || strings.Contains(e.Message, s.Key) {
			t.Errorf("%s: %d, %+v", tt.name, resp.StatusCode, e)
		}
	}
}

func TestWarm(t *testing.T) {
	loopbacktest.Warms(t, New(t, Script{}).Server, "/v1/models", headers, 401)
}

func TestRequestsFail(t *testing.T) {
	s := New(t, Script{Models: []string{plain}, Faults: []Fault{{Connections: 1, Status: 429, RetryAfter: 2 * time.Second}, {Connections: 1, Status: 429, Reason: "insufficient_quota"},
		{Connections: 1, Status: 500}, {Connections: 1, Status: 503}, {Connections: 1, Status: 403}}})
	for _, want := range []string{"429 requests rate_limit_exceeded 2", "429 insufficient_quota insufficient_quota 1", "500 server_error  ", "503 service_unavailable_error server_is_overloaded ",
		"403 request_forbidden unsupported_country_region_territory "} {
		resp := post(t, s, headers(s.Key), nil)
		e := failed(t, resp)
		if got := strings.Join([]string{resp.Status[:3], e.Type, e.Code, resp.Header.Get("Retry-After")}, " "); got != want || e.Message == "" {
			t.Errorf("%q, want %q", got, want)
		}
		if left := resp.Header.Get("x-ratelimit-remaining-requests"); (left == "0") != (resp.StatusCode == 429) {
			t.Errorf("%s: %q are left", want, left)
		}
	}
	resp := post(t, s, headers(s.Key), fieldsOf{"model": "gpt-2"})
	if e := failed(t, resp); resp.StatusCode != 404 || e.Code != "model_not_found" {
		t.Errorf("%d, %+v", resp.StatusCode, e)
	}
	if resp := post(t, s, headers(s.Key), nil); resp.StatusCode != 200 || resp.Header.Get("x-request-id") == "" || resp.Header.Get("x-ratelimit-remaining-requests") != "500" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestStreamFaults(t, 5, 12, 1200, "rate_limit_exceeded", func(f Fault) *http.Response {
		s := New(t, Script{Replies: []Reply{{Text: "one two three four five six"}}, Faults: []Fault{f}})
		return post(t, s, headers(s.Key), nil)
	}, func(d data) bool { return d.Type == "error" && d.Code == "rate_limit_exceeded" && d.Number == 5 }, func(d data) bool { return d.Type == "response.completed" })
}

func TestStall(t *testing.T) {
	s := New(t, Script{Faults: []Fault{{Then: loopbacktest.Stall, AfterMessages: 1}}})
	loopbacktest.StreamStalls(t, s.Server, post(t, s, headers(s.Key), nil))
}

// TestGolden replays exchanges in the vendor's shapes: each request of the file, and what came back.
func TestGolden(t *testing.T) {
	loopbacktest.TestExchanges(t, New, headers, map[string]Script{
		"text-then-call": {Replies: []Reply{looking, {Text: "Friday is free."}}},
		"refused":        {Expects: []string{"No tool output found"}, Faults: []Fault{{Connections: 1, Status: 503}}, Replies: []Reply{{Text: "I think", Stop: "content_filter"}}},
	})
}
