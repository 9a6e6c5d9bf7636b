package cartesia_test

import (
	"strings"
	"testing"

	"parley/inference"
	"parley/inference/cartesia"
	"parley/inference/remote"
)

func TestInkOptions(t *testing.T) {
	for options, want := range map[string]string{
		`{"turn_start_threshold": 0.4}`: "turn_start_threshold", `{"turn_eager_end_threshold": 0.7}`: "turn_eager_end_threshold",
		`{"turn_end_threshold": 0.45}`: "turn_end_threshold", `{"turn_end_timeout_ms": 500}`: "turn_end_timeout_ms", `{"volume": 1}`: "volume",
		`{"turn_start_threshold": 0.5, "turn_eager_end_threshold": 0.55}`: "less than turn_start_threshold",
	} {
		_, err := cartesia.NewASR(remote.Engine{APIKey: "key", Options: inference.Options(options)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", options, err)
		}
	}
	if _, err := cartesia.NewASR(remote.Engine{}); err == nil {
		t.Error("it is taken without a key")
	}
}
