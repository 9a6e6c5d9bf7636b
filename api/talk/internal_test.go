package talk

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/api"
)

func TestNames(t *testing.T) {
	for in, want := range map[string]string{"F1": "F1", "f5": "F5", "en_m3": "M3", "ESCA_F2": "F2", "F6": "", "": "", "EN_": ""} {
		if got := Voice(in); got != want {
			t.Errorf("voice %q is %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"en": "en", "EN-us": "en", "pt_BR": "pt", "eu": "eu", "ko": "", "": "", "english": ""} {
		if got := Language(in); got != want {
			t.Errorf("language %q is %q, want %q", in, got, want)
		}
	}
}

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
