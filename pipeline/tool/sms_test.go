package tool_test

import (
	"context"
	"errors"
	"testing"

	"parley/pipeline/tool"
)

// TestSendSMS: the text is sent, or the model learns why it is not.
func TestSendSMS(t *testing.T) {
	unknown := errors.New("the number is not known")
	for _, tt := range []struct{ arguments, sent, result, wrong string }{
		{`{"text":" We are at 1 Main St. "}`, "We are at 1 Main St.", `{"sent":true}`, ""},
		{`{"text":"refuse"}`, "refuse", "", unknown.Error()},
		{`{"text":" "}`, "", "", "the arguments do not fit the function's parameters"},
		{`{"text":1}`, "", "", "the arguments do not fit the function's parameters"},
		{`[]`, "", "", "the arguments do not fit the function's parameters"},
	} {
		sent := ""
		f := tool.NewSendSMS(func(_ context.Context, text string) error {
			if sent = text; text == "refuse" {
				return unknown
			}
			return nil
		})
		result, err := f.Run(t.Context(), []byte(tt.arguments))
		wrong := ""
		if err != nil {
			wrong = err.Error()
		}
		if sent != tt.sent || result != tt.result || wrong != tt.wrong {
			t.Errorf("%s: sent %q, %s, %q", tt.arguments, sent, result, wrong)
		}
	}
}
