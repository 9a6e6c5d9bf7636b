package manage_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestEngineKeys: a key is set, tested and deleted, and no answer and no line of the log ever has it.
func TestEngineKeys(t *testing.T) {
	o := open(t)
	var answers strings.Builder
	ask := func(who owner, method, path, body string, status int, code string) map[string]any {
		t.Helper()
		r := o.As(who, method, "/v1/engine-keys"+path, body)
		o.Want(method+" "+path, r, status, code)
		answers.Write(r.Body)
		if len(r.Body) == 0 {
			return nil
		}
		return o.json(r)
	}
	set := ask(o.A, "PUT", "/flux", `{"key":"bad-hunter2-1111"}`, 200, "")
	if set["last4"] != "1111" || set["set_by"] != o.A.KeyID || set["refused_at"] != nil || set["refusal"] != nil {
		t.Errorf("%v", set)
	}
	state := func() string {
		t.Helper()
		list := ask(o.A, "GET", "", "", 200, "")["data"].([]any)
		if len(list) != 1 {
			t.Fatalf("%v", list)
		}
		one := list[0].(map[string]any)
		return fmt.Sprint(one["engine"], " ", one["last4"], " ", one["refusal"])
	}
	if got := state(); got != "flux 1111 <nil>" {
		t.Error(got)
	}
	if got := ask(o.B, "GET", "", "", 200, "")["data"]; len(got.([]any)) != 0 {
		t.Errorf("another account sees %v", got)
	}
	ask(o.B, "POST", "/flux/test", "", 404, "request.not_found")

	// The vendor refuses it: that is noted, and the account gets an event, once.
	for range 2 {
		test := ask(o.A, "POST", "/flux/test", "", 200, "")
		if wrong, _ := test["error"].(map[string]any); test["ok"] != false || wrong["code"] != "engine.key_refused" || wrong["detail"] != "status 401" || test["took_ms"] == nil {
			t.Errorf("%v", test)
		}
	}
	if got := state(); got != "flux 1111 status 401" {
		t.Error(got)
	}
	// That nobody is there says nothing of the key.
	ask(o.A, "PUT", "/flux", `{"key":"good-hunter2-2222"}`, 200, "")
	o.vendor.Away = true
	test := ask(o.A, "POST", "/flux/test", "", 200, "")
	if wrong, _ := test["error"].(map[string]any); test["ok"] != false || wrong["code"] != "agent.provider_error" || wrong["retryable"] != true {
		t.Errorf("%v", test)
	}
	if got := state(); got != "flux 2222 <nil>" {
		t.Error(got)
	}
	o.vendor.Away = false
	if test := ask(o.A, "POST", "/flux/test", "", 200, ""); test["ok"] != true || test["error"] != nil {
		t.Errorf("%v", test)
	}
	if last := o.vendor.Tried[len(o.vendor.Tried)-1]; last != "flux good-hunter2-2222" {
		t.Errorf("the vendor was given %q", last)
	}

	if gone := ask(o.A, "PUT", "/espeak", `{"key":"good-hunter2-3333"}`, 404, "request.not_found"); gone["detail"] != "engines that take keys: flux, haiku" {
		t.Errorf("%v", gone)
	}
	for _, body := range []string{`{}`, `{"key":""}`, `{"key":"short"}`, `{"key":"with hunter2 spaces"}`, `{"key":"hunter2\u0000hunter2"}`, `{"key":"` + strings.Repeat("hunter2", 600) + `"}`} {
		ask(o.A, "PUT", "/flux", body, 400, "validation.invalid_request_format")
	}
	ask(o.B, "DELETE", "/flux", "", 404, "request.not_found")
	ask(o.A, "DELETE", "/flux", "", 204, "")
	ask(o.A, "DELETE", "/flux", "", 404, "request.not_found")
	ask(o.A, "POST", "/flux/test", "", 404, "request.not_found")
	for what, text := range map[string]string{"the log": o.log.String(), "an answer": answers.String()} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s holds a key", what)
		}
	}
}

// TestKeysAreNotTestedForEver: each test costs the owner of the key something, and asks a vendor.
func TestKeysAreNotTestedForEver(t *testing.T) {
	o := open(t)
	o.Want("set", o.As(o.A, "PUT", "/v1/engine-keys/haiku", `{"key":"good-hunter2-1111"}`), 200, "")
	for range 10 {
		o.Want("test", o.As(o.A, "POST", "/v1/engine-keys/haiku/test", ""), 200, "")
	}
	o.Want("one more", o.As(o.A, "POST", "/v1/engine-keys/haiku/test", ""), 429, "auth.rate_limited")
	if n := len(o.vendor.Tried); n != 10 {
		t.Errorf("the vendor was asked %d times", n)
	}
}
