package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"parley/inference"
)

// ReadOptions reads an engine's options into a struct; a name that it does not have is an error.
func ReadOptions(engine string, options inference.Options, to any) error {
	if len(options) == 0 {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(options))
	in.DisallowUnknownFields()
	if err := in.Decode(to); err != nil {
		return fmt.Errorf("%s: options: %w", engine, err)
	}
	return nil
}

// Time is n units of a vendor's, which may be any number: below 0 it is 0, and it is 24 days at most.
func Time(n float64, unit time.Duration) time.Duration {
	const most = math.MaxInt32 * time.Millisecond
	return time.Duration(min(float64(most), max(0, n)*float64(unit)))
}
