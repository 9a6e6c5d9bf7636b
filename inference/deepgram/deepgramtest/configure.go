package deepgramtest

import (
	"cmp"
	"fmt"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// configure answers Configure: one at a time, and all of it or nothing.
func (f *flux) configure(data []byte) {
	if !f.configuring.CompareAndSwap(false, true) {
		f.server.Violate("Configure while another was unanswered")
		f.send(loopbacktest.Outgoing{}, map[string]any{"type": "ConfigureFailure", "description": "another Configure is in progress"})
		return
	}
	answered := loopbacktest.Outgoing{Due: time.Now().Add(f.server.script.Delays.Configure()), Before: func() { f.configuring.Store(false) }}
	if err := f.apply(data); err != nil {
		f.server.Violate("Configure: %v", err)
		f.send(answered, map[string]any{"type": "ConfigureFailure", "description": err.Error()})
		return
	}
	f.send(answered, map[string]any{"type": "ConfigureSuccess", "thresholds": f.thresholds,
		"keyterms": append([]string{}, f.keyterms...), "language_hints": append([]string{}, f.hints...)})
}

// apply changes what the message names.
func (f *flux) apply(data []byte) error {
	var m struct {
		Type       string
		Thresholds struct {
			End     *float64 `json:"eot_threshold"`
			Eager   *float64 `json:"eager_eot_threshold"`
			Timeout *int     `json:"eot_timeout_ms"`
		}
		Keyterms *[]string
		Hints    *[]string `json:"language_hints"`
	}
	if err := loopbacktest.Strict(data, &m); err != nil {
		return err
	}
	t := f.thresholds
	t.End = *cmp.Or(m.Thresholds.End, &t.End)
	t.Eager = *cmp.Or(m.Thresholds.Eager, &t.Eager)
	t.Timeout = *cmp.Or(m.Thresholds.Timeout, &t.Timeout)
	if err := t.valid(); err != nil {
		return err
	}
	if m.Hints != nil && len(*m.Hints) > 0 && f.model != multi {
		return fmt.Errorf("language_hints are not supported by %s", f.model)
	}
	f.thresholds = t
	f.keyterms = *cmp.Or(m.Keyterms, &f.keyterms)
	f.hints = *cmp.Or(m.Hints, &f.hints)
	return nil
}
