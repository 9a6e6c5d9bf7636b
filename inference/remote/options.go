package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"parley/inference"
)

// OptionError says what is wrong with the options of an engine.
type OptionError struct {
	Engine  string
	Option  string // which one; empty: all of them
	Problem string // the rest of the sentence
}

func (e *OptionError) Error() string {
	if e.Option == "" {
		return e.Engine + ": options: " + e.Problem
	}
	return e.Engine + ": options: " + e.Option + ": " + e.Problem
}

// WrongOption is the error of a value that is not allowed.
func WrongOption(engine, option, allowed string) error {
	return &OptionError{engine, option, "allowed: " + allowed}
}

// ReadOptions reads an engine's options into a struct; a name that it does not have is an error. Its errors are an
// *OptionError.
func ReadOptions(engine string, options inference.Options, to any) error {
	if len(options) == 0 {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(options))
	in.DisallowUnknownFields()
	err := in.Decode(to)
	if err == nil {
		return nil
	}
	wrong := &OptionError{Engine: engine, Problem: err.Error()}
	if of, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong.Option, wrong.Problem = of.Field[strings.LastIndexByte(of.Field, '.')+1:], of.Value+" is not allowed"
	} else if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if name, err := strconv.Unquote(quoted); err == nil {
			wrong.Option, wrong.Problem = name, "is not known"
		}
	}
	return wrong
}

// Sampling is the options that the models of all vendors have. Zero values leave them to the vendor.
type Sampling struct {
	Temperature *float64 `json:"temperature"` // a request's own counts more
	TopP        *float64 `json:"top_p"`       // 0 to 1
	MaxTokens   int      `json:"max_tokens"`  // 1 to 8192; a request's own counts more
}

// maxTokens is the longest reply that options may ask for: half an hour of speech.
const maxTokens = 8192

// Check says what is out of range; hottest is the vendor's highest temperature.
func (s *Sampling) Check(engine string, hottest float64) error {
	within := func(v *float64, most float64) bool { return v == nil || *v >= 0 && *v <= most }
	switch {
	case !within(s.Temperature, hottest):
		return WrongOption(engine, "temperature", fmt.Sprintf("0 to %v", hottest))
	case !within(s.TopP, 1):
		return WrongOption(engine, "top_p", "0 to 1")
	case s.MaxTokens < 0 || s.MaxTokens > maxTokens:
		return WrongOption(engine, "max_tokens", fmt.Sprintf("1 to %d", maxTokens))
	}
	return nil
}

// Of is s with what a request says itself.
func (s Sampling) Of(r inference.Request) Sampling {
	if r.Temperature != nil {
		s.Temperature = r.Temperature
	}
	if r.MaxTokens > 0 {
		s.MaxTokens = r.MaxTokens
	}
	return s
}

// Time is n units of a vendor's, which may be any number: below 0 it is 0, and it is 24 days at most.
func Time(n float64, unit time.Duration) time.Duration {
	const most = math.MaxInt32 * time.Millisecond
	return time.Duration(min(float64(most), max(0, n)*float64(unit)))
}
