package remote_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/remote"
)

// few are options of each kind.
type few struct {
	share  *float64
	size   int
	quiet  *bool
	colour string
	note   string
	rest   json.RawMessage
}

func (f *few) all() remote.Options {
	return remote.Options{remote.Number("share", &f.share, 0.5, 2, ""), remote.Whole("size", &f.size, -1, 9, ""), remote.Flag("quiet", &f.quiet, ""),
		remote.Text("colour", &f.colour, "", "red", "green", "blue"), remote.Text("note", &f.note, ""), remote.Any("rest", &f.rest, "")}
}

func TestOptions(t *testing.T) {
	var o few
	if err := o.all().Read("vendor", nil); err != nil {
		t.Error(err)
	}
	if err := o.all().Read("vendor", inference.Options(`{"share": 2, "size": -1, "quiet": false, "colour": "blue", "note": "", "rest": null}`)); err != nil {
		t.Fatal(err)
	}
	if *o.share != 2 || o.size != -1 || *o.quiet || o.colour != "blue" || string(o.rest) != "null" {
		t.Errorf("%+v", o)
	}
	for wrong, want := range map[string]string{
		`{"share": 0.4}`:             "share: allowed: 0.5 to 2",
		`{"share": "1"}`:             "share: allowed: 0.5 to 2",
		`{"size": 10}`:               "size: allowed: -1 to 9, whole",
		`{"size": 1.5}`:              "size: allowed: -1 to 9, whole",
		`{"size": null}`:             "size: allowed: -1 to 9, whole",
		`{"quiet": 1}`:               "quiet: allowed: true or false",
		`{"colour": ""}`:             "colour: allowed: red, green or blue",
		`{"note": []}`:               "note: allowed: a text",
		`{"Size": 1}`:                "Size: is not known",
		`{"shade": 1, "weight": 10}`: "shade: is not known",
		`[]`:                         "must be an object",
	} {
		err := new(few).all().Read("vendor", inference.Options(wrong))
		if _, ok := errors.AsType[*remote.OptionError](err); !ok || err.Error() != "vendor: options: "+want {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestSampling: a request's own wishes count before the options.
func TestSampling(t *testing.T) {
	var s remote.Sampling
	if err := s.All(1).Read("vendor", inference.Options(`{"temperature": 0.2, "top_p": 0.9, "max_tokens": 200}`)); err != nil {
		t.Fatal(err)
	}
	hot := 0.7
	if got := s.Of(inference.Request{}); *got.Temperature != 0.2 || *got.TopP != 0.9 || got.MaxTokens != 200 {
		t.Errorf("%+v", got)
	}
	if got := s.Of(inference.Request{Temperature: &hot, MaxTokens: 7}); *got.Temperature != 0.7 || got.MaxTokens != 7 || *s.Temperature != 0.2 {
		t.Errorf("%+v", got)
	}
	if err := s.All(1).Read("vendor", inference.Options(`{"temperature": 1.5}`)); err == nil {
		t.Error("it is hotter than the vendor allows")
	}
}

func TestTime(t *testing.T) {
	for n, want := range map[float64]time.Duration{1.5: 1500 * time.Millisecond, -3: 0, math.MaxFloat64: math.MaxInt32 * time.Millisecond} {
		if got := remote.Time(n, time.Second); got != want {
			t.Errorf("%v s is %v, want %v", n, got, want)
		}
	}
}
