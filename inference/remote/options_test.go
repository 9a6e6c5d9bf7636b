package remote_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/remote"
)

func TestReadOptions(t *testing.T) {
	var o struct{ Size int }
	if err := remote.ReadOptions("vendor", nil, &o); err != nil || o.Size != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	if err := remote.ReadOptions("vendor", inference.Options(`{"size": 3}`), &o); err != nil || o.Size != 3 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range []string{`{"colour": 3}`, `{"size": "x"}`, `[]`} {
		if err := remote.ReadOptions("vendor", inference.Options(wrong), &o); err == nil || !strings.HasPrefix(err.Error(), "vendor: options: ") {
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
