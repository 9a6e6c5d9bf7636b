package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
)

// TestTry: a function that is tried has the time, and comes to the result, that it has in a call.
func TestTry(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		of        tool.Function
		arguments string
		want      toolbox.Tried
	}{
		"it answers": {tool.Function{Run: func(_ context.Context, a json.RawMessage) (string, error) {
			time.Sleep(40 * time.Millisecond)
			return "got " + string(a), nil
		}}, ` {"order":"42"} `, toolbox.Tried{Result: `got {"order":"42"}`, Outcome: "ok", Took: 40 * time.Millisecond}},
		"no arguments":   {tool.Function{Run: func(_ context.Context, a json.RawMessage) (string, error) { return string(a), nil }}, "", toolbox.Tried{Result: "{}", Outcome: "ok"}},
		"no result":      {tool.Function{Run: func(context.Context, json.RawMessage) (string, error) { return "", nil }}, "{}", toolbox.Tried{Result: `{"ok":true}`, Outcome: "ok"}},
		"odd arguments":  {tool.Function{}, "[1]", toolbox.Tried{Result: `{"error":"the arguments are not a JSON object"}`, Outcome: "error"}},
		"it fails":       {tool.Function{Run: func(context.Context, json.RawMessage) (string, error) { return "", errors.New("status 404") }}, "{}", toolbox.Tried{Result: `{"error":"status 404"}`, Outcome: "error"}},
		"it has no time": {tool.Function{Run: slow}, "{}", toolbox.Tried{Result: `{"error":"the function did not answer in time"}`, Outcome: "timeout", Took: 8 * time.Second}},
		"its own time":   {tool.Function{Run: slow, Timeout: 100 * time.Millisecond}, "{}", toolbox.Tried{Result: `{"error":"the function did not answer in time"}`, Outcome: "timeout", Took: 100 * time.Millisecond}},
		"too much time":  {tool.Function{Run: slow, Timeout: time.Hour}, "{}", toolbox.Tried{Result: `{"error":"the function did not answer in time"}`, Outcome: "timeout", Took: 30 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := toolbox.Try(t.Context(), tt.of, tt.arguments); got != tt.want {
					t.Errorf("%+v, want %+v", got, tt.want)
				}
			})
		})
	}
	long := toolbox.Try(t.Context(), tool.Function{Run: func(context.Context, json.RawMessage) (string, error) {
		return strings.Repeat("x", tool.MaxResult+1), nil
	}}, "{}")
	if !strings.HasSuffix(long.Result, "[cut off: these are the first 16384 of 16385 bytes]") {
		t.Errorf("a long result ends %q", long.Result[len(long.Result)-80:])
	}
}

// slow is a function that gives up when its time is up, in words of its own.
func slow(ctx context.Context, _ json.RawMessage) (string, error) {
	<-ctx.Done()
	return "", errors.New("given up")
}
