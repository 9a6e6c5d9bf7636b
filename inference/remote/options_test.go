package remote_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/remote"
)

func TestReadOptions(t *testing.T) {
	var o struct {
		Size int `json:"size"`
	}
	if err := remote.ReadOptions("vendor", nil, &o); err != nil || o.Size != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	if err := remote.ReadOptions("vendor", inference.Options(`{"size": 3}`), &o); err != nil || o.Size != 3 {
		t.Errorf("%+v, %v", o, err)
	}
	for wrong, option := range map[string]string{`{"colour": 3}`: "colour", `{"size": "x"}`: "size", `[]`: ""} {
		err := remote.ReadOptions("vendor", inference.Options(wrong), &o)
		of, ok := errors.AsType[*remote.OptionError](err)
		if !ok || of.Option != option || !strings.HasPrefix(err.Error(), "vendor: options: ") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestSampling: a request's own wishes count before the options, which have ranges.
func TestSampling(t *testing.T) {
	var s remote.Sampling
	if err := remote.ReadOptions("vendor", inference.Options(`{"temperature": 0.2, "top_p": 0.9, "max_tokens": 200}`), &s); err != nil || s.Check("vendor", 1) != nil {
		t.Fatal(err)
	}
	hot := 0.7
	if got := s.Of(inference.Request{}); *got.Temperature != 0.2 || *got.TopP != 0.9 || got.MaxTokens != 200 {
		t.Errorf("%+v", got)
	}
	if got := s.Of(inference.Request{Temperature: &hot, MaxTokens: 7}); *got.Temperature != 0.7 || got.MaxTokens != 7 || *s.Temperature != 0.2 {
		t.Errorf("%+v", got)
	}
	for wrong, text := range map[string]string{`{"temperature": 1.5}`: "temperature: allowed: 0 to 1", `{"top_p": -1}`: "top_p: allowed: 0 to 1", `{"max_tokens": 9000}`: "max_tokens: allowed: 1 to 8192"} {
		var s remote.Sampling
		if err := remote.ReadOptions("vendor", inference.Options(wrong), &s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check("vendor", 1); err == nil || err.Error() != "vendor: options: "+text {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestTime(t *testing.T) {
	for n, want := range map[float64]time.Duration{1.5: 1500 * time.Millisecond, -3: 0, math.MaxFloat64: math.MaxInt32 * time.Millisecond} {
		if got := remote.Time(n, time.Second); got != want {
			t.Errorf("%v s is %v, want %v", n, got, want)
		}
	}
}
