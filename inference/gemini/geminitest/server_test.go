package geminitest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

func TestRequestsAreRefused(t *testing.T) {
	ask := user(said("Is Friday free?"))
	tools := func(function fieldsOf) fieldsOf {
		return fieldsOf{"tools": []any{fieldsOf{"functionDeclarations": []any{function}}}}
	}
	parameters := func(schema fieldsOf) fieldsOf { return tools(fieldsOf{"name": "look", "parameters": schema}) }
	calling := func(config fieldsOf) fieldsOf {
		return fieldsOf{"tools": []any{look}, "toolConfig": fieldsOf{"functionCallingConfig": config}}
	}
	generation := func(config fieldsOf) fieldsOf { return fieldsOf{"generationConfig": config} }
	thinking := func(config fieldsOf) fieldsOf { return generation(fieldsOf{"thinkingConfig": config}) }
	for _, tt := range []struct {
		model  string
		change fieldsOf
		says   string
	}{
		{two, contents(), "contents is not specified"},
		{two, fieldsOf{"content": []any{}}, `Unknown name "content"`},
		{two, contents(user(fieldsOf{"txt": "Hello."})), `Unknown name "txt"`},
		{two, contents(fieldsOf{"role": "assistant", "parts": []any{said("Hello.")}}), "valid role"},
		{two, contents(user()), "must not be empty"},
		{two, contents(user(said(""))), "required oneof field"},
		{two, contents(user(fieldsOf{"text": "Hello.", "functionResponse": fieldsOf{"name": "look", "response": fieldsOf{}}})), "already set"},
		{two, contents(user(call("a"))), "does not belong"},
		{two, contents(ask, model(said("It is."))), "end with a user turn"},
		{two, contents(model(call("a")), user(result("a"))), "comes immediately after a user turn"},
		{two, contents(ask, model(said("Wait.")), model(call("a")), user(result("a"))), "comes immediately after a user turn"},
		{two, contents(ask, model(call("a"))), "number of function response parts"},
		{two, contents(ask, model(call("a")), user(said("Well?"))), "number of function response parts"},
		{two, contents(ask, model(call("a"), call("b")), user(result("a"))), "number of function response parts"},
		{two, contents(ask, model(call("a"), call("b")), user(result("a")), user(result("b"))), "number of function response parts"},
		{two, contents(ask, model(call("a")), user(result("b"))), "answers no function call"},
		{two, contents(ask, model(call("a")), user(result("a"), result("a"))), "answers no function call"},
		{two, contents(ask, user(result("a"))), "immediately after a function call turn"},
		{two, contents(ask, model(fieldsOf{"functionCall": fieldsOf{"name": "look", "args": "{}"}}), user(result("a"))), "function_call.args"},
		{two, contents(ask, model(call("a")), user(fieldsOf{"functionResponse": fieldsOf{"id": "a", "name": "look", "response": "free"}})), "function_response.response"},
		{two, contents(ask, model(call("a")), user(fieldsOf{"functionResponse": fieldsOf{"id": "a", "response": fieldsOf{}}})), "Name cannot be empty"},
		{three, contents(ask, model(call("a")), user(result("a"))), "missing a thought_signature"},
		{three, contents(ask, model(signed("bWFkZSB1cA==", call("a"))), user(result("a"))), "Corrupted thought signature"},
		{two, fieldsOf{"systemInstruction": fieldsOf{"parts": []any{said("")}}}, "system_instruction"},
		{two, fieldsOf{"tools": []any{fieldsOf{}}}, "tool_type"},
		{two, fieldsOf{"tools": []any{look, look}}, "Duplicate function"},
		{two, tools(fieldsOf{"name": "look up"}), "Invalid function name"},
		{two, tools(fieldsOf{"name": "look", "input_schema": fieldsOf{}}), "input_schema"},
		{two, tools(fieldsOf{"name": "look", "parameters": fieldsOf{}, "parametersJsonSchema": fieldsOf{}}), "only one of parameters"},
		{two, tools(fieldsOf{"name": "look", "parametersJsonSchema": "object"}), "an object is expected"},
		{two, parameters(fieldsOf{"type": "object", "properties": fieldsOf{}}), "should be non-empty"},
		{two, parameters(fieldsOf{"type": "object", "additionalProperties": false, "properties": fieldsOf{"day": fieldsOf{"type": "string"}}}), `"additionalProperties"`},
		{two, parameters(fieldsOf{"type": "object", "properties": fieldsOf{"day": fieldsOf{"type": []string{"string", "null"}}}}), "not repeating"},
		{two, parameters(fieldsOf{"type": "object", "properties": fieldsOf{"days": fieldsOf{"type": "array"}}}), "items: missing"},
		{two, parameters(fieldsOf{"type": "object", "properties": fieldsOf{"day": fieldsOf{"type": "date"}}}), "properties[day].type"},
		{two, parameters(fieldsOf{"type": "object", "properties": fieldsOf{"day": fieldsOf{"type": "string"}}, "required": []string{"hour"}}), "required[0]"},
		{two, fieldsOf{"toolConfig": fieldsOf{"functionCallingConfig": fieldsOf{"mode": "NONE"}}}, "without function_declarations"},
		{two, calling(fieldsOf{"mode": "none"}), "mode"},
		{two, calling(fieldsOf{"mode": "AUTO", "allowedFunctionNames": []string{"look"}}), "only when function calling mode is ANY"},
		{two, calling(fieldsOf{"mode": "ANY", "allowedFunctionNames": []string{"find"}}), "not declared"},
		{two, generation(fieldsOf{"temperature": 2.5}), "temperature"},
		{two, generation(fieldsOf{"maxOutputTokens": 0}), "max_output_tokens"},
		{two, generation(fieldsOf{"max_tokens": 10}), "max_tokens"},
		{two, generation(fieldsOf{"responseJsonSchema": fieldsOf{"type": "object"}}), "response_mime_type"},
		{two, fieldsOf{"tools": []any{look}, "generationConfig": fieldsOf{"responseMimeType": "application/json"}}, "unsupported"},
		{two, thinking(fieldsOf{"thinkingLevel": "low"}), "not supported"},
		{three, thinking(fieldsOf{"thinkingLevel": "none"}), "thinking_level"},
		{three, thinking(fieldsOf{"thinkingLevel": "low", "thinkingBudget": 0}), "only set only one"},
		{two, thinking(fieldsOf{"thinkingBudget": -2}), "thinking budget"},
		{two, fieldsOf{"safetySettings": []any{fieldsOf{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "NONE"}}}, "safety_settings"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		resp := post(t, s, tt.model, tt.change)
		if e := failed(t, resp); e.Code != 400 || e.Status != "INVALID_ARGUMENT" || !strings.Contains(e.Message, tt.says) {
			t.Errorf("%v: %+v", tt.change, e)
		}
		if s.Books().Requests != 0 {
			t.Error("it was accepted")
		}
	}
}

func TestGoodRequests(t *testing.T) {
	s := New(t, Script{})
	streamed(t, s, three, fieldsOf{
		"contents": []any{model(said("Good morning.")), user(said("Is Friday free?")), model(call("a"), call("b")), user(result("b"), result("a"), said("Quick!")), model(said("It is.")),
			user(said("And Monday?")), user(said("Or Tuesday?")), model(said("Let me see."), signed("skip_thought_signature_validator", call("c"))), user(result("c"))},
		"systemInstruction": fieldsOf{"parts": []any{said("Be kind.")}}, "tools": []any{look},
		"toolConfig":       fieldsOf{"functionCallingConfig": fieldsOf{"mode": "ANY", "allowedFunctionNames": []string{"look"}}},
		"generationConfig": fieldsOf{"temperature": 0, "maxOutputTokens": 300, "responseMimeType": "application/json", "responseJsonSchema": fieldsOf{"type": "object"}, "thinkingConfig": fieldsOf{"thinkingLevel": "low"}},
	})
	old := fieldsOf{"functionDeclarations": []any{fieldsOf{"name": "stop"}, fieldsOf{"name": "look", "parameters": fieldsOf{"type": "OBJECT", "required": []string{"day"},
		"properties": fieldsOf{"day": fieldsOf{"type": "string"}, "hours": fieldsOf{"type": "ARRAY", "items": fieldsOf{"anyOf": []any{fieldsOf{"type": "integer"}}}}}}}}}
	streamed(t, s, two, fieldsOf{"tools": []any{old}, "generationConfig": fieldsOf{"thinkingConfig": fieldsOf{"thinkingBudget": -1}}})
}

// TestKeys: only the header opens, and each wrong way has an answer of its own.
func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		header http.Header
		query  string
		code   int
		status string
	}{
		{headers("wrong"), "", 400, "INVALID_ARGUMENT"},
		{http.Header{}, "", 403, "PERMISSION_DENIED"},
		{http.Header{"Authorization": {"Bearer " + DefaultKey}}, "", 401, "UNAUTHENTICATED"},
		{headers(DefaultKey), "&key=" + DefaultKey, 400, "INVALID_ARGUMENT"},
	} {
		script := Script{}
		if tt.query != "" {
			script.Expects = []string{"in the URL"}
		}
		s := New(t, script)
		tt.header.Set("Content-Type", "application/json")
		e := failed(t, loopbacktest.Post(t.Context(), t, s.URL+"/v1beta/models/"+two+":streamGenerateContent?alt=sse"+tt.query, tt.header, body(nil)))
		if e.Code != tt.code || e.Status != tt.status || strings.Contains(e.Message, s.Key) {
			t.Errorf("%+v", e)
		}
		if bad := e.Message == "API key not valid. Please pass a valid API key."; bad && (len(e.Details) != 1 || e.Details[0].Reason != "API_KEY_INVALID") {
			t.Errorf("%+v", e)
		}
	}
}

