package talk

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/api"
)

func TestTooManyTools(t *testing.T) {
	const one = `{"type":"function","function":{"name":"f"}}`
	if tools, err := ParseTools(json.RawMessage("[" + one + strings.Repeat(","+one, maxTools-1) + "]")); err != nil || len(tools) != maxTools {
		t.Errorf("%d functions, %v", len(tools), err)
	}
	if _, err := ParseTools(json.RawMessage("[" + one + strings.Repeat(","+one, maxTools) + "]")); err == nil {
		t.Errorf("took more than %d functions", maxTools)
	}
}

// FuzzText: no message of a client does harm before there is a conversation.
func FuzzText(f *testing.F) {
	for _, s := range []string{`{"type":"voice","data":"F1"}`, `{"type":"tools","data":[{"function":{"name":"x","parameters":{}}}]}`,
		`{"type":"played","ms":1e300}`, `{"type":"features","data":["duck"]}`, `{"type":"tool_result","data":{"result":[1]}}`,
		`{"type":"language","data":"\ud800"}`, `[`, ``, `{"type":"visemes","data":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		c := NewClient(func(m []byte) {
			if !json.Valid(m) {
				t.Errorf("answered %q with %q", p, m)
			}
		})
		s := NewSession(c, api.Principal{}, nil)
		close(s.begun)
		s.Text(p)
	})
}
