package manage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"parley/api"
	"parley/api/manage"
	"parley/api/wire"
)

// fakeTest stands for running a function: it answers with what it was asked, and refuses what has a mistake.
func fakeTest(_ context.Context, account string, tools json.RawMessage, name string, arguments json.RawMessage) (wire.FunctionTest, error) {
	if strings.Contains(string(tools), "ftp://") {
		return wire.FunctionTest{}, &manage.Mistaken{Refusal: api.Bad("tools[0].http.url: must be an absolute https address")}
	}
	return wire.FunctionTest{Outcome: "ok", Result: fmt.Sprintf("%s %s %s %s", account, tools, name, arguments), TookMS: 7}, nil
}

// TestTestedFunctions: owners have a function run, with what they sent as they wrote it, and not too often.
func TestTestedFunctions(t *testing.T) {
	o := open(t)
	boss := o.boss(o.A)
	const path = "/v1/functions/test"
	r := o.As(boss, "POST", path, `{"tools":[{"type":"http","name":"order"}],"name":"order","arguments":{"z":1.50,"a":9007199254740993}}`)
	o.Want("test", r, 200, "")
	got := o.json(r)
	if want := boss.Account + ` [{"type":"http","name":"order"}] order {"z":1.50,"a":9007199254740993}`; got["result"] != want || got["outcome"] != "ok" || got["took_ms"] != 7.0 {
		t.Errorf("%v, want %s", got, want)
	}
	o.Want("a member", o.As(o.A, "POST", path, `{"tools":[],"name":"order"}`), 403, "auth.role_not_allowed")
	o.Want("a mistake", o.As(boss, "POST", path, `{"tools":[{"type":"http","name":"x","http":{"url":"ftp://x"}}],"name":"x"}`), 400, "validation.invalid_request_format")
	o.Want("no name", o.As(boss, "POST", path, `{"tools":[]}`), 400, "validation.invalid_request_format")
	o.Want("too much", o.As(boss, "POST", path, `{"tools":[],"name":"x","arguments":{"x":"`+strings.Repeat("x", 64<<10)+`"}}`), 400, "validation.invalid_request_format")
	refused := 0
	for range 12 {
		if r := o.As(boss, "POST", path, `{"tools":[],"name":"x"}`); r.Status == 429 {
			refused++
		}
	}
	if refused < 3 {
		t.Errorf("of 14 tests at once %d were refused", refused)
	}
	o.Want("another account's", o.As(o.boss(o.B), "POST", path, `{"tools":[],"name":"x"}`), 200, "")
}