func TestAddressesAreChecked(t *testing.T) {
	for path, says := range map[string]string{
		"/v1beta/models/" + two + ":streamGenerateContent":            "alt=sse",
		"/v1beta/models/" + two + ":generateContent?alt=sse":          "alone",
		"/v1beta/openai/chat/completions":                             "does not exist",
		"/v1beta/models/" + two + ":streamGenerateContent?alt=sse&a=": "",
	} {
		script := Script{}
		if says != "" {
			script.Expects = []string{says}
		}
		s := New(t, script)
		if resp := loopbacktest.Post(t.Context(), t, s.URL+path, headers(s.Key), body(nil)); (resp.StatusCode == 200) != (says == "") {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

func TestWarm(t *testing.T) {
	loopbacktest.Warms(t, New(t, Script{}).Server, "/v1beta/models", headers, 400)
}

func TestRequestsFail(t *testing.T) {
	s := New(t, Script{Models: []string{two}, Faults: []Fault{
		{Connections: 1, Status: 429, RetryAfter: 1500 * time.Millisecond}, {Connections: 1, Status: 429}, {Connections: 1, Status: 503},
		{Connections: 1, Status: 403}, {Connections: 1, Status: 400, Reason: "FAILED_PRECONDITION"}}})
	for _, want := range []string{"429 RESOURCE_EXHAUSTED 1.5s", "429 RESOURCE_EXHAUSTED 1s", "503 UNAVAILABLE", "403 PERMISSION_DENIED", "400 FAILED_PRECONDITION"} {
		resp := post(t, s, two, nil)
		e := failed(t, resp)
		got := resp.Status[:3] + " " + e.Status
		for _, d := range e.Details {
			got += " " + d.Delay
		}
		if got != want || resp.Header.Get("Retry-After") != "" || e.Message == "" {
			t.Errorf("%s: %+v, %v", want, e, resp.Header)
		}
	}
	if e := failed(t, post(t, s, three, nil)); e.Code != 404 || e.Status != "NOT_FOUND" {
		t.Errorf("%+v", e)
	}
	streamed(t, s, two, nil)
}

func TestFaults(t *testing.T) {
	loopbacktest.TestStreamFaults(t, 2, 5, 700, "INTERNAL", func(f Fault) *http.Response {
		return post(t, New(t, Script{Replies: []Reply{{Text: "one two three four five six"}}, Faults: []Fault{f}}), two, nil)
	}, func(d data) bool { return d.Error.Status == "INTERNAL" && d.Error.Code == 500 }, func(d data) bool { return joined([]data{d}).finish == "STOP" })
}

func TestStall(t *testing.T) {
	s := New(t, Script{Faults: []Fault{{Then: loopbacktest.Stall, AfterMessages: 1}}})
	loopbacktest.StreamStalls(t, s.Server, post(t, s, two, nil))
}

// TestGolden replays exchanges in the vendor's shapes: each request of the file, and what came back.
func TestGolden(t *testing.T) {
	loopbacktest.TestExchanges(t, New, headers, map[string]Script{
		"text-then-call": {Replies: []Reply{looking, {Text: "Friday is free."}}},
		"refused":        {Expects: []string{"number of function response parts"}, Faults: []Fault{{Connections: 1, Status: 503}}, Replies: []Reply{{Block: "SAFETY"}}},
	})
}
